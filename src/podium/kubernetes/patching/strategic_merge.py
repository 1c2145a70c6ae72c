"""Strategic merge patches: merge patches that know how lists of a kind are keyed.

Objects are merged and null removes, as in a merge patch. Lists whose field says so are merged item
by item, by the value of the merge key; all other lists are replaced. Directives inside the patch
say more: `$patch: delete|replace`, `$retainKeys`, `$deleteFromPrimitiveList/field` and
`$setElementOrder/field`.

Contract: the result is upstream's for every patch that kubectl makes and for every mistake that is
answered with a text of its own, in the same words. Fields are merged in the order of the patch.

The order of a list after a strategic merge. Items that the patch names come in the order of the
patch (or of its `$setElementOrder`), the server's own items in the order they had. An item of the
server is before the next item of the patch when the stored list had both in that order,
otherwise behind it.

Worked example: the server has ports 80; a patch adds 443. Nothing says that 80 comes first, so the
result is 443, 80.

The directives of strategic merge patches: keys that start with `$` and are no fields.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final, TypeAlias

import msgspec

from podium.golang.json_values import JsonObject, JsonValue
from podium.golang.quoting import go_value
from podium.golang.shapes import Field, ListOf, MapOf, Shape, Struct
from podium.kubernetes.patching.refusals import bad_patch, does_not_apply, not_a, patch_failed
from podium.kubernetes.rules.merge_patch import without_nulls
from podium.kubernetes.schema.catalogue import Schema

_BAD_RETAIN_KEYS: Final = "invalid patch format of retainKeys"


def apply(document: JsonObject, patch: JsonValue, schema: Schema) -> JsonObject:
    """The merged document; raises PatchError."""
    if patch is None:
        return document
    if not isinstance(patch, dict):
        found = "array" if isinstance(patch, list) else _JSON_NAMES[patch.__class__]
        raise bad_patch(
            f"json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
        )
    return _merged_objects(document, patch, schema.root)


_JSON_NAMES: Final = {bool: "bool", int: "number", float: "number", str: "string"}


def _merged_objects(original: JsonObject, patch: JsonObject, shape: Shape | None) -> JsonObject:
    if DIRECTIVE in patch:
        return _as_directed(patch)
    out, rest = dict(original), dict(patch)
    if RETAIN_KEYS in rest:
        out = _retain_keys(out, rest)
    for key in [key for key in rest if key.startswith(SET_ORDER)]:
        _merge_ordered(out, rest, key, shape)
    for key, value in rest.items():
        is_deletion = key.startswith(DELETE_FROM_LIST)
        name = field_of(key, DELETE_FROM_LIST) if is_deletion else key
        if value is None:
            out.pop(name, None)
        elif name not in out or out[name].__class__ is not value.__class__:
            if not is_deletion:
                _take(out, name, value)
        elif isinstance(value, dict):
            field = _field(shape, name)
            if field is not None and field.replaces:
                out[name] = value
            else:
                out[name] = _merged_objects(out[name], value, _shape_below(shape, name))
        elif isinstance(value, list):
            out[name] = _merged_lists(out[name], value, shape, name, is_deletion=is_deletion)
        else:
            out[name] = value
    return out


def _as_directed(patch: JsonObject) -> JsonObject:
    directive = patch[DIRECTIVE]
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != DIRECTIVE}
    if directive == "delete":
        return {}
    raise patch_failed(f"unknown patch type: {go_value(directive)} in map: {go_value(patch)}")


def _take(out: JsonObject, name: str, value: JsonValue) -> None:
    """A field that was not there, or was of another type."""
    kept, stays = without_directives(without_nulls(value))
    if stays:
        out[name] = kept
    else:
        out.pop(name, None)


def _retain_keys(original: JsonObject, patch: JsonObject) -> JsonObject:
    keys = patch.pop(RETAIN_KEYS)
    if not isinstance(keys, list):
        raise bad_patch(_BAD_RETAIN_KEYS)
    kept = set(map(identity, keys))
    for key, value in patch.items():
        is_parallel = key.startswith((DELETE_FROM_LIST, SET_ORDER))
        if value is not None and not is_parallel and key not in kept:
            raise bad_patch(_BAD_RETAIN_KEYS)
    return {key: value for key, value in original.items() if key in kept}


def _merge_ordered(out: JsonObject, patch: JsonObject, directive: str, shape: Shape | None) -> None:
    """A list and the order that the patch gives to it."""
    order = patch.pop(directive)
    if not isinstance(order, list):
        raise not_a(list, order)
    name = field_of(directive, SET_ORDER)
    original, items = _list_or_none(out.get(name)), _list_or_none(patch.get(name))
    _, key = _list_below(shape, name)
    refuse_other_order(items or [], order, key)
    if original is not None and items is not None:
        merged = _merged_lists(original, items, shape, name, is_deletion=False)
    elif original is not None:
        merged = original
    elif items is not None:
        merged = list_without_directives(items)
    else:
        return
    patch.pop(name, None)
    out[name] = in_order(merged, order, original or [], key)


def _list_or_none(value: JsonValue) -> list[JsonValue] | None:
    if value is None or isinstance(value, list):
        return value
    raise not_a(list, value)


def _merged_lists(
    original: list[JsonValue],
    patch: list[JsonValue],
    shape: Shape | None,
    name: str,
    *,
    is_deletion: bool,
) -> list[JsonValue]:
    field = _field(shape, name)
    item_shape, key = _list_below(shape, name)
    if not is_deletion and (field is None or not field.merges):
        return patch
    if not original and not patch:
        return original
    objects = _objects(original, patch)
    if objects is None:
        if is_deletion:
            leaving = set(patch)
            return [item for item in original if item not in leaving]
        merged = list(dict.fromkeys([*original, *patch]))
        return in_order(merged, patch, original, "")
    if not key:
        raise patch_failed("cannot merge lists without merge key for struct")
    kept, additions = _without_special_items(*objects, key)
    result = list(kept)
    known = places(old.get(key) for old in kept)
    for item in additions:
        if key not in item:
            raise _no_merge_key(item, key)
        place = known.setdefault(identity(item[key]), len(result))
        if place == len(result):
            result.append(item)
        else:
            result[place] = _merged_objects(result[place], item, item_shape)
    return in_order([*result], additions, kept, key)


def _objects(
    original: list[JsonValue], patch: list[JsonValue]
) -> tuple[list[JsonObject], list[JsonObject]] | None:
    """Both lists if they hold objects, None if they hold plain values."""
    kinds = {item.__class__ for item in (*original, *patch)}
    if list in kinds:
        raise does_not_apply()
    if len(kinds) > 1:
        shown = go_value([original, patch])
        raise patch_failed(f"list element types are not identical: {shown}")
    if kinds != {dict}:
        return None
    return (
        [item for item in original if isinstance(item, dict)],
        [item for item in patch if isinstance(item, dict)],
    )


def _without_special_items(
    original: list[JsonObject], patch: list[JsonObject], key: str
) -> tuple[list[JsonObject], list[JsonObject]]:
    """The list without the items that the patch deletes, and the items to merge into it."""
    additions, replaces, leaving = [], False, set()
    for item in patch:
        match item.get(DIRECTIVE):
            case None:
                additions.append(item)
            case "delete":
                if key not in item:
                    raise _no_merge_key(item, key)
                leaving.add(identity(item[key]))
            case "replace":
                replaces = True
            case "merge":
                raise patch_failed("merging lists cannot yet be specified in the patch")
            case directive:
                raise patch_failed(
                    f"unknown patch type: {go_value(directive)} in map: {go_value(item)}"
                )
    if replaces:
        return additions, []
    return [old for old in original if identity(old.get(key)) not in leaving], additions


def _no_merge_key(item: JsonObject, key: str) -> Exception:
    return patch_failed(f"map: {go_value(item)} does not contain declared merge key: {key}")


def _field(shape: Shape | None, name: str) -> Field | None:
    if not isinstance(shape, Struct):
        return None
    field = shape.fields.get(name)
    if field is None:
        raise patch_failed(
            f'unable to find api field in struct {shape.name} for the json field "{name}"'
        )
    return field


def _shape_below(shape: Shape | None, name: str) -> Shape | None:
    if isinstance(shape, MapOf):
        return shape.value
    field = _field(shape, name)
    return None if field is None else field.shape


def _list_below(shape: Shape | None, name: str) -> tuple[Shape | None, str]:
    """The shape of the items of a list field, and its merge key."""
    field = _field(shape, name)
    if field is None or not isinstance(field.shape, ListOf):
        return None, ""
    return field.shape.item, field.merge_key


_Key: TypeAlias = Callable[[JsonValue], JsonValue]


def identity(value: JsonValue) -> Hashable:
    """What equal values have in common, to look them up by: a key may be any value."""
    if isinstance(value, (dict, list)):
        return msgspec.json.encode(value, order="deterministic")
    found: Hashable = value
    return found


def places(keys: Iterable[JsonValue]) -> dict[Hashable, int]:
    """Where each key is first."""
    found: dict[Hashable, int] = {}
    for place, key in enumerate(keys):
        found.setdefault(identity(key), place)
    return found


def in_order(
    merged: list[JsonValue],
    wanted: Sequence[JsonValue],
    before: Sequence[JsonValue],
    merge_key: str,
) -> list[JsonValue]:
    """The merged items, those in `wanted` in its order, the others in the order of `before`."""
    if not merged:
        return merged
    key = _key(merge_key)
    wanted_places, old_places = places(map(key, wanted)), places(map(key, before))

    def old_place(item: JsonValue) -> int:
        return old_places.get(identity(key(item)), -1)

    named = [item for item in merged if identity(key(item)) in wanted_places]
    others = deque(
        sorted((item for item in merged if identity(key(item)) not in wanted_places), key=old_place)
    )
    named.sort(key=lambda item: wanted_places[identity(key(item))])
    out: list[JsonValue] = []
    for item in named:
        place = old_place(item)
        while others and -1 < old_place(others[0]) < place:
            out.append(others.popleft())
        out.append(item)
    return [*out, *others]


def refuse_other_order(items: list[JsonValue], order: list[JsonValue], merge_key: str) -> None:
    """The items of a patch have to come in the order that the patch itself gives."""
    if not items or not order:
        return
    if merge_key:
        for item in items:
            if not isinstance(item, dict):
                raise not_a(dict, item)
    key = _key(merge_key)
    rest = deque(key(item) for item in items if not (isinstance(item, dict) and DIRECTIVE in item))
    for each in order:
        if rest and rest[0] == key(each):
            rest.popleft()
    if rest:
        raise patch_failed(
            f"The order in patch list:\n{go_value(items)}\n doesn't match $setElementOrder"
            f" list:\n{go_value(order)}\n"
        )


def _key(merge_key: str) -> _Key:
    if not merge_key:
        return lambda item: item

    def of_object(item: JsonValue) -> JsonValue:
        if not isinstance(item, dict):
            raise not_a(dict, item)
        if merge_key not in item:
            raise patch_failed(
                f"map: {go_value(item)} does not contain declared merge key: {merge_key}"
            )
        return item[merge_key]

    return of_object


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
