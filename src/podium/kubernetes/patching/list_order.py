"""The order of a list after a strategic merge.

Items that the patch names come in the order of the patch (or of its `$setElementOrder`), the
server's own items in the order they had. An item of the server stands before the next item of the
patch when the stored list had both in that order, otherwise behind it.

Worked example: the server has ports 80; a patch adds 443. Nothing says that 80 comes first, so the
result is 443, 80.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeAlias

import msgspec

from podium.golang.json_values import JsonValue
from podium.golang.quoting import go_value
from podium.kubernetes.patching.directives import DIRECTIVE
from podium.kubernetes.patching.refusals import failed, not_a

_Key: TypeAlias = Callable[[JsonValue], JsonValue]


def identity(value: JsonValue) -> Hashable:
    """What equal values have in common, to look them up by: a key may be any value."""
    if isinstance(value, (dict, list)):
        return msgspec.json.encode(value, order="deterministic")
    found: Hashable = value
    return found


def places(keys: Iterable[JsonValue]) -> dict[Hashable, int]:
    """Where each key stands first."""
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
        raise failed(
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
            raise failed(f"map: {go_value(item)} does not contain declared merge key: {merge_key}")
        return item[merge_key]

    return of_object
