"""What was changed in a typed object, done to the whole object that the server has.

Typed objects hold what scheduling reads; written back as they are, they would take all other fields
away. So the two typed forms, before and after, are compared, and only where they differ is the
stored object changed. Items of a list keep what the typed form does not know as long as they can be
recognised: by place if the lists are equally long, else by their `name` or by being equal.
"""

from typing import Any


def change(stored: Any, before: Any, after: Any) -> Any:
    """The stored value with the difference between two typed forms of it, all plain JSON values.

    >>> change({"a": 1, "x": 9}, {"a": 1}, {"a": 2, "b": 3})
    {'a': 2, 'x': 9, 'b': 3}
    """
    if before == after:
        return stored
    if isinstance(stored, dict) and isinstance(before, dict) and isinstance(after, dict):
        return _changed_object(stored, before, after)
    if isinstance(stored, list) and isinstance(before, list) and isinstance(after, list):
        return _changed_list(stored, before, after)
    return after


def _changed_object(
    stored: dict[str, Any], before: dict[str, Any], after: dict[str, Any]
) -> dict[str, Any]:
    out = {key: value for key, value in stored.items() if key in after or key not in before}
    for key, value in after.items():
        out[key] = change(stored.get(key), before.get(key), value)
    return out


def _changed_list(stored: list[Any], before: list[Any], after: list[Any]) -> list[Any]:
    if len(stored) != len(before):
        return after
    if len(before) == len(after):
        return [change(*items) for items in zip(stored, before, after, strict=True)]
    return [_changed_item(stored, before, item) for item in after]


def _changed_item(stored: list[Any], before: list[Any], item: Any) -> Any:
    name = item.get("name") if isinstance(item, dict) else None
    for kept, known in zip(stored, before, strict=True):
        if known == item or (name and isinstance(known, dict) and known.get("name") == name):
            return change(kept, known, item)
    return item
