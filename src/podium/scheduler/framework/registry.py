"""Plugins by name.

The in-tree plugins register at import of `podium.scheduler.plugins`; a user adds his own classes. A
name belongs to one class: a second claim is an error that names both.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from podium.golang.errors import closest, did_you_mean
from podium.scheduler.config.points import ExtensionPoint
from podium.scheduler.framework.points import POINTS, Plugin, serves


class RegistryError(ValueError):
    """A plugin cannot be registered, or is not there."""


@dataclass(frozen=True, slots=True)
class LatePlugins:
    """Plugins that few ask for: known by name, loaded together when somebody wants one."""

    names: tuple[str, ...] = ()
    load: Callable[[], Iterable[type[Plugin]]] = tuple


class Registry:
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

    def with_plugins(self, *plugins: type[Plugin]) -> "Registry":
        """A copy with more plugins in it."""
        copy = Registry(self._plugins.values(), self._late)
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
