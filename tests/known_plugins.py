"""What the in-tree registry can tell about plugins, for tests of configurations."""

from functools import cache

from podium.config import ExtensionPoint
from podium.config.examine import KnownPlugins
from podium.framework.points import serves
from podium.plugins import in_tree_registry


@cache
def in_tree() -> KnownPlugins:
    registry = in_tree_registry()

    def implements(name: str, point: ExtensionPoint) -> bool:
        return name in registry and serves(registry.get(name), point.value)

    return KnownPlugins(tuple(registry), implements)
