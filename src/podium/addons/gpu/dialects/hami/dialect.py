"""HAMi: `nvidia.com/gpu` cards, of each of them `gpumem` megabytes and `gpucores` percent.

Without `gpumem` and `gpumem-percentage` a container has all memory of its cards; with neither
`gpucores` nor less than all memory also all cores, as HAMi's webhook writes it into the pod.
"""

from collections.abc import Sequence
from typing import Final

from podium.addons.gpu.cards.allocations import Allocation
from podium.addons.gpu.cards.card import MAX_CARDS, Card, NodeCards
from podium.addons.gpu.cards.requests import ContainerRequest, PodRequest
from podium.addons.gpu.dialects.dialect import (
    Dialect,
    InvalidRequest,
    NodeWrite,
    Phase,
    PodWrite,
    WrittenDecision,
)
from podium.addons.gpu.dialects.hami import policies
from podium.addons.gpu.dialects.hami.registration import (
    COUNT,
    HANDSHAKE_TIMEOUTS_S,
    read_containers,
    read_instances,
    read_node,
    write_containers,
    write_instances,
    write_node,
)
from podium.addons.gpu.dialects.node_lock import LockFormat, NodeLockRule
from podium.addons.gpu.dialects.reading import (
    check_asking,
    containers_of,
    has_sidecars,
    init_containers_of,
    limit_of,
    remove_keys,
)
from podium.golang.arithmetic import parse_int
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Container, Pod
from podium.kubernetes.rules.labels import value_problems

MEMORY: Final = "nvidia.com/gpumem"
MEMORY_PERCENT: Final = "nvidia.com/gpumem-percentage"
CORES: Final = "nvidia.com/gpucores"
NODE: Final = "hami.io/vgpu-node"
TIME: Final = "hami.io/vgpu-time"
TO_ALLOCATE: Final = "hami.io/vgpu-devices-to-allocate"
ALLOCATED: Final = "hami.io/vgpu-devices-allocated"
INSTANCES: Final = "hami.io/vgpu-mig-allocations"
BIND_TIME: Final = "hami.io/bind-time"
BIND_PHASE: Final = "hami.io/bind-phase"

_ALL_CORES: Final = 100
_MAX_MEMORY: Final = (1 << 31) - 1
_PHASES: Final = {"success": Phase.CONFIRMED, "failed": Phase.FAILED}
_KEYS: Final = (NODE, TIME, TO_ALLOCATE, ALLOCATED, INSTANCES, BIND_TIME, BIND_PHASE)


class HAMi(Dialect):
    name = "hami"
    resources = (COUNT, MEMORY, MEMORY_PERCENT, CORES)
    memory_unit = 1 << 20
    heartbeat_timeout_s = HANDSHAKE_TIMEOUTS_S["Reported"]
    cores_resource = CORES
    memory_resource = MEMORY
    node_policy_key = policies.NODE_POLICY
    card_policy_key = policies.CARD_POLICY
    lock = NodeLockRule("hami.io/mutex.lock", LockFormat.OWNED, backoff_factor=2.0)

    # --- nodes ---

    def node_cards(self, node: Node, now: float) -> NodeCards:
        return read_node(node, now)

    def register(self, cards: Sequence[Card], now: float) -> NodeWrite:
        return write_node(cards, now)

    # --- requests ---

    def pod_request(self, pod: Pod) -> PodRequest | None:
        mig = policies.wants_mig(pod)
        containers = tuple(_container_request(each, mig=mig) for each in containers_of(pod))
        init_containers = tuple(
            _container_request(each, mig=mig) for each in init_containers_of(pod)
        )
        if not any((*containers, *init_containers)):
            return None
        check_asking(*containers, *init_containers)
        return PodRequest(
            containers=containers,
            init_containers=init_containers,
            sidecars=has_sidecars(pod),
            selector=policies.selector(pod),
            node_policy=policies.node_policy(pod),
            card_order=policies.card_order(pod),
            idle_only=policies.wants_idle_cards(pod),
            topology=policies.topology(pod),
            weights=policies.weights(pod),
        )

    # --- decisions ---

    def decided_node(self, pod: Pod) -> str:
        return pod.metadata.annotation(NODE)

    def decision(self, pod: Pod, node: NodeCards) -> WrittenDecision | None:
        node_name = self.decided_node(pod)
        if not node_name:
            return None
        problems: list[str] = []
        decided_at = _seconds(pod.metadata.annotation(TIME))
        if decided_at is None:
            problems.append(f"{TIME} is no time in seconds")
        starting = len(init_containers_of(pod))
        # The agent takes out of the other annotation what it has given.
        text = pod.metadata.annotation(ALLOCATED) or pod.metadata.annotation(TO_ALLOCATE)
        count = starting + len(containers_of(pod))
        shares = read_containers(text, count, node.cards, problems)
        shares = read_instances(pod.metadata.annotation(INSTANCES), shares, problems)
        return WrittenDecision(
            node=node_name,
            allocation=Allocation(
                containers=tuple(shares[starting:]),
                init_containers=tuple(shares[:starting]),
                sidecars=has_sidecars(pod),
            ),
            decided_at=decided_at or 0.0,
            phase=_PHASES.get(pod.metadata.annotation(BIND_PHASE), Phase.RESERVED),
            problem="; ".join(problems),
        )

    def write_decision(
        self, pod: Pod, node_name: str, node: NodeCards, allocation: Allocation, now: float
    ) -> PodWrite:
        containers = (
            *(allocation.init_containers or [()] * len(init_containers_of(pod))),
            *allocation.containers,
        )
        text = write_containers(containers, node.cards)
        cleared = self.clear_decision(pod)
        instances = write_instances(containers, node.cards)
        written = {
            **cleared.annotations,
            NODE: node_name,
            TIME: str(int(now)),
            TO_ALLOCATE: text,
            ALLOCATED: text,
            **({INSTANCES: instances} if instances else {}),
        }
        # A label holds 63 characters, a node's name up to 253.
        fits = not value_problems(node_name)
        return PodWrite(written, {**cleared.labels, **({NODE: node_name} if fits else {})})

    def write_binding(self, pod: Pod, now: float) -> PodWrite:  # noqa: ARG002
        return PodWrite(annotations={BIND_PHASE: "allocating", BIND_TIME: str(int(now))})

    def clear_decision(self, pod: Pod) -> PodWrite:
        return PodWrite(
            annotations=remove_keys(pod.metadata.annotations, _KEYS),
            labels=remove_keys(pod.metadata.labels, (NODE,)),
        )

    # --- the agent ---

    def confirm(self, pod: Pod) -> PodWrite:
        count = len(init_containers_of(pod)) + len(containers_of(pod))
        return PodWrite(annotations={BIND_PHASE: "success", TO_ALLOCATE: ";" * count})

    def refuse(self, pod: Pod) -> PodWrite:  # noqa: ARG002
        return PodWrite(annotations={BIND_PHASE: "failed"})

    def waiting_since(self, pod: Pod) -> float | None:
        read = pod.metadata.annotation
        if read(BIND_PHASE) not in ("allocating", "success") or read(NODE) != pod.spec.node_name:
            return None
        if not read(BIND_TIME) or not read(TO_ALLOCATE).strip(";"):
            return None
        return _seconds(read(BIND_TIME)) or 0.0

    def device_count(self, container: Container) -> int:
        return limit_of(container, COUNT, or_request=True) or 0


def _seconds(text: str) -> float | None:
    number = parse_int(text)
    return float(number) if number is not None and number > 0 else None


def _container_request(container: Container, *, mig: bool) -> ContainerRequest | None:
    count = limit_of(container, COUNT, or_request=True)
    memory = limit_of(container, MEMORY, or_request=True)
    percent = limit_of(container, MEMORY_PERCENT, or_request=True)
    cores = limit_of(container, CORES, or_request=True)
    if not count:
        if memory or percent or cores:
            raise InvalidRequest(
                f"container {container.name} asks for a share without {COUNT}: the kubelet "
                f"would give it no card; ask for {COUNT} 1 beside it"
            )
        return None
    if count > MAX_CARDS:
        raise InvalidRequest(f"container {container.name} asks for more than {MAX_CARDS} cards")
    if memory is not None and memory > _MAX_MEMORY:
        raise InvalidRequest(
            f"container {container.name} asks for {MEMORY} {memory}, which counts megabytes: "
            f"right are numbers up to {_MAX_MEMORY}, without a suffix"
        )
    if cores is None:
        all_memory = percent >= 100 if percent else not memory
        cores = _ALL_CORES if all_memory else 0
    cores = min(cores, _ALL_CORES)  # upstream: more than a card has is all of it
    return ContainerRequest(
        cards=count,
        cores=cores,
        memory=memory or 0,
        memory_percent=None if memory else min(percent or 100, 100),
        exclusive=cores == _ALL_CORES,
        mig=mig,
    )
