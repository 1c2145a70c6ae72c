"""What a plugin's vector depends on, so that the framework may remember it."""

from collections.abc import Hashable
from typing import NamedTuple


class Dependence(NamedTuple):
    """Two pods with equal fragments get equal vectors while the rest stays the same.

    `usage` says that pods on a node matter for that node's answer; without it only changes of node
    objects do. `version` stands for anything else: when it changes, the vector is made anew.
    """

    fragment: Hashable
    usage: bool
    version: Hashable = None
    of_objects: bool = False
    """Set where `version` moves only when a node or another object of the cluster changes, never
    because of pods or of what the cluster does not know."""

    of_shape: bool = False
    """Set where every pod of one template gives this same dependence until a node or another object
    of the cluster changes: it is then not asked for again."""

    @property
    def stands(self) -> bool:
        """Whether the vector stays as it is while only pods come and go."""
        return not self.usage and (self.version is None or self.of_objects)
