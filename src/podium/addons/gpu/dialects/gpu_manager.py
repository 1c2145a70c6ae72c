"""gpu-manager with gpu-admission, and gpu-scheduler, which went on from it.

100 cores are a card, 1 unit of memory is 256 MiB. Fewer than 100 cores share a card and need memory
beside them; multiples of 100 take as many cards as a whole. Cards are not registered one by one:
there are as many as the node's capacity makes, all alike.

The agent serves regular containers only. It finds a pod for the kubelet's call by the number of
cores, so that an init container would be given the card of another one: such pods are refused.

gpu-scheduler, which went on from gpu-admission: `nvidia.com/vcuda-core` and `vcuda-memory`. 1 unit
of memory is 1 MiB, and the agent registers every card: its name, memory, health, and whether it is
in MIG mode. It says every half minute that it lives. Pods may choose by the name of the card.
"""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from podium.addons.gpu.cards.allocations import Allocation, CardShare
from podium.addons.gpu.cards.card import MAX_CARDS, NO_CARDS, Card, NodeCards, Reason
from podium.addons.gpu.cards.requests import (
    CardKey,
    CardSelector,
    ContainerRequest,
    NodePolicy,
    PodRequest,
)
from podium.addons.gpu.dialects.dialect import (
    Dialect,
    InvalidRequest,
    NodeWrite,
    Phase,
    PodWrite,
    WrittenDecision,
)
from podium.addons.gpu.dialects.node_lock import LockFormat, NodeLockRule
from podium.addons.gpu.dialects.reading import (
    IN_MIG_MODE,
    BadText,
    capacity_of,
    check_asking,
    containers_of,
    equal_cards,
    init_containers_of,
    limit_of,
    nanoseconds,
    quote,
    read_cards,
    read_json,
    read_number,
    remove_keys,
    seconds_of_nanoseconds,
    split_list,
)
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Container, Pod
from podium.kubernetes.rules.labels import value_problems
from podium.kubernetes.rules.timestamps import seconds_of

WHOLE_CARD = 100


class GPUManager(Dialect):
    name = "gpu-manager"
    memory_unit = 256 << 20
    matches_by_size = True
    chooses_shared_card = True
    gives_broken_devices = True
    deletes_refused_pods = True

    def __init__(self, domain: str = "tencent.com") -> None:
        self._core = f"{domain}/vcuda-core"
        self._memory = f"{domain}/vcuda-memory"
        self._index_prefix = f"{domain}/predicate-gpu-idx-"
        self._node = f"{domain}/predicate-node"
        self._assigned = f"{domain}/gpu-assigned"
        self._time = f"{domain}/predicate-time"
        self.resources = (self._core, self._memory)
        self.cores_resource, self.memory_resource = self._core, self._memory

    # --- nodes ---

    def node_cards(self, node: Node, now: float) -> NodeCards:  # noqa: ARG002
        cores = capacity_of(node, self._core)
        if cores == 0:
            return NO_CARDS
        count = cores // WHOLE_CARD
        if count == 0:
            detail = f"capacity {self._core} {cores} is less than a card, which is {WHOLE_CARD}"
            return NodeCards(refusal=Reason.NO_CARDS, detail=detail)
        return equal_cards(count, capacity_of(node, self._memory) // count, self._core)

    def register(self, cards: Sequence[Card], now: float) -> NodeWrite:  # noqa: ARG002
        return NodeWrite(capacity=self._capacity(cards))

    def _capacity(self, cards: Sequence[Card]) -> dict[str, str]:
        return {
            self._core: str(WHOLE_CARD * len(cards)),
            self._memory: str(sum(card.memory for card in cards)),
        }

    # --- requests ---

    def pod_request(self, pod: Pod) -> PodRequest | None:
        for container in init_containers_of(pod):
            if self.device_count(container) or limit_of(container, self._memory):
                raise InvalidRequest(
                    f"init container {container.name} asks for {self._core} or {self._memory}: "
                    "the agent serves regular containers only; ask there"
                )
        requests = tuple(map(self._container_request, containers_of(pod)))
        if not any(requests):
            return None
        check_asking(*requests)
        return PodRequest(
            containers=requests,
            selector=self._selector(pod),
            node_policy=NodePolicy.FULLEST_BY_CORES,
            card_order=(CardKey.FREE_CORES, CardKey.FREE_MEMORY),
        )

    def _selector(self, pod: Pod) -> CardSelector:  # noqa: ARG002
        return CardSelector()

    def _container_request(self, container: Container) -> ContainerRequest | None:
        cores = self.device_count(container)
        memory = limit_of(container, self._memory) or 0
        if cores == memory == 0:
            return None
        if cores == 0 or (cores < WHOLE_CARD and memory == 0):
            given, missing = (
                (self._memory, self._core) if cores == 0 else (self._core, self._memory)
            )
            raise InvalidRequest(
                f"container {container.name} asks for {given} without {missing}: it would be "
                f"given no card; a share needs both, a whole card {self._core} {WHOLE_CARD}"
            )
        if cores < WHOLE_CARD:
            return ContainerRequest(cores=cores, memory=memory)
        cards, rest = divmod(cores, WHOLE_CARD)
        if rest or cards > MAX_CARDS:
            raise InvalidRequest(
                f"container {container.name} asks for {self._core} {cores}: right are 1 to "
                f"{WHOLE_CARD - 1} for a share, or multiples of {WHOLE_CARD} for whole cards"
            )
        return ContainerRequest(cards=cards, cores=WHOLE_CARD, exclusive=True, whole=True)

    # --- decisions ---

    def decided_node(self, pod: Pod) -> str:
        """An agent that chose for a pod nobody decided on writes the indexes, and no node."""
        if self._node in (pod.metadata.annotations or {}) or not pod.spec.node_name:
            return pod.metadata.annotation(self._node)
        is_given = any(key.startswith(self._index_prefix) for key in pod.metadata.annotations or ())
        return pod.spec.node_name if is_given else ""

    def decision(self, pod: Pod, node: NodeCards) -> WrittenDecision | None:
        node_name = self.decided_node(pod)
        if not node_name:
            return None
        problems: list[str] = []
        decided_at = seconds_of_nanoseconds(pod.metadata.annotation(self._time))
        if decided_at is None and self._node in (pod.metadata.annotations or {}):
            problems.append(f"{self._time} is no time in nanoseconds")
        by_index = {card.index: card for card in node.cards}
        shares = tuple(
            self._shares(pod, at, container, by_index, problems)
            for at, container in enumerate(containers_of(pod))
        )
        return WrittenDecision(
            node=node_name,
            allocation=Allocation(containers=shares),
            decided_at=decided_at or 0.0,
            phase=self._phase(pod),
            problem="; ".join(problems),
        )

    def _phase(self, pod: Pod) -> Phase:
        assigned = pod.metadata.annotation(self._assigned) == "true"
        return Phase.CONFIRMED if assigned else Phase.RESERVED

    def _shares(
        self,
        pod: Pod,
        at: int,
        container: Container,
        cards: dict[int, Card],
        problems: list[str],
    ) -> tuple[CardShare, ...]:
        key = f"{self._index_prefix}{at}"
        text = (pod.metadata.annotations or {}).get(key)
        if text is None:
            return ()
        try:
            # Whoever decided it, and however it was asked for: what is held is counted.
            cores, memory = self.device_count(container), limit_of(container, self._memory) or 0
            if cores == 0:
                raise BadText("the container asks for no card")
            indexes = self._indexes(text)
        except (BadText, InvalidRequest) as problem:
            problems.append(f"{key}: {problem}")
            return ()
        unknown = [index for index in indexes if index not in cards]
        if unknown:
            problems.append(f"{key}: the node has no card {unknown[0]}")
        return tuple(
            CardShare(
                card=index,
                cores=cards[index].cores if cores >= WHOLE_CARD else cores,
                memory=cards[index].memory if cores >= WHOLE_CARD else memory,
            )
            for index in indexes
            if index in cards
        )

    @staticmethod
    def _indexes(text: str) -> list[int]:
        entries = text.split(",", MAX_CARDS)
        if len(entries) > MAX_CARDS:
            raise BadText(f"more than {MAX_CARDS} cards")
        indexes = [read_number(entry, "index", MAX_CARDS - 1) for entry in entries]
        if len(set(indexes)) < len(indexes):
            raise BadText(f"{quote(text)} names a card twice")
        return indexes

    def write_decision(
        self,
        pod: Pod,
        node_name: str,
        node: NodeCards,  # noqa: ARG002
        allocation: Allocation,
        now: float,
    ) -> PodWrite:
        cleared = self.clear_decision(pod)
        written = {
            **cleared.annotations,
            self._node: node_name,
            self._assigned: "false",
            self._time: nanoseconds(now),
        }
        for at, shares in enumerate(allocation.containers):
            if shares:
                written[f"{self._index_prefix}{at}"] = _join(share.card for share in shares)
        return PodWrite(annotations=written, labels=cleared.labels)

    def write_binding(self, pod: Pod, now: float) -> PodWrite:  # noqa: ARG002
        return PodWrite()

    def clear_decision(self, pod: Pod) -> PodWrite:
        present = pod.metadata.annotations or {}
        indexes = [key for key in present if key.startswith(self._index_prefix)]
        keys = (self._node, self._assigned, self._time, *indexes)
        return PodWrite(annotations=remove_keys(present, keys))

    # --- the agent ---

    def confirm(self, pod: Pod) -> PodWrite:  # noqa: ARG002
        return PodWrite(annotations={self._assigned: "true"})

    def refuse(self, pod: Pod) -> PodWrite:  # noqa: ARG002
        return PodWrite()  # the kubelet fails the pod, and that is all that anybody sees

    def write_cards(self, container: int, cards: Sequence[int]) -> PodWrite:
        """What the agent writes over the decision when it chose whole cards itself."""
        return PodWrite(annotations={f"{self._index_prefix}{container}": _join(cards)})

    def waiting_since(self, pod: Pod) -> float | None:
        if pod.metadata.annotation(self._assigned) not in ("", "false"):
            return None
        text = (pod.metadata.annotations or {}).get(self._time)
        if text is not None:
            return seconds_of_nanoseconds(text) or 0.0
        try:
            return seconds_of(pod.metadata.creation_timestamp or "")
        except (ValueError, OverflowError):
            return 0.0

    def device_count(self, container: Container) -> int:
        return limit_of(container, self._core) or 0


def _join(cards: Iterable[int]) -> str:
    return ",".join(map(str, cards))


HEARTBEAT = "tydic.io/node-gpu-heartbeat"
HEARTBEAT_TIMEOUT_S = 60.0
REGISTER = "tydic.io/nvidia-device-register"
MODEL_LABEL = "gaia.nvidia.com/gpu-model"
BIND_TIME = "tydic.io/bind-time"
BIND_PHASE = "tydic.io/bind-phase"
USE_MODELS = "nvidia.com/use-gputype"
NO_USE_MODELS = "nvidia.com/nouse-gputype"

_PHASES = {"success": Phase.CONFIRMED, "failed": Phase.FAILED}


class _RegisteredCard(msgspec.Struct):
    id: str = ""
    core: int = 100
    memory: int = 0
    type: str = ""
    is_mig: bool = msgspec.field(default=False, name="isMig")
    health: bool = False


class GPUScheduler(GPUManager):
    name = "gpu-scheduler"
    memory_unit = 1 << 20
    heartbeat_timeout_s = HEARTBEAT_TIMEOUT_S
    lock = NodeLockRule("tydic.io/node-lock", LockFormat.NANOSECONDS)

    def __init__(self) -> None:
        super().__init__("nvidia.com")

    def node_cards(self, node: Node, now: float) -> NodeCards:
        heartbeat = (node.metadata.annotations or {}).get(HEARTBEAT)
        at = None if heartbeat is None else seconds_of_nanoseconds(heartbeat)
        found = self._registered_cards(node)
        if at is None:
            reason = Reason.NO_HEARTBEAT if heartbeat is None else Reason.BAD_HEARTBEAT
            return NodeCards(cards=found.cards, refusal=reason)
        if now - at > HEARTBEAT_TIMEOUT_S:
            return NodeCards(cards=found.cards, refusal=Reason.HEARTBEAT_TIMEOUT)
        return replace(found, good_until=at + HEARTBEAT_TIMEOUT_S)

    def _registered_cards(self, node: Node) -> NodeCards:
        if capacity_of(node, self._core) == 0:
            return NO_CARDS
        return read_cards(REGISTER, node.metadata, _read_register)

    def register(self, cards: Sequence[Card], now: float) -> NodeWrite:
        models = sorted({_short_model(card.model) for card in cards} - {""})
        label = ",".join(models)
        return NodeWrite(
            annotations={
                HEARTBEAT: nanoseconds(now),
                REGISTER: msgspec.json.encode([_register_card(card) for card in cards]).decode(),
            },
            # Kubernetes takes no comma in a label: the agent of a mixed node cannot set it.
            labels={MODEL_LABEL: label} if label and not value_problems(label) else {},
            capacity=self._capacity(cards),
        )

    def _selector(self, pod: Pod) -> CardSelector:
        return CardSelector(
            models=split_list(pod.metadata.annotation(USE_MODELS)),
            not_models=split_list(pod.metadata.annotation(NO_USE_MODELS)),
        )

    def _phase(self, pod: Pod) -> Phase:
        return _PHASES.get(pod.metadata.label(BIND_PHASE)) or super()._phase(pod)

    def write_binding(self, pod: Pod, now: float) -> PodWrite:  # noqa: ARG002
        return PodWrite(labels={BIND_TIME: nanoseconds(now), BIND_PHASE: "allocating"})

    def clear_decision(self, pod: Pod) -> PodWrite:
        return PodWrite(
            annotations=super().clear_decision(pod).annotations,
            labels=remove_keys(pod.metadata.labels, (BIND_TIME, BIND_PHASE)),
        )

    def confirm(self, pod: Pod) -> PodWrite:
        written = super().confirm(pod).annotations
        return PodWrite(annotations=written, labels={BIND_PHASE: "success"})

    def refuse(self, pod: Pod) -> PodWrite:  # noqa: ARG002
        return PodWrite(labels={BIND_PHASE: "failed"})

    def waiting_since(self, pod: Pod) -> float | None:
        if pod.metadata.label(BIND_PHASE) != "allocating":
            return None
        return seconds_of_nanoseconds(pod.metadata.label(BIND_TIME)) or 0.0


def _read_register(text: str) -> Iterable[Card]:
    for index, card in enumerate(read_json(text, list[_RegisteredCard])):
        yield Card(
            index=index,
            uuid=card.id,
            model=card.type,
            memory=card.memory,
            cores=card.core,
            healthy=card.health,
            profiles=IN_MIG_MODE if card.is_mig else (),
        )


def _register_card(card: Card) -> _RegisteredCard:
    return _RegisteredCard(
        id=card.uuid,
        core=card.cores,
        memory=card.memory,
        type=card.model,
        is_mig=bool(card.profiles),
        health=card.healthy,
    )


def _short_model(model: str) -> str:
    """The second word of the product's name: `A100-SXM4-80GB` of `NVIDIA A100-SXM4-80GB`."""
    return "".join(model.split(" ")[1:2])
