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
