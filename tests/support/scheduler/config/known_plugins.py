"""What the in-tree registry can tell about plugins, for tests of configurations."""

from functools import cache

from podium.scheduler.config.examine import KnownPlugins
from podium.scheduler.plugins import in_tree_registry
from podium.user_code.plugins import all_plugins


@cache
def in_tree() -> KnownPlugins:
    registry = in_tree_registry()
    return KnownPlugins(tuple(registry), registry.implements)


def every_plugin() -> KnownPlugins:
    """Those of Podium's own collection too."""
    registry = all_plugins(in_tree_registry(), ())
    return KnownPlugins(tuple(registry), registry.implements)
