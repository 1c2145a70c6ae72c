"""What the pods of each namespace take of cards, node by node: what quotas count.

ResourceQuotas count what pods hold of cards. Quotas by model count the cores that pods ask for,
from the moment that they have a node or hold cards of one until they have finished. Neither counts
a pod against itself.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from podium.addons.gpu.cards.allocations import CardUse
from podium.addons.gpu.cards.quota import QuotaAmounts, QuotaLeft, quota_left

NO_USES: Final[Mapping[int, CardUse]] = {}


class PodUse(NamedTuple):
    """What one pod takes on one node: held of its cards, and asked for."""

    cores: int = 0
    memory: int = 0
    requested_cores: int = 0


_NOTHING: Final = PodUse()


class NamespaceUse:
    def __init__(self) -> None:
        self._pods: dict[str, dict[str, tuple[str, PodUse]]] = {}
        """By uid and node: the namespace, and what is taken."""
        self._nodes: dict[str, dict[str, PodUse]] = {}
        """Sums by namespace and node."""

    def put(
        self,
        uid: str,
        node_name: str,
        namespace: str,
        uses: Mapping[int, CardUse],
        requested_cores: int = 0,
    ) -> None:
        """What a pod takes on a node from now on, instead of what it took there before."""
        known = self._pods.get(uid)
        if known is not None and node_name in known:
            self._add(node_name, *known.pop(node_name), -1)
            if not known:
                del self._pods[uid]
        cores = memory = 0
        for use in uses.values():
            cores += use.cores
            memory += use.memory
        taken = PodUse(cores, memory, requested_cores)
        if taken != _NOTHING:
            self._pods.setdefault(uid, {})[node_name] = namespace, taken
            self._add(node_name, namespace, taken, 1)

    def remove(self, uid: str) -> None:
        """The pod takes nothing any more, wherever it did."""
        for node_name, (namespace, taken) in self._pods.pop(uid, {}).items():
            self._add(node_name, namespace, taken, -1)

    def held(self, namespace: str, without: str = "") -> tuple[int, int]:
        """Cores and memory on all nodes; `without` is the uid of a pod that does not count."""
        taken = self._nodes.get(namespace, {}).values()
        cores, memory = sum(each.cores for each in taken), sum(each.memory for each in taken)
        for _, own in self._pods.get(without, {}).values():
            cores -= own.cores
            memory -= own.memory
        return cores, memory

    def requested_by_model(
        self, namespace: str, model_of: Callable[[str], str], without: str = ""
    ) -> dict[str, int]:
        """Cores that are asked for, by the model of the node; `model_of` takes the node's name."""
        found: dict[str, int] = {}
        own = self._pods.get(without, {})
        for node_name, taken in self._nodes.get(namespace, {}).items():
            cores = taken.requested_cores
            if node_name in own:
                cores -= own[node_name][1].requested_cores
            model = model_of(node_name)
            found[model] = found.get(model, 0) + cores
        return found

    def left(
        self, limits: Iterable[tuple[int | None, int | None]], namespace: str, without: str = ""
    ) -> QuotaLeft | None:
        """What ResourceQuotas of a namespace leave, given as amounts of cores and memory."""
        cores, memory = self.held(namespace, without)
        return quota_left(
            QuotaAmounts(hard_cores, cores, hard_memory, memory)
            for hard_cores, hard_memory in limits
        )

    def _add(self, node_name: str, namespace: str, taken: PodUse, sign: int) -> None:
        nodes = self._nodes.setdefault(namespace, {})
        known = nodes.get(node_name, _NOTHING)
        together = PodUse(
            known.cores + sign * taken.cores,
            known.memory + sign * taken.memory,
            known.requested_cores + sign * taken.requested_cores,
        )
        if together != _NOTHING:
            nodes[node_name] = together
            return
        nodes.pop(node_name, None)
        if not nodes:
            del self._nodes[namespace]
