"""What the in-tree registry can tell about plugins, for tests of configurations."""

from functools import cache

from podium.config.examine import KnownPlugins
from podium.plugins import in_tree_registry


@cache
def in_tree() -> KnownPlugins:
    registry = in_tree_registry()
    return KnownPlugins(tuple(registry), registry.implements)
