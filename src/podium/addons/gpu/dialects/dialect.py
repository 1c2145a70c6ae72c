"""What a dialect has to say, the writes it makes on pods, and when a decision counts no longer.

Each dialect is a small file with no rule of allocation in it. Its writes on a pod can be put
together, made a patch, and shown as the pod they lead to.

A decision reserves cards from the moment it
is written. Pods whose binding failed, whose agent refused them, or that nobody schedules any more
would hold them for ever, were it not for this rule. It is the same for all dialects.

What stands on a pod may have been written by whoever may change the pod. So a grace period of its
own can only be shorter than that of the service, and a time in the future is no way around it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import ClassVar, Final

from msgspec import Struct
from msgspec.structs import replace

from podium.addons.gpu.cards.allocations import Allocation
from podium.addons.gpu.cards.card import Card, NodeCards
from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.dialects.node_lock import NodeLockRule
from podium.golang.durations import Duration, DurationError
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import POD_SCHEDULED, Container, Pod, PodCondition
from podium.kubernetes.rules.timestamps import seconds_of


class InvalidRequest(Exception):
    """A pod asks for what no card can give; the text says which container, and what would be
    right."""


class Phase(Enum):
    """How far the agent is with a decision."""

    RESERVED = "reserved"  # written, not yet confirmed by the agent
    CONFIRMED = "confirmed"
    FAILED = "failed"  # the agent could not do it; nothing is held


class WrittenDecision(Struct, frozen=True):
    """A decision as it stands on a pod. Cards are looked up on the node that it names.

    What cannot be read counts nothing and is named by `problem`; a time that cannot be read is 0.
    """

    node: str
    allocation: Allocation
    decided_at: float
    phase: Phase
    problem: str = ""


class PodWrite(Struct, frozen=True):
    """Keys to set on a pod's metadata; None removes one."""

    annotations: Mapping[str, str | None] = {}
    labels: Mapping[str, str | None] = {}


class NodeWrite(Struct, frozen=True):
    """What an agent registers on its node; None removes a key. Capacities go into the status."""

    annotations: Mapping[str, str | None] = {}
    labels: Mapping[str, str | None] = {}
    capacity: Mapping[str, str] = {}


class Dialect(ABC):
    name: str
    resources: tuple[str, ...]
    """The resources that make a pod one for GPUs: an extender's `managedResources`."""
    memory_unit: int
    """Bytes of one unit of memory."""
    cores_resource: str = ""
    memory_resource: str = ""
    """What quotas limit; empty where the dialect has none."""
    node_policy_key: ClassVar[str] = ""
    card_policy_key: ClassVar[str] = ""
    """Annotations by which a pod names its own policies, where it can."""
    lock: ClassVar[NodeLockRule | None] = None
    """What is to be written on a node while a pod is being bound to it, if anything is."""
    heartbeat_timeout_s: ClassVar[float | None] = None
    """How long after it last said that it lives an agent is given up; None if it says nothing."""
    matches_by_size: ClassVar[bool] = False
    """Whether the agent looks for a container of the size that the kubelet asks for; otherwise it
    takes the first that has nothing yet."""
    chooses_shared_card: ClassVar[bool] = False
    """Whether the agent chooses cards itself: a shared one has to be the one of the decision, whole
    ones replace those of the decision."""
    gives_broken_devices: ClassVar[bool] = False
    """Whether the agent tells the kubelet that the devices of a broken card are well."""
    starts_without_card: ClassVar[bool] = False
    """Whether a container that the agent has no card for starts all the same, without one."""
    deletes_refused_pods: ClassVar[bool] = False
    """Whether the agent deletes pods that it refused, if a controller makes others."""

    @abstractmethod
    def node_cards(self, node: Node, now: float) -> NodeCards:
        """The cards that the node's agent registered, or why none can be had."""

    def config_map_name(self, node_name: str) -> tuple[str, str] | None:  # noqa: ARG002
        """Namespace and name of a ConfigMap that says more about the node's cards, if one does."""
        return None

    def read_config_map(self, cards: NodeCards, data: Mapping[str, str]) -> NodeCards:  # noqa: ARG002
        """The cards with what that ConfigMap's data say about them."""
        return cards

    def write_config_map(self, cards: Sequence[Card]) -> dict[str, str]:  # noqa: ARG002
        """The data of that ConfigMap for a node with these cards; read by `read_config_map`."""
        return {}

    @abstractmethod
    def pod_request(self, pod: Pod) -> PodRequest | None:
        """What a pod asks for; None if no card. Raises InvalidRequest."""

    @abstractmethod
    def decision(self, pod: Pod, node: NodeCards) -> WrittenDecision | None:
        """What is written on a pod, read with the cards of the node that it names."""

    @abstractmethod
    def decided_node(self, pod: Pod) -> str:
        """The node that a decision on the pod names; empty if there is none."""

    @abstractmethod
    def write_decision(
        self, pod: Pod, node_name: str, node: NodeCards, allocation: Allocation, now: float
    ) -> PodWrite:
        """What the agent has to find on the pod when it is bound."""

    @abstractmethod
    def write_binding(self, pod: Pod, now: float) -> PodWrite:
        """What is written beside it when the pod is being bound."""

    @abstractmethod
    def clear_decision(self, pod: Pod) -> PodWrite:
        """Take back all that was ever written on the pod."""

    @abstractmethod
    def register(self, cards: Sequence[Card], now: float) -> NodeWrite:
        """What the agent of a node with these cards writes; read back by `node_cards`."""

    @abstractmethod
    def confirm(self, pod: Pod) -> PodWrite:
        """What the agent writes when the pod has its cards."""

    @abstractmethod
    def refuse(self, pod: Pod) -> PodWrite:
        """What the agent writes when it could not give the pod its cards."""

    @abstractmethod
    def waiting_since(self, pod: Pod) -> float | None:
        """Since when a pod that is bound to the agent's node waits for it; None if it does not."""

    @abstractmethod
    def device_count(self, container: Container) -> int:
        """How many devices the kubelet asks the agent for when it starts the container."""


def merge_writes(first: PodWrite, second: PodWrite) -> PodWrite:
    """Both at once; where they differ, the second counts."""
    return PodWrite({**first.annotations, **second.annotations}, {**first.labels, **second.labels})


def merge_patch_of(
    write: PodWrite, metadata: ObjectMeta, *, any_version: bool = False
) -> JsonObject:
    """A JSON merge patch that is refused if the object is another one, or in another version."""
    patched: JsonObject = {}
    if metadata.uid:
        patched["uid"] = metadata.uid
    if metadata.resource_version and not any_version:
        patched["resourceVersion"] = metadata.resource_version
    if write.annotations:
        patched["annotations"] = dict(write.annotations)
    if write.labels:
        patched["labels"] = dict(write.labels)
    return {"metadata": patched}


def written_pod(pod: Pod, write: PodWrite) -> Pod:
    """The pod as it is after the write."""
    metadata = replace(
        pod.metadata,
        annotations=_change_annotations(pod.metadata.annotations, write.annotations),
        labels=_change_annotations(pod.metadata.labels, write.labels),
    )
    return replace(pod, metadata=metadata)


def has_write(pod: Pod, write: PodWrite) -> bool:
    """Whether everything that the write sets or removes is so on the pod."""
    annotations, labels = pod.metadata.annotations or {}, pod.metadata.labels or {}
    return all(annotations.get(key) == value for key, value in write.annotations.items()) and all(
        labels.get(key) == value for key, value in write.labels.items()
    )


def _change_annotations(
    present: Mapping[str, str] | None, write: Mapping[str, str | None]
) -> dict[str, str]:
    merged = {**(present or {}), **write}
    return {key: value for key, value in merged.items() if value is not None}


GRACE_PERIOD_S: Final = 30.0
"""How long after a decision a pod may be without its node."""
GRACE_PERIOD_ANNOTATION: Final = "nvidia.com/stuck-grace-period"
_MIN_GRACE_PERIOD_S: Final = 1.0
_FINISHED: Final = frozenset({"Succeeded", "Failed"})


class Staleness(Enum):
    """Why a decision does not count."""

    FINISHED = "the pod has finished"
    FAILED = "the agent could not give the pod its cards"
    OTHER_NODE = "the pod is bound to another node"
    UNSCHEDULABLE = "the pod was found unschedulable after it"
    EXPIRED = "the pod was not bound in time"


def find_staleness(
    pod: Pod, decision: WrittenDecision, now: float, grace_period_s: float = GRACE_PERIOD_S
) -> Staleness | None:
    """Why the decision counts no longer; None as long as it does."""
    if pod.status.phase in _FINISHED:
        return Staleness.FINISHED
    if decision.phase is Phase.FAILED:
        return Staleness.FAILED
    if pod.spec.node_name:
        return None if pod.spec.node_name == decision.node else Staleness.OTHER_NODE
    # Conditions know seconds only: one of the same second is taken for the later.
    refused_at = _refused_at(pod)
    if refused_at is not None and int(decision.decided_at) <= int(refused_at):
        return Staleness.UNSCHEDULABLE
    if abs(now - decision.decided_at) > grace_period(pod, grace_period_s):
        return Staleness.EXPIRED
    return None


def grace_period(pod: Pod, default_s: float = GRACE_PERIOD_S) -> float:
    """The service's, or the pod's own if its annotation names a shorter one of a second or more."""
    text = pod.metadata.annotation(GRACE_PERIOD_ANNOTATION)
    if not text:
        return default_s
    try:
        seconds = Duration.parse(text).seconds
    except DurationError:
        return default_s
    return min(seconds, default_s) if seconds >= _MIN_GRACE_PERIOD_S else default_s


def _refused_at(pod: Pod) -> float | None:
    for condition in pod.status.conditions or ():
        if condition.type == POD_SCHEDULED:
            return _transition(condition) if condition.status == "False" else None
    return None


def _transition(condition: PodCondition) -> float | None:
    try:
        return seconds_of(condition.last_transition_time or "")
    except (ValueError, OverflowError):
        return None
