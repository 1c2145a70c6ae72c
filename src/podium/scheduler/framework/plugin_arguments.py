"""Arguments of plugins that are not in-tree: from what was written to the plugin's own type.

A plugin may say what its arguments are by a Struct named `Args`; then they are decoded into it, and
a value of the wrong type or a name that does not exist is told with its place in the file. A plugin
without one gets what was written as it is. Where kube-scheduler is built with more plugins, their
arguments may be written with a header (`apiVersion` of any version of the group, `kind` made of the
plugin's name); so may these.

    class PreferZone(NodeScorePlugin):
        class Args(msgspec.Struct):
            zone: str
            points: int = 100
"""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec import inspect

from podium.golang.errors import closest, did_you_mean
from podium.scheduler.config.plugin_args import PluginArgs, RawArgs
from podium.scheduler.config.typed_args import ARGS_SUFFIX
from podium.scheduler.config.types import API_GROUP, API_VERSION
from podium.scheduler.framework.points import Arguments, Plugin

_HEADER: Final = frozenset({"apiVersion", "kind"})


class ArgumentsError(ValueError):
    """Arguments that are not of the plugin's type; `path` leads to the field, below `args`."""

    def __init__(self, path: str, problem: str, remedy: str = "") -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem
        self.remedy = remedy


def arguments_of(plugin: type[Plugin], written: PluginArgs | RawArgs | None) -> Arguments:
    """What a plugin's constructor gets; raises ArgumentsError."""
    if isinstance(written, PluginArgs):
        return written
    raw = written.value if written is not None else None
    if plugin.Args is None:
        return raw
    raw = {} if raw is None else _without_header(plugin.name, plugin.Args, raw)
    for path, name, known in _unknown(raw, inspect.type_info(plugin.Args), "args"):
        remedy = did_you_mean(closest(name, known)) or f"there are {', '.join(sorted(known))}"
        raise ArgumentsError(f"{path}.{name}", "unknown field", remedy)
    try:
        return msgspec.convert(raw, plugin.Args)
    except msgspec.ValidationError as problem:
        text, _, where = str(problem).partition(" - at `$")
        raise ArgumentsError("args" + where.rstrip("`"), _lowered(text)) from None


def _without_header(plugin: str, shape: type[msgspec.Struct], raw: object) -> object:
    """Arguments without `apiVersion` and `kind`, which must be those of the plugin's arguments."""
    if not isinstance(raw, Mapping) or not raw.keys() & _HEADER:
        return raw
    named = {field.encode_name for field in msgspec.structs.fields(shape)}
    expected = f"{plugin}{ARGS_SUFFIX}"
    if "kind" not in named and raw.get("kind", expected) != expected:
        raise ArgumentsError("args.kind", f"is {raw['kind']!r:.60}", f"write {expected}")
    version = raw.get("apiVersion", API_VERSION)
    if "apiVersion" not in named and str(version).rpartition("/")[0] != API_GROUP:
        raise ArgumentsError("args.apiVersion", f"is {version!r:.60}", f"write {API_VERSION}")
    return {name: value for name, value in raw.items() if name in named or name not in _HEADER}


def _unknown(raw: object, shape: inspect.Type, path: str) -> Iterator[tuple[str, str, list[str]]]:
    """(path, name, names there are) of fields that no Struct has."""
    match shape:
        case inspect.UnionType(types=choices):
            structs = [choice for choice in choices if isinstance(choice, inspect.StructType)]
            if len(structs) == 1 and isinstance(raw, Mapping):
                yield from _unknown(raw, structs[0], path)
        case inspect.StructType() if isinstance(raw, Mapping) and not shape.array_like:
            fields = {field.encode_name: field.type for field in shape.fields}
            known = [*fields, shape.tag_field] if shape.tag_field else list(fields)
            for name, value in raw.items():
                if name not in known:
                    yield path, str(name), known
                elif name in fields:
                    yield from _unknown(value, fields[name], f"{path}.{name}")
        case inspect.VarTupleType() | inspect.ListType() if isinstance(raw, list):
            for index, value in enumerate(raw):
                yield from _unknown(value, shape.item_type, f"{path}[{index}]")
        case inspect.DictType() if isinstance(raw, Mapping):
            for name, value in raw.items():
                yield from _unknown(value, shape.value_type, f"{path}.{name}")


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
