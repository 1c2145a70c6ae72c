"""Which of the resources that pods ask for decide where they fit.

A resource that NodeResourcesFit was told to ignore, that an extender looks after, or that no node
has, is found room for by somebody else; whoever counted it would turn pods away that fit.
"""

from typing import Final

from podium.plugin import Handle
from podium.scheduler.config.plugin_args import NodeResourcesFitArgs

_FIT: Final = "NodeResourcesFit"
_ALWAYS: Final = frozenset({"cpu", "memory", "ephemeral-storage"})


class CountedResources:
    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._ignored: frozenset[str] | None = None
        self._ignored_groups: frozenset[str] = frozenset()
        self._fits = True

    def __contains__(self, name: str) -> bool:
        if self._ignored is None:
            self._ignored = self._find_ignored()
        if not self._fits:
            return False
        if name in _ALWAYS:
            return True
        if name in self._ignored or name.partition("/")[0] in self._ignored_groups:
            return False
        nodes = self._handle.cluster.nodes
        resource = nodes.resources.find(name)
        return 0 <= resource < len(nodes.allocatable) and bool(nodes.allocatable[resource].any())

    def _find_ignored(self) -> frozenset[str]:
        """Asked when all plugins are there."""
        ignored = {
            resource.name
            for extender in self._handle.extenders
            for resource in extender.managed_resources
        }
        fit = next((p for p in self._handle.profile.filter if p.name == _FIT), None)
        self._fits = fit is not None
        if fit is not None and isinstance(fit.args, NodeResourcesFitArgs):
            ignored.update(fit.args.ignored_resources)
            self._ignored_groups = frozenset(fit.args.ignored_resource_groups)
        return frozenset(ignored)
