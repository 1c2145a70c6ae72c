"""Plugins that users bring along: from a file, from a module, or from an installed package.

`--plugin FILE.py[:Class]` and `--plugin package.module[:Class]` name them; a configuration may also
name a plugin that an installed package offers under the entry point group `podium.plugins`. Loading
one runs its code, which is what the user asked for. Plugins of Podium's own collection are found by
their names alone, as in-tree ones are.

Contract: whatever is wrong with a plugin is an InputError that says which one and where.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from podium.golang.errors import InputError, closest, did_you_mean
from podium.scheduler.config.types import Configuration, PluginRef, PluginSet, ProfileConfiguration
from podium.scheduler.framework.events import WatchedKind, unique_kinds
from podium.scheduler.framework.points import Plugin
from podium.scheduler.framework.registry import PluginRegistry, RegistryError
from podium.user_code.shipped import PLUGINS, SHIPPED_PLUGINS, load_entry_point

if TYPE_CHECKING:  # installed packages are looked through when a plugin is looked for
    from importlib.metadata import EntryPoint, EntryPoints

GROUP = PLUGINS
FORMS = "a plugin is given as FILE.py, FILE.py:Class or package.module:Class"


class Equipped(NamedTuple):
    """A configuration and the plugins it can be built from, with notes on what was done to it."""

    configuration: Configuration
    registry: PluginRegistry
    notes: tuple[str, ...] = ()

    @property
    def watched_kinds(self) -> tuple[WatchedKind, ...]:
        """Kinds that its plugins read beside those that every scheduler watches."""
        names = {name for p in self.configuration.profiles for name in p.plugins.enabled_names()}
        known = (self.registry.get(name) for name in sorted(names) if name in self.registry)
        return unique_kinds(kind for plugin in known for kind in plugin.watched_kinds)


def equip(configuration: Configuration, registry: PluginRegistry, given: Sequence[str]) -> Equipped:
    """Add the plugins that were given and those of packages that the configuration names."""
    notes: list[str] = []
    for spec in dict.fromkeys(given):
        plugin = load_plugin(spec)
        registry = _register(registry, plugin, spec)
        if not _is_named(configuration, plugin.name):
            configuration = _enable_everywhere(configuration, plugin.name)
            notes.append(
                f"plugin {plugin.name} ({spec}) is not in the configuration: enabled at multiPoint"
                " in every profile, with weight 1"
            )
    wanted = {name for p in configuration.profiles for name in p.plugins.enabled_names()}
    unknown = sorted(wanted - {*registry})
    # Every package that is installed is looked through, so once.
    offers = _find_offers() if unknown else None
    for name in unknown:
        if (own := find_plugin(name)) is not None:
            registry = registry.with_plugins(own)
        elif offers and (offered := _find_offered(name, offers)) is not None:
            registry = _register(registry, offered, f"entry point {name}")
    return Equipped(configuration, registry, tuple(notes))


def all_plugins(registry: PluginRegistry, given: Sequence[str]) -> PluginRegistry:
    """Every plugin that a configuration could name: those that were given, Podium's own collection
    and, for names that nobody has yet, those of installed packages that can be loaded."""
    for spec in dict.fromkeys(given):
        registry = _register(registry, load_plugin(spec), spec)
    for name in sorted(SHIPPED_PLUGINS - {*registry}):
        registry = registry.with_plugins(*filter(None, [find_plugin(name)]))
    offers = _find_offers()
    for name in sorted({entry.name for entry in offers} - {*registry}):
        with suppress(InputError):
            offered = _find_offered(name, offers)
            registry = _register(registry, offered, name) if offered else registry
    return registry


def find_plugin(name: str) -> type[Plugin] | None:
    """The plugin of Podium's own collection that has a name, if there is one."""
    if name not in SHIPPED_PLUGINS:
        return None
    found: type[Plugin] = load_entry_point(PLUGINS, name)
    return found


def load_plugin(spec: str) -> type[Plugin]:
    """The plugin class that `--plugin` names."""
    from podium.user_code.modules import load_code

    code = load_code(spec, "--plugin", FORMS)
    return _choose(code.module, code.where, code.name)


# --- classes ----------------------------------------------------------------------------------


def _is_of(kind: type, module: ModuleType) -> bool:
    """Whether a class was written in a module, or in one of a package."""
    name = module.__name__
    is_below = hasattr(module, "__path__") and kind.__module__.startswith(f"{name}.")
    return is_below or kind.__module__ == name


def _choose(module: ModuleType, where: str, name: str | None) -> type[Plugin]:
    own = [
        thing
        for thing in vars(module).values()
        if isinstance(thing, type) and issubclass(thing, Plugin) and _is_of(thing, module)
    ]
    if name is not None:
        return _require_attributes(_named_class(module, where, name, own), where)
    named = [plugin for plugin in dict.fromkeys(own) if getattr(plugin, "name", "")]
    if len(named) == 1:
        return _require_attributes(named[0], where)
    if named:
        names = ", ".join(plugin.__name__ for plugin in named)
        remedy = f"say which: {where}:{named[0].__name__}"
        raise InputError(f"holds {len(named)} plugins: {names}", source=where, remedy=remedy)
    if own:
        return _require_attributes(own[0], where)
    remedy = "a plugin is a class that inherits NodeFilterPlugin, NodeScorePlugin or another point"
    raise InputError("holds no plugin", source=where, remedy=remedy)


def _named_class(
    module: ModuleType, where: str, name: str, own: Iterable[type[Plugin]]
) -> type[Plugin]:
    found = getattr(module, name, None)
    if isinstance(found, type) and issubclass(found, Plugin):
        return found
    names = [plugin.__name__ for plugin in own]
    remedy = did_you_mean(closest(name, names)) or (names and f"there is {', '.join(names)}") or ""
    if found is None:
        raise InputError(f"has no class {name}", source=where, remedy=remedy)
    problem = f"{name} is not a plugin: it inherits none of the extension points"
    raise InputError(problem, source=where, remedy=remedy)


def _require_attributes(plugin: type[Plugin], where: str) -> type[Plugin]:
    name = getattr(plugin, "name", "")
    if not isinstance(name, str) or not name:
        remedy = f'write `name = "{plugin.__name__}"` in it'
        raise InputError(f"{plugin.__name__} has no name", source=where, remedy=remedy)
    told_of = plugin.informed_of
    if not isinstance(told_of, tuple) or not all(isinstance(kind, type) for kind in told_of):
        remedy = "write a tuple of classes of podium.plugin: informed_of = (Node, Pod)"
        problem = f"informed_of of {plugin.__name__} names no kinds: {told_of!r}"
        raise InputError(problem, source=where, remedy=remedy)
    return plugin


def _register(registry: PluginRegistry, plugin: type[Plugin], spec: str) -> PluginRegistry:
    from podium.user_code.guarded_plugin import guard_plugin

    try:
        PluginRegistry([plugin])
        return registry.with_plugins(guard_plugin(plugin))
    except RegistryError as problem:
        raise InputError(str(problem), source=spec) from None


# --- configurations ---------------------------------------------------------------------------


def _is_named(configuration: Configuration, plugin: str) -> bool:
    return any(
        ref.name == plugin
        for profile in configuration.profiles
        for _, entry in profile.plugins.items()
        for ref in (*entry.enabled, *entry.disabled)
    )


def _enable_everywhere(configuration: Configuration, plugin: str) -> Configuration:
    def add(profile: ProfileConfiguration) -> ProfileConfiguration:
        everywhere = profile.plugins.multi_point
        enabled = (*everywhere.enabled, PluginRef(plugin, 1))
        plugins = replace(profile.plugins, multi_point=PluginSet(enabled, everywhere.disabled))
        return replace(profile, plugins=plugins)

    return replace(configuration, profiles=tuple(map(add, configuration.profiles)))


def _find_offers() -> EntryPoints:
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)


def _find_offered(name: str, offers: EntryPoints) -> type[Plugin] | None:
    """The plugin that an installed package offers under a name, if one does."""
    found: dict[str, EntryPoint] = {e.value: e for e in offers.select(name=name)}
    if not found:
        return None
    if len(found) > 1:
        values = ", ".join(sorted(found))
        raise InputError(f"several packages offer a plugin named {name}: {values}")
    (offer,) = found.values()
    shown = f"plugin {name} ({offer.value})"
    try:
        loaded = offer.load()
    except (Exception, SystemExit) as problem:
        from podium.user_code.modules import load_error

        raise load_error(problem, shown) from problem
    if not (isinstance(loaded, type) and issubclass(loaded, Plugin)):
        raise InputError("is not a plugin class", source=shown)
    if getattr(loaded, "name", "") != name:
        its = getattr(loaded, "name", "")
        raise InputError(f"the class calls itself {its!r}, its entry point {name!r}", source=shown)
    return loaded
