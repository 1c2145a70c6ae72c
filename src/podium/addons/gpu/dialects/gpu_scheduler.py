"""gpu-scheduler, which went on from gpu-admission: `nvidia.com/vcuda-core` and `vcuda-memory`.

1 unit of memory is 1 MiB, and the agent registers every card: its name, memory, health, and whether
it is in MIG mode. It says every half minute that it lives. Pods may choose by the name of the card.
"""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from podium.addons.gpu.cards.card import NO_CARDS, Card, NodeCards, Reason
from podium.addons.gpu.cards.requests import CardSelector
from podium.addons.gpu.dialects.dialect import NodeWrite, Phase, PodWrite
from podium.addons.gpu.dialects.gpu_manager import GPUManager
from podium.addons.gpu.dialects.node_lock import LockFormat, NodeLockRule
from podium.addons.gpu.dialects.reading import (
    IN_MIG_MODE,
    capacity_of,
    nanoseconds,
    read_cards,
    read_json,
    remove_keys,
    seconds_of_nanoseconds,
    split_list,
)
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.label_syntax import value_problems

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
                REGISTER: msgspec.json.encode([_registered(card) for card in cards]).decode(),
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


def _registered(card: Card) -> _RegisteredCard:
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
