"""gpushare: a share of one card's memory, `aliyun.com/gpu-mem`.

Whether a unit is a GiB or a MiB is an option of the node agent. The decision is written while the
pod is being bound, and names no node: it stands for the node to which the pod is bound.

The agent serves one call of the kubelet for a pod: the one for all of the pod's memory. Of a pod
with several containers that ask for memory it serves none, so that such pods are refused.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from podium.addons.gpu.cards.allocations import Allocation, CardShare
from podium.addons.gpu.cards.card import MAX_CARDS, NO_CARDS, Card, NodeCards, Reason
from podium.addons.gpu.cards.requests import CardKey, ContainerRequest, NodePolicy, PodRequest
from podium.addons.gpu.dialects.dialect import (
    Dialect,
    InvalidRequest,
    NodeWrite,
    Phase,
    PodWrite,
    WrittenDecision,
)
from podium.addons.gpu.dialects.reading import (
    BadText,
    capacity_of,
    containers_of,
    equal_cards,
    init_containers_of,
    limit_of,
    nanoseconds,
    read_number,
    remove_keys,
    seconds_of_nanoseconds,
    split_list,
)
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Container, Pod

MEMORY = "aliyun.com/gpu-mem"
COUNT = "aliyun.com/gpu-count"
INDEX = "ALIYUN_COM_GPU_MEM_IDX"
CARD_MEMORY = "ALIYUN_COM_GPU_MEM_DEV"
POD_MEMORY = "ALIYUN_COM_GPU_MEM_POD"
ASSIGNED = "ALIYUN_COM_GPU_MEM_ASSIGNED"
ASSUME_TIME = "ALIYUN_COM_GPU_MEM_ASSUME_TIME"
UNHEALTHY_NAMESPACE = "kube-system"
UNHEALTHY_PREFIX = "unhealthy-gpu-"
UNHEALTHY_KEY = "gpus"


class GPUShareGiB(Dialect):
    name = "gpushare"
    resources = (MEMORY,)
    memory_resource = MEMORY
    memory_unit = 1 << 30
    matches_by_size = True
    starts_without_card = True

    # --- nodes ---

    def node_cards(self, node: Node, now: float) -> NodeCards:  # noqa: ARG002
        count, memory = capacity_of(node, COUNT), capacity_of(node, MEMORY)
        if memory == 0:
            return NO_CARDS
        if count == 0:
            return NodeCards(refusal=Reason.NO_CARDS, detail=f"the node has no capacity {COUNT}")
        return equal_cards(count, memory // count, MEMORY)

    def config_map_name(self, node_name: str) -> tuple[str, str]:
        return UNHEALTHY_NAMESPACE, f"{UNHEALTHY_PREFIX}{node_name}"

    def read_config_map(self, cards: NodeCards, data: Mapping[str, str]) -> NodeCards:
        unhealthy = set(split_list(data.get(UNHEALTHY_KEY, "")))
        marked = (
            replace(card, healthy=False) if str(card.index) in unhealthy else card
            for card in cards.cards
        )
        return replace(cards, cards=tuple(marked))

    def write_config_map(self, cards: Sequence[Card]) -> dict[str, str]:
        return {UNHEALTHY_KEY: ",".join(str(card.index) for card in cards if not card.healthy)}

    def register(self, cards: Sequence[Card], now: float) -> NodeWrite:  # noqa: ARG002
        memory = sum(card.memory for card in cards)
        return NodeWrite(capacity={COUNT: str(len(cards)), MEMORY: str(memory)})

    # --- requests ---

    def pod_request(self, pod: Pod) -> PodRequest | None:
        for container in init_containers_of(pod):
            if self.device_count(container):
                raise InvalidRequest(
                    f"init container {container.name} asks for {MEMORY}: the agent serves one "
                    "regular container only; ask there"
                )
        memory = tuple(map(self.device_count, containers_of(pod)))
        asking = sum(1 for amount in memory if amount)
        if asking == 0:
            return None
        if asking > 1:
            raise InvalidRequest(
                f"{asking} containers ask for {MEMORY}: the agent serves pods with one; "
                "let one container ask for all of it"
            )
        return PodRequest(
            containers=tuple(
                ContainerRequest(memory=amount) if amount else None for amount in memory
            ),
            node_policy=NodePolicy.NONE,
            card_order=(CardKey.FREE_MEMORY,),
        )

    # --- decisions ---

    def decided_node(self, pod: Pod) -> str:
        return pod.spec.node_name if pod.metadata.annotation(INDEX) else ""

    def decision(self, pod: Pod, node: NodeCards) -> WrittenDecision | None:
        node_name = self.decided_node(pod)
        if not node_name:
            return None
        problem = ""
        shares: tuple[tuple[CardShare, ...], ...] = tuple(() for _ in containers_of(pod))
        try:
            shares = self._shares(pod, node)
        except (BadText, InvalidRequest) as bad:
            problem = str(bad)
        assigned = pod.metadata.annotation(ASSIGNED) == "true"
        return WrittenDecision(
            node=node_name,
            allocation=Allocation(containers=shares),
            decided_at=seconds_of_nanoseconds(pod.metadata.annotation(ASSUME_TIME)) or 0.0,
            phase=Phase.CONFIRMED if assigned else Phase.RESERVED,
            problem=problem,
        )

    def _shares(self, pod: Pod, node: NodeCards) -> tuple[tuple[CardShare, ...], ...]:
        card = read_number(pod.metadata.annotation(INDEX), INDEX, MAX_CARDS - 1)
        if card not in {known.index for known in node.cards}:
            raise BadText(f"{INDEX}: the node has no card {card}")
        asked = [self.device_count(container) for container in containers_of(pod)]
        written = pod.metadata.annotation(POD_MEMORY)
        memory = read_number(written, POD_MEMORY) if written else sum(asked)
        # All of it stands for one container, whoever wrote it for how many.
        first = next((at for at, amount in enumerate(asked) if amount), 0)
        share = CardShare(card=card, cores=0, memory=memory)
        return tuple((share,) if at == first else () for at in range(len(asked)))

    def write_decision(
        self,
        pod: Pod,
        node_name: str,  # noqa: ARG002
        node: NodeCards,
        allocation: Allocation,
        now: float,
    ) -> PodWrite:
        (index,) = allocation.cards()
        (card,) = (card for card in node.cards if card.index == index)
        return PodWrite(
            annotations={
                INDEX: str(index),
                CARD_MEMORY: str(card.memory),
                POD_MEMORY: str(sum(map(self.device_count, containers_of(pod)))),
                ASSIGNED: "false",
                ASSUME_TIME: nanoseconds(now),
            }
        )

    def write_binding(self, pod: Pod, now: float) -> PodWrite:  # noqa: ARG002
        return PodWrite()

    def clear_decision(self, pod: Pod) -> PodWrite:
        keys = (INDEX, CARD_MEMORY, POD_MEMORY, ASSIGNED, ASSUME_TIME)
        return PodWrite(annotations=remove_keys(pod.metadata.annotations, keys))

    # --- the agent ---

    def confirm(self, pod: Pod) -> PodWrite:  # noqa: ARG002
        return PodWrite(annotations={ASSIGNED: "true"})

    def refuse(self, pod: Pod) -> PodWrite:  # noqa: ARG002
        return PodWrite()  # the container is started without a card, and nobody is told

    def waiting_since(self, pod: Pod) -> float | None:
        annotations = pod.metadata.annotations or {}
        if ASSUME_TIME not in annotations or annotations.get(ASSIGNED) != "false":
            return None
        return seconds_of_nanoseconds(annotations[ASSUME_TIME]) or 0.0

    def device_count(self, container: Container) -> int:
        return limit_of(container, MEMORY) or 0


class GPUShareMiB(GPUShareGiB):
    """The same with an agent that was started to count in MiB."""

    name = "gpushare-mib"
    memory_unit = 1 << 20
