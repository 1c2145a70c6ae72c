"""The directives of strategic merge patches: keys that start with `$` and are no fields."""

from typing import Final

from podium.golang.json_values import JsonValue
from podium.kubernetes.patching.refusals import bad_patch

DIRECTIVE: Final = "$patch"
RETAIN_KEYS: Final = "$retainKeys"
DELETE_FROM_LIST: Final = "$deleteFromPrimitiveList"
SET_ORDER: Final = "$setElementOrder"

_BAD_FORMATS: Final = {
    DELETE_FROM_LIST: "invalid patch format of primitive list",
    SET_ORDER: "invalid patch format of setElementOrder list",
}


def field_of(key: str, prefix: str) -> str:
    """The field that a directive is about: `containers` of `$setElementOrder/containers`."""
    found, slash, name = key.partition("/")
    if not slash or found != prefix:
        raise bad_patch(_BAD_FORMATS[prefix])
    return name


def without_directives(value: JsonValue) -> tuple[JsonValue, bool]:
    """The value without objects that carry a directive, and whether it stays itself."""
    if isinstance(value, dict):
        if DIRECTIVE in value:
            return None, False
        inner = {key: without_directives(item) for key, item in value.items()}
        return {key: item for key, (item, stays) in inner.items() if stays}, True
    if isinstance(value, list):
        return list_without_directives(value), True
    return value, True


def list_without_directives(items: list[JsonValue]) -> list[JsonValue]:
    return [item for item, stays in map(without_directives, items) if stays]
