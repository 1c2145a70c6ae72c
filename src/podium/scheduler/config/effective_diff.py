"""What a configuration changes, as a list of differences that can be read on their own.

A plain text diff of two effective configurations shows lines without saying where they are, and a
second profile as one block. Here every line has its whole path; entries with names are matched by
them, and every profile is held against the default one.

    -parallelism: 16
    +parallelism: 8
    -profiles[0].plugins.multiPoint.enabled[NodeAffinity].weight: 2
    +profiles[0].plugins.multiPoint.enabled[NodeAffinity].weight: 5
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

_ABSENT: Final = object()


def effective_diff(defaults: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[str]:
    """Lines with `-` for the defaults and `+` for the document; none if nothing differs."""
    profiles = document["profiles"]
    ours = {**defaults, "profiles": defaults["profiles"] * len(profiles)}
    return _lines("", ours, document)


def _lines(path: str, default: Any, value: Any) -> Iterator[str]:
    if default == value:
        return
    if isinstance(default, Mapping) and isinstance(value, Mapping):
        for key in sorted({*default, *value}):
            at = f"{path}.{key}" if path else key
            yield from _lines(at, default.get(key, _ABSENT), value.get(key, _ABSENT))
    elif _are_named(default) and _are_named(value) and (default or value):
        yield from _named_lines(path, default, value)
    elif _are_maps(default) and _are_maps(value):
        pairs = zip_longest(default, value, fillvalue=_ABSENT)
        for index, (before, after) in enumerate(pairs):
            yield from _lines(f"{path}[{index}]", before, after)
    else:
        if default is not _ABSENT:
            yield f"-{path}: {_format_value(default)}"
        if value is not _ABSENT:
            yield f"+{path}: {_format_value(value)}"


def _named_lines(path: str, default: Any, value: Any) -> Iterator[str]:
    before = {entry["name"]: _rest(entry) for entry in _list(default)}
    after = {entry["name"]: _rest(entry) for entry in _list(value)}
    for name in dict.fromkeys((*before, *after)):
        at = f"{path}[{name}]"
        yield from _lines(at, before.get(name, _ABSENT), after.get(name, _ABSENT))
    kept_before = [name for name in before if name in after]
    kept_after = [name for name in after if name in before]
    if kept_before != kept_after:
        yield f"-{path} in order: {', '.join(kept_before)}"
        yield f"+{path} in order: {', '.join(kept_after)}"


def _are_named(value: Any) -> bool:
    """Whether this is nothing, or a list whose entries have different names."""
    if value is _ABSENT:
        return True
    names = [entry.get("name") for entry in value] if _are_maps(value) else []
    return bool(names) and None not in names and len(set(names)) == len(names)


def _are_maps(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value)


def _list(value: Any) -> Sequence[Any]:
    return () if value is _ABSENT else value


def _rest(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: inner for key, inner in entry.items() if key != "name"}


def _format_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
