"""The order in which a snapshot lists its nodes.

Upstream keeps nodes in a tree of zones and lists them round robin over the zones, so that a search
that stops early has seen several zones. The list is rebuilt only when a name appears that the last
list did not have, or when the list is longer than the tree: a zone change alone does not reorder
it, and a node that went and came back between two snapshots keeps its place.

Sources: `pkg/scheduler/backend/cache/node_tree.go` and `UpdateSnapshot` in
`pkg/scheduler/backend/cache/cache.go`.
"""

from podium.kubernetes.kinds.node import Node

_ZONE_LABELS = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
_REGION_LABELS = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")


def zone_key(node: Node) -> str:
    """The tree's name for a node's zone: empty, or region and zone joined."""
    labels = node.metadata.labels or {}
    zone = next((labels[key] for key in _ZONE_LABELS if key in labels), "")
    region = next((labels[key] for key in _REGION_LABELS if key in labels), "")
    return f"{region}:\0:{zone}" if region or zone else ""


class NodeOrder:
    """The tree of zones and the list that snapshots show."""

    def __init__(self) -> None:
        self._zones: dict[str, dict[str, None]] = {}
        self._zone_of: dict[str, str] = {}
        self._listed: list[str] = []
        self._listed_set: set[str] = set()
        self.version = 0
        self._stale = False

    def __len__(self) -> int:
        return len(self._zone_of)

    def copy(self) -> "NodeOrder":
        """The same tree and list; neither changes with the other."""
        twin = NodeOrder()
        twin._zones = {zone: dict(names) for zone, names in self._zones.items()}
        twin._zone_of = dict(self._zone_of)
        twin._listed, twin._listed_set = list(self._listed), set(self._listed_set)
        twin.version, twin._stale = self.version, self._stale
        return twin

    def put(self, node: Node) -> None:
        """Add a node, or move it if its zone changed."""
        name, zone = node.metadata.name, zone_key(node)
        old = self._zone_of.get(name)
        if old == zone:
            return
        if old is not None:
            self._take_out(name, old)
        self._zones.setdefault(zone, {})[name] = None
        self._zone_of[name] = zone
        self._stale = True

    def remove(self, name: str) -> None:
        zone = self._zone_of.pop(name, None)
        if zone is not None:
            self._take_out(name, zone)
            self._stale = True

    def names(self) -> list[str]:
        """Node names in snapshot order; call once per cycle."""
        if self._stale:
            self._stale = False
            appeared = any(name not in self._listed_set for name in self._zone_of)
            if appeared or len(self._listed) > len(self._zone_of):
                self._listed = self._round_robin()
                self._listed_set = set(self._listed)
            self.version += 1
        return self._listed

    def _take_out(self, name: str, zone: str) -> None:
        names = self._zones[zone]
        del names[name]
        if not names:
            del self._zones[zone]

    def _round_robin(self) -> list[str]:
        columns = [list(names) for names in self._zones.values()]
        depth = max(map(len, columns), default=0)
        return [column[i] for i in range(depth) for column in columns if i < len(column)]
