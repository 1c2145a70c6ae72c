"""CSINodes as columns: which drivers a node has, how many volumes they take, what has migrated.

A CSINode is named like its node and says which CSI drivers run there. The volume plugins ask the
same few things of it for every node at once, so the answers are columns, made on first demand and
kept until a CSINode changes or a node comes or goes.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from podium.kubernetes.kinds.storage import CSINode
from podium.scheduler.cluster.growth import Ints, Mask
from podium.scheduler.cluster.state import Cluster

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
NO_LIMIT = -1


def limits_of(csi_node: CSINode) -> dict[str, int]:
    """Driver -> how many volumes it attaches to the node, for drivers that say so."""
    return {
        driver.name: driver.allocatable.count
        for driver in csi_node.spec.drivers or ()
        if driver.allocatable is not None and driver.allocatable.count is not None
    }


def migrated_plugins(csi_node: CSINode | None) -> frozenset[str]:
    """In-tree plugins that a node has handed over to their CSI drivers."""
    written = (csi_node.metadata.annotations or {}).get(MIGRATED_PLUGINS) if csi_node else None
    return frozenset(written.split(",")) if written else frozenset()


class CsiNodeColumns:
    """All columns have a place for each row of the node table and are not to be written to."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._version: tuple[int, int, int] = (-1, -1, -1)
        self._nodes: dict[int, CSINode] = {}
        self._rows: frozenset[int] = frozenset()
        self._masks: dict[tuple[str, str], Mask] = {}
        self._limits: dict[str, Ints] = {}

    @property
    def rows(self) -> frozenset[int]:
        """Rows that have a CSINode; the same object until they change."""
        self._refresh()
        return self._rows

    @property
    def by_row(self) -> Mapping[int, CSINode]:
        self._refresh()
        return MappingProxyType(self._nodes)

    def exists(self) -> Mask:
        return self._mask("exists", "", lambda _: True)

    def installed(self, driver: str) -> Mask:
        """Rows whose CSINode lists a driver."""
        return self._mask(
            "installed",
            driver,
            lambda node: any(listed.name == driver for listed in node.spec.drivers or ()),
        )

    def migrated(self, plugin: str) -> Mask:
        """Rows whose CSINode says that an in-tree plugin has been handed over."""
        return self._mask("migrated", plugin, lambda node: plugin in migrated_plugins(node))

    def limited(self) -> Mask:
        """Rows where at least one driver has a limit."""
        return self._mask("limited", "", lambda node: bool(limits_of(node)))

    def limits(self, driver: str) -> Ints:
        """A driver's limit per row, NO_LIMIT where it has none."""
        self._refresh()
        column = self._limits.get(driver)
        if column is None:
            column = np.full(self._cluster.nodes.size, NO_LIMIT, dtype=np.int64)
            for row, csi_node in self._nodes.items():
                column[row] = limits_of(csi_node).get(driver, NO_LIMIT)
            column.flags.writeable = False
            self._limits[driver] = column
        return column

    def _mask(self, question: str, subject: str, holds: Callable[[CSINode], bool]) -> Mask:
        self._refresh()
        mask = self._masks.get((question, subject))
        if mask is None:
            mask = np.zeros(self._cluster.nodes.size, dtype=np.bool_)
            mask[[row for row, csi_node in self._nodes.items() if holds(csi_node)]] = True
            mask.flags.writeable = False
            self._masks[question, subject] = mask
        return mask

    def _refresh(self) -> None:
        nodes = self._cluster.nodes
        version = (self._cluster.catalog.version(CSINode), nodes.membership, nodes.size)
        if version == self._version:
            return
        self._version = version
        found = (
            (nodes.row(csi_node.metadata.name), csi_node)
            for csi_node in self._cluster.catalog.all(CSINode)
        )
        self._nodes = {row: csi_node for row, csi_node in found if row >= 0}
        if self._rows != self._nodes.keys():
            self._rows = frozenset(self._nodes)
        self._masks.clear()
        self._limits.clear()
