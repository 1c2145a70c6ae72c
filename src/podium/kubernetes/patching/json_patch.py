"""JSON patches (RFC 6902) as the library under kube-apiserver applies them.

Beyond the RFC, kept because clients rely on it: indexes may be negative (from the end), `replace`
of a missing key adds it, and a missing `value` is null. A patch may copy no more than a request
may bring: copies of copies would otherwise double with every operation. Numbers are equal for
`test` when they are written alike: 1 is not 1.0.
"""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from podium.golang.json_values import JsonObject, JsonValue, copy_json, encode
from podium.golang.quoting import go_quote
from podium.kubernetes.patching.refusals import (
    FailedTestOperation,
    PatchError,
    does_not_apply,
    too_many_operations,
    wrong_type,
)

_MAX_OPERATIONS: Final = 10_000
_MAX_COPIED_BYTES: Final = 3 * 1024 * 1024
"""What all `copy` operations of a patch together may add, as JSON."""
_INDEX: Final = re.compile(r"[+-]?[0-9]{1,18}")
_TEXT_FIELDS: Final = ("op", "path", "from")
_NO_PATH: Final = "no path"
_NO_KEY: Final = "no key"
_NO_DOCUMENT: Final = "replace operation value must be object or array: %!w(<nil>)"

_Container: TypeAlias = dict[str, JsonValue] | list[JsonValue]


def apply(document: JsonObject, patch: JsonValue, *, null_is_missing: bool = True) -> JsonValue:
    """The document after all operations; raises PatchError at the first that does not fit.

    `null_is_missing`: to `test` for null is to test that nothing is there.
    """
    operations = _operations(patch)
    holder: list[JsonValue] = [copy_json(document)]
    copied_bytes = 0
    for operation in operations:
        name = operation.get("op", "")
        act = _ACTS.get(name)
        try:
            if name == "copy":
                copied_bytes += _copy(holder, operation, _MAX_COPIED_BYTES - copied_bytes)
            elif name == "test":
                _test(holder, operation, null_is_missing=null_is_missing)
            elif act is None:
                raise does_not_apply(f"Unexpected kind: {name}")
            else:
                act(holder, operation)
        except PatchError as problem:
            problem.why = _word_refusal(operation, problem.why)
            raise
    return holder[0]


def _word_refusal(operation: JsonObject, why: str) -> str:
    """Why an operation does not fit, as upstream's library tells it."""
    name, path = operation.get("op", ""), operation.get("path") or ""
    if why == _NO_PATH:
        shown = f'"{path}"' if name in ("add", "remove") else path
        doc = "" if name == "test" else "doc "
        return f"{name} operation does not apply: {doc}is missing path: {shown}: missing value"
    if why == _NO_KEY:
        return f"replace operation does not apply: doc is missing key: {path}: missing value"
    if not why or why == _NO_DOCUMENT or name not in _ACTS:
        return why or f"testing value {path} failed: test failed"
    return f"error in {name} for path: '{path}': {why}"


def problems(patch: JsonValue) -> list[str]:
    """Texts about fields of operations that nobody knows."""
    known = {*_TEXT_FIELDS, "value"}
    return [
        f"json patch unknown field {go_quote(f'[{index}].{name}')}"
        for index, operation in enumerate(_operations(patch))
        for name in operation
        if name not in known
    ]


def _operations(patch: JsonValue) -> list[JsonObject]:
    if patch is None:
        return []
    if not isinstance(patch, list):
        raise wrong_type(patch, "[]handlers.jsonPatchOp")
    operations: list[JsonObject] = []
    for operation in patch:
        if operation is None:
            raise does_not_apply()
        if not isinstance(operation, dict):
            raise wrong_type(operation, "handlers.jsonPatchOp")
        for name in _TEXT_FIELDS:
            value = operation.get(name)
            if value is not None and not isinstance(value, str):
                raise wrong_type(value, "string", field=f"jsonPatchOp.{name}")
        operations.append(operation)
    if len(patch) > _MAX_OPERATIONS:
        raise too_many_operations(len(patch), _MAX_OPERATIONS)
    return operations


def _pointer(operation: JsonObject, name: str) -> str:
    pointer = operation.get(name)
    if not isinstance(pointer, str):
        raise does_not_apply()
    return pointer


def _find(holder: list[JsonValue], pointer: str) -> tuple[_Container, str]:
    """The object or list that a pointer leads into, and the last part of the pointer."""
    _, *parts = pointer.split("/")
    if not parts:
        raise does_not_apply(_NO_PATH)
    names = [part.replace("~1", "/").replace("~0", "~") for part in parts]
    place = _container(holder[0])
    for name in names[:-1]:
        try:
            place = _container(_get(place, name))
        except PatchError as problem:
            problem.why = _NO_PATH
            raise
    return place, names[-1]


def _container(value: JsonValue) -> _Container:
    if isinstance(value, dict | list):
        return value
    raise does_not_apply(_NO_PATH)


def _get(container: _Container, name: str) -> JsonValue:
    """What is there; None for a missing key of an object."""
    if isinstance(container, dict):
        return container.get(name)
    return container[_index(name, len(container))]


def _index(name: str, length: int) -> int:
    if _INDEX.fullmatch(name) is None:
        why = f"strconv.Atoi: parsing {go_quote(name)}: invalid syntax"
        raise does_not_apply(f"value was not a proper array index: '{name}': {why}")
    index = int(name)
    if not -length <= index < length:
        why = f"Unable to access invalid index: {index}: invalid index referenced"
        raise does_not_apply(why)
    return index + length if index < 0 else index


def _put_in(container: _Container, name: str, value: JsonValue) -> None:
    if isinstance(container, dict):
        container[name] = value
    elif name == "-":
        container.append(value)
    else:
        container.insert(_index(name, len(container) + 1), value)


def _take_out(container: _Container, name: str) -> JsonValue:
    if isinstance(container, dict):
        if name not in container:
            raise does_not_apply(f"Unable to remove nonexistent key: {name}: missing value")
        return container.pop(name)
    return container.pop(_index(name, len(container)))


def _add(holder: list[JsonValue], operation: JsonObject) -> None:
    container, name = _find(holder, _pointer(operation, "path"))
    _put_in(container, name, copy_json(operation.get("value")))


def _remove(holder: list[JsonValue], operation: JsonObject) -> None:
    _take_out(*_find(holder, _pointer(operation, "path")))


def _replace(holder: list[JsonValue], operation: JsonObject) -> None:
    pointer, value = _pointer(operation, "path"), copy_json(operation.get("value"))
    if pointer == "":
        if not isinstance(value, dict | list):
            raise does_not_apply(_NO_DOCUMENT)
        holder[0] = value
        return
    container, name = _find(holder, pointer)
    if isinstance(container, dict):
        container[name] = value
        return
    try:
        container[_index(name, len(container))] = value
    except PatchError as problem:
        problem.why = _NO_KEY
        raise


def _move(holder: list[JsonValue], operation: JsonObject) -> None:
    value = _take_out(*_find(holder, _pointer(operation, "from")))
    container, name = _find(holder, _pointer(operation, "path"))
    _put_in(container, name, value)


def _copy(holder: list[JsonValue], operation: JsonObject, allowed_bytes: int) -> int:
    """Copies a value and says how many bytes of JSON it has."""
    source, name = _find(holder, _pointer(operation, "from"))
    value = _get(source, name)
    container, name = _find(holder, _pointer(operation, "path"))
    size = len(encode(value))
    if size > allowed_bytes:
        raise does_not_apply()
    _put_in(container, name, copy_json(value))
    return size


def _test(holder: list[JsonValue], operation: JsonObject, *, null_is_missing: bool = True) -> None:
    pointer, wanted = _pointer(operation, "path"), operation.get("value")
    found = holder[0] if pointer == "" else _get(*_find(holder, pointer))
    if found is None and "value" in operation and not null_is_missing:
        raise does_not_apply(kind=FailedTestOperation)
    if not _written_alike(found, wanted):
        raise does_not_apply(kind=FailedTestOperation)


def _written_alike(one: JsonValue, other: JsonValue) -> bool:
    if one.__class__ is not other.__class__:
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            _written_alike(value, other[key]) for key, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_written_alike, one, other))
    return bool(one == other)


_ACTS: Final[dict[str, Callable[[list[JsonValue], JsonObject], None]]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "test": _test,
}

__all__ = ["PatchError", "apply", "problems"]
