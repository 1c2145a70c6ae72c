"""Plugins by name, and the arguments of those that are not in-tree.

The in-tree plugins register at import of `podium.scheduler.plugins`; a user adds his own classes. A
name belongs to one class: a second claim is an error that names both.

Arguments of plugins that are not in-tree: from what was written to the plugin's own type. A plugin
may say what its arguments are by a Struct named `Args`; then they are decoded into it, and a value
of the wrong type or a name that does not exist is reported with its place in the file. A plugin
without one gets what was written as it is. Where kube-scheduler is built with more plugins, their
arguments may be written with a header (`apiVersion` of any version of the group, `kind` made of the
plugin's name); so may these.

    class PreferZone(NodeScorePlugin):
        class Args(msgspec.Struct):
            zone: str
            points: int = 100
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec
from msgspec import inspect as msgspec_inspect

from podium.golang.errors import closest, did_you_mean
from podium.scheduler.config.plugin_args import PluginArgs, RawArgs
from podium.scheduler.config.typed_args import ARGS_SUFFIX
from podium.scheduler.config.types import API_GROUP, API_VERSION, ExtensionPoint
from podium.scheduler.framework.points import POINTS, Arguments, Plugin, serves


class RegistryError(ValueError):
    """A plugin cannot be registered, or is not there."""


@dataclass(frozen=True, slots=True)
class LatePlugins:
    """Plugins that few ask for: known by name, loaded together when somebody wants one."""

    names: tuple[str, ...] = ()
    load: Callable[[], Iterable[type[Plugin]]] = tuple


class PluginRegistry:
    def __init__(
        self, plugins: Iterable[type[Plugin]] = (), late: LatePlugins | None = None
    ) -> None:
        self._plugins: dict[str, type[Plugin]] = {}
        self._late = late or LatePlugins()
        for plugin in plugins:
            self.register(plugin)

    def register(self, plugin: type[Plugin]) -> None:
        name = getattr(plugin, "name", "")
        if not name:
            raise RegistryError(f'{plugin.__qualname__} has no name: set `name = "..."` in it')
        if not any(serves(plugin, point) for point in POINTS):
            raise RegistryError(
                f"plugin {name} serves no extension point: inherit one, such as FilterPlugin"
            )
        _check_methods(plugin)
        _refuse_async(plugin)
        held = self.get(name) if name in self else None
        if held is not None and held is not plugin:
            raise RegistryError(
                f"plugin name {name} is taken by {held.__module__}.{held.__qualname__}"
            )
        self._plugins[name] = plugin

    def get(self, name: str) -> type[Plugin]:
        if name in self._late.names and name not in self._plugins:
            self._load_late()
        found = self._plugins.get(name)
        if found is None:
            raise RegistryError(f'plugin "{name}" does not exist; known: {", ".join(self)}')
        return found

    def implements(self, name: str, point: ExtensionPoint) -> bool:
        """Whether there is a plugin of that name and it serves the point."""
        return name in self and serves(self.get(name), point.value)

    def builds_on(self, name: str) -> Mapping[str, str]:
        """Which points of a plugin build on which others of it."""
        return self.get(name).builds_on if name in self else {}

    def __contains__(self, name: str) -> bool:
        return name in self._plugins or name in self._late.names

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._plugins, *self._late.names}))

    def with_plugins(self, *plugins: type[Plugin]) -> "PluginRegistry":
        """A copy with more plugins in it."""
        copy = PluginRegistry(self._plugins.values(), self._late)
        for plugin in plugins:
            copy.register(plugin)
        return copy

    def _load_late(self) -> None:
        late, self._late = self._late, LatePlugins()
        for plugin in late.load():
            self.register(plugin)


def _check_methods(plugin: type[Plugin]) -> None:
    """Refuse a class that inherits an extension point and writes nothing for it."""
    own = [name for name, value in vars(plugin).items() if callable(value)]
    for point in plugin.__mro__:
        wanted: tuple[str, ...] = vars(point).get("writes", ())
        if not wanted or any(getattr(plugin, m) is not vars(point)[m] for m in wanted):
            continue
        near = next((name for name in wanted if closest(name, own)), "")
        remedy = did_you_mean(near) or f"write {' or '.join(wanted)}"
        raise RegistryError(
            f"plugin {plugin.name}: no method of {point.__name__} is overridden; {remedy}"
        )


def _refuse_async(plugin: type[Plugin]) -> None:
    """Refuse `async def` where the framework wants the answer at once; nobody would await it."""
    for point in plugin.__mro__:
        if not issubclass(point, Plugin) or not _is_framework(point):
            continue
        for name, wanted in vars(point).items():
            written = getattr(plugin, name)
            if not inspect.isfunction(wanted) or written is wanted:
                continue
            is_async = inspect.iscoroutinefunction(written) or inspect.isasyncgenfunction(written)
            if is_async and not inspect.iscoroutinefunction(wanted):
                raise RegistryError(
                    f"plugin {plugin.name}: {name} is `async def`, and nobody awaits it; write"
                    " `def`. What has to be fetched comes through sources()"
                )


def _is_framework(point: type[Plugin]) -> bool:
    return point.__module__.startswith("podium.scheduler.framework.")


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
    for path, name, known in _find_unknown(raw, msgspec_inspect.type_info(plugin.Args), "args"):
        remedy = did_you_mean(closest(name, known)) or f"there are {', '.join(sorted(known))}"
        raise ArgumentsError(f"{path}.{name}", "unknown field", remedy)
    try:
        return msgspec.convert(raw, plugin.Args)
    except msgspec.ValidationError as problem:
        text, _, where = str(problem).partition(" - at `$")
        raise ArgumentsError("args" + where.rstrip("`"), _lower_text(text)) from None


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


def _find_unknown(
    raw: object, shape: msgspec_inspect.Type, path: str
) -> Iterator[tuple[str, str, list[str]]]:
    """(path, name, names there are) of fields that no Struct has."""
    match shape:
        case msgspec_inspect.UnionType(types=choices):
            structs = [
                choice for choice in choices if isinstance(choice, msgspec_inspect.StructType)
            ]
            if len(structs) == 1 and isinstance(raw, Mapping):
                yield from _find_unknown(raw, structs[0], path)
        case msgspec_inspect.StructType() if isinstance(raw, Mapping) and not shape.array_like:
            fields = {field.encode_name: field.type for field in shape.fields}
            known = [*fields, shape.tag_field] if shape.tag_field else list(fields)
            for name, value in raw.items():
                if name not in known:
                    yield path, str(name), known
                elif name in fields:
                    yield from _find_unknown(value, fields[name], f"{path}.{name}")
        case msgspec_inspect.VarTupleType() | msgspec_inspect.ListType() if isinstance(raw, list):
            for index, value in enumerate(raw):
                yield from _find_unknown(value, shape.item_type, f"{path}[{index}]")
        case msgspec_inspect.DictType() if isinstance(raw, Mapping):
            for name, value in raw.items():
                yield from _find_unknown(value, shape.value_type, f"{path}.{name}")


def _lower_text(text: str) -> str:
    return text[:1].lower() + text[1:]
