"""Plugins that keep something of their own about objects: they are told of each as it comes,
changes and goes.

What an informer's event handlers are to plugins of kube-scheduler: `informed_of` names the kinds,
`on_add`, `on_update` and `on_delete` are called in the order in which things happen, after the
engine itself has taken them in. Contract: a handler that fails is logged and harms nobody else.
"""

from collections.abc import Iterable

from podium.kubernetes.kinds.meta import KubeStruct
from podium.scheduler.framework.faults import located
from podium.scheduler.framework.plugin import Plugin
from podium.scheduler.framework.profile import Profile


class InformedPlugins:
    def __init__(self, profiles: Iterable[Profile]) -> None:
        self._by_kind: dict[type, list[Plugin]] = {}
        for profile in profiles:
            for plugin in profile.plugins.values():
                for kind in plugin.informed_of:
                    self._by_kind.setdefault(kind, []).append(plugin)

    def tell(self, old: KubeStruct | None, new: KubeStruct | None) -> None:
        """An object has come (`old` is None), changed or gone (`new` is None)."""
        if not self._by_kind:
            return
        for plugin in self._by_kind.get(type(old if new is None else new), ()):
            try:
                _call(plugin, old, new)
            except Exception as problem:
                plugin.handle.log.error(
                    "Event handler of a plugin failed", plugin=plugin.name, err=located(problem)
                )


def _call(plugin: Plugin, old: KubeStruct | None, new: KubeStruct | None) -> None:
    if new is None:
        if old is not None:
            plugin.on_delete(old)
    elif old is None:
        plugin.on_add(new)
    else:
        plugin.on_update(old, new)
