"""Strategic merge patches as kubectl makes them: what leads from one object to another.

A reference for tests: keyed lists are compared item by item, items that are gone get
`$patch: delete`, and the wanted order stands beside the list; other lists are replaced whole.
"""

from typing import Any

from podium.golang.shapes import Field, ListOf, MapOf, Shape, Struct


def strategic_difference(old: Any, new: Any, shape: Shape | None) -> dict[str, Any]:
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if key in old and before == value:
            continue
        field = shape.fields.get(key) if isinstance(shape, Struct) else None
        below = shape.value if isinstance(shape, MapOf) else field.shape if field else None
        if isinstance(value, dict) and isinstance(before, dict) and not (field and field.replaces):
            patch[key] = strategic_difference(before, value, below)
        elif field and field.merges and isinstance(before, list) and isinstance(value, list):
            patch.update(_lists(field, before, value))
        else:
            patch[key] = value
    return patch


def _lists(field: Field, old: list[Any], new: list[Any]) -> dict[str, Any]:
    shape, key = field.shape, field.merge_key
    assert isinstance(shape, ListOf)
    order = {f"$setElementOrder/{field.name}": [{key: item[key]} if key else item for item in new]}
    if not key:
        gone = [item for item in old if item not in new]
        added = [item for item in new if item not in old]
        return {
            **order,
            **({f"$deleteFromPrimitiveList/{field.name}": gone} if gone else {}),
            **({field.name: added} if added else {}),
        }
    stored = {item[key]: item for item in old}
    items = []
    for item in new:
        before = stored.pop(item[key], None)
        if before is None:
            items.append(item)
        elif before != item:
            items.append({**strategic_difference(before, item, shape.item), key: item[key]})
    items += [{key: name, "$patch": "delete"} for name in stored]
    return {**order, **({field.name: items} if items else {})}
