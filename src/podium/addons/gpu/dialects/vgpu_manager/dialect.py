"""vgpu-manager: `nvidia.com/vgpu-number` cards, of each of them `vgpu-cores` and `vgpu-memory`.

Without memory a container has all memory of its cards; with neither, all cores as well. Memory is
in megabytes times the factor that the node's agent is set to.
"""

from collections.abc import Sequence
from typing import Final

from podium.addons.gpu.cards.allocations import Allocation
from podium.addons.gpu.cards.card import Card, NodeCards
from podium.addons.gpu.cards.requests import (
    CardKey,
    CardSelector,
    ContainerRequest,
    NodePolicy,
    PodRequest,
    Topology,
)
from podium.addons.gpu.dialects.dialect import (
    Dialect,
    InvalidRequest,
    NodeWrite,
    Phase,
    PodWrite,
    WrittenDecision,
)
from podium.addons.gpu.dialects.reading import (
    check_asking,
    containers_of,
    has_sidecars,
    init_containers_of,
    limit_of,
    nanoseconds,
    remove_keys,
    seconds_of_nanoseconds,
    split_list,
)
from podium.addons.gpu.dialects.vgpu_manager.decision import count_claims, read_claims, write_claims
from podium.addons.gpu.dialects.vgpu_manager.registration import (
    NUMBER,
    PHYSICAL_MEMORY,
    VIRTUAL_MEMORY,
    read_node,
    write_node,
)
from podium.golang.arithmetic import INT64_MAX
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Container, Pod
from podium.kubernetes.rules.label_syntax import value_problems

CORES: Final = "nvidia.com/vgpu-cores"
MEMORY: Final = "nvidia.com/vgpu-memory"
NODE: Final = "nvidia.com/predicate-node"
TIME: Final = "nvidia.com/predicate-time"
PRE_ALLOCATED: Final = "nvidia.com/pre-allocated"
REAL_ALLOCATED: Final = "nvidia.com/real-allocated"
PHASE_LABEL: Final = "nvidia.com/assigned-phase"
NODE_LABEL: Final = "nvidia.com/metrics-node"
NODE_POLICY: Final = "nvidia.com/node-scheduler-policy"
CARD_POLICY: Final = "nvidia.com/device-scheduler-policy"
MEMORY_POLICY: Final = "nvidia.com/memory-scheduler-policy"
TOPOLOGY_MODE: Final = "nvidia.com/device-topology-mode"

MAX_CONTAINER_CARDS: Final = 16
_ALL_CORES: Final = 100
_SETTLED: Final = str(INT64_MAX)
"""The time of pods that the agent is done with: they are last in its order."""
_PHASES: Final = {"succeed": Phase.CONFIRMED, "failed": Phase.FAILED}
_NODE_POLICIES: Final = {"binpack": NodePolicy.BINPACK, "spread": NodePolicy.SPREAD}
_CARD_ORDERS: Final = {"binpack": (CardKey.FULLEST,), "spread": (CardKey.EMPTIEST,)}
_TOPOLOGIES: Final = {mode.value: mode for mode in Topology}


class VGPUManager(Dialect):
    name = "vgpu-manager"
    resources = (NUMBER, CORES, MEMORY)
    memory_unit = 1 << 20
    cores_resource = CORES
    memory_resource = MEMORY
    node_policy_key = NODE_POLICY
    card_policy_key = CARD_POLICY

    # --- nodes ---

    def node_cards(self, node: Node, now: float) -> NodeCards:  # noqa: ARG002
        return read_node(node)

    def register(self, cards: Sequence[Card], now: float) -> NodeWrite:  # noqa: ARG002
        return write_node(cards)

    # --- requests ---

    def pod_request(self, pod: Pod) -> PodRequest | None:
        containers = tuple(map(_container_request, containers_of(pod)))
        init_containers = tuple(map(_container_request, init_containers_of(pod)))
        if not any((*containers, *init_containers)):
            return None
        check_asking(*containers, *init_containers)
        return PodRequest(
            containers=containers,
            init_containers=init_containers,
            sidecars=has_sidecars(pod),
            selector=_selector(pod),
            node_policy=_NODE_POLICIES.get(_word(pod, NODE_POLICY), NodePolicy.NONE),
            card_order=_CARD_ORDERS.get(_word(pod, CARD_POLICY), ()),
            topology=_TOPOLOGIES.get(_word(pod, TOPOLOGY_MODE), Topology.NONE),
        )

    # --- decisions ---

    def decided_node(self, pod: Pod) -> str:
        return pod.metadata.annotation(NODE)

    def decision(self, pod: Pod, node: NodeCards) -> WrittenDecision | None:
        node_name = self.decided_node(pod)
        planned, given = (pod.metadata.annotation(key) for key in (PRE_ALLOCATED, REAL_ALLOCATED))
        if not node_name or not (planned or given):
            return None
        problems: list[str] = []
        # The agent writes down one container after the other; until the last, the plan counts.
        text = given if count_claims(given) >= count_claims(planned) else planned
        names = _names(pod)
        claims = read_claims(text, names, node, problems)
        shares = tuple(claims.get(name, ()) for name in names)
        starting = len(init_containers_of(pod))
        return WrittenDecision(
            node=node_name,
            allocation=Allocation(
                containers=shares[starting:],
                init_containers=shares[:starting],
                sidecars=has_sidecars(pod),
            ),
            decided_at=seconds_of_nanoseconds(pod.metadata.annotation(TIME)) or 0.0,
            phase=_PHASES.get(pod.metadata.label(PHASE_LABEL), Phase.RESERVED),
            problem="; ".join(problems),
        )

    def write_decision(
        self, pod: Pod, node_name: str, node: NodeCards, allocation: Allocation, now: float
    ) -> PodWrite:
        starting = allocation.init_containers or ((),) * len(init_containers_of(pod))
        claims = write_claims(
            zip(_names(pod), (*starting, *allocation.containers), strict=True), node
        )
        return PodWrite(
            annotations={
                NODE: node_name,
                PRE_ALLOCATED: claims,
                REAL_ALLOCATED: "",
                TIME: nanoseconds(now),
            },
            labels={PHASE_LABEL: "filtering", NODE_LABEL: _label(node_name)},
        )

    def write_binding(self, pod: Pod, now: float) -> PodWrite:
        return PodWrite(
            annotations={TIME: nanoseconds(now)},
            labels={PHASE_LABEL: "allocating", NODE_LABEL: _label(self.decided_node(pod))},
        )

    def clear_decision(self, pod: Pod) -> PodWrite:
        keys = (NODE, TIME, PRE_ALLOCATED, REAL_ALLOCATED)
        return PodWrite(
            annotations=remove_keys(pod.metadata.annotations, keys),
            labels=remove_keys(pod.metadata.labels, (PHASE_LABEL, NODE_LABEL)),
        )

    # --- the agent ---

    def confirm(self, pod: Pod) -> PodWrite:
        return PodWrite(
            annotations={REAL_ALLOCATED: pod.metadata.annotation(PRE_ALLOCATED), TIME: _SETTLED},
            labels={PHASE_LABEL: "succeed", NODE_LABEL: _label(pod.spec.node_name)},
        )

    def refuse(self, pod: Pod) -> PodWrite:  # noqa: ARG002
        return PodWrite(
            annotations={TIME: _SETTLED}, labels={PHASE_LABEL: "failed", NODE_LABEL: None}
        )

    def waiting_since(self, pod: Pod) -> float | None:
        if not pod.metadata.annotation(PRE_ALLOCATED) or self.decided_node(pod) != (
            pod.spec.node_name
        ):
            return None
        return seconds_of_nanoseconds(pod.metadata.annotation(TIME))

    def device_count(self, container: Container) -> int:
        return limit_of(container, NUMBER) or 0


def _label(node_name: str) -> str | None:
    """A label holds 63 characters, a node's name up to 253."""
    return node_name if node_name and not value_problems(node_name) else None


def _names(pod: Pod) -> list[str]:
    return [container.name for container in (*init_containers_of(pod), *containers_of(pod))]


def _word(pod: Pod, key: str) -> str:
    return pod.metadata.annotation(key).strip().lower()


def _selector(pod: Pod) -> CardSelector:
    read = pod.metadata.annotation
    memory = _word(pod, MEMORY_POLICY)
    modes = {"virt": (VIRTUAL_MEMORY,), "phy": (PHYSICAL_MEMORY,)}
    return CardSelector(
        models=split_list(read("nvidia.com/include-gpu-type")),
        not_models=split_list(read("nvidia.com/exclude-gpu-type")),
        uuids=split_list(read("nvidia.com/include-gpu-uuid")),
        not_uuids=split_list(read("nvidia.com/exclude-gpu-uuid")),
        modes=next((mode for start, mode in modes.items() if memory.startswith(start)), ()),
    )


def _container_request(container: Container) -> ContainerRequest | None:
    number = limit_of(container, NUMBER)
    cores, memory = limit_of(container, CORES) or 0, limit_of(container, MEMORY) or 0
    if not number:
        if cores or memory:
            raise InvalidRequest(
                f"container {container.name} asks for a share without {NUMBER}: the agent "
                f"would give it no card; ask for {NUMBER} 1 beside it"
            )
        return None
    if number > MAX_CONTAINER_CARDS or cores > _ALL_CORES:
        raise InvalidRequest(
            f"container {container.name} asks for {NUMBER} {number} with {CORES} {cores}: right "
            f"are up to {MAX_CONTAINER_CARDS} cards with up to {_ALL_CORES} cores of each"
        )
    return ContainerRequest(
        cards=number,
        cores=cores if cores or memory else _ALL_CORES,
        memory=memory,
        memory_percent=None if memory else 100,
    )
