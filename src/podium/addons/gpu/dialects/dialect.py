"""What a dialect has to say: a small file each, no rule of allocation among it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import ClassVar

from msgspec import Struct

from podium.addons.gpu.cards.allocations import Allocation
from podium.addons.gpu.cards.card import Card, NodeCards
from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.dialects.node_lock import NodeLockRule
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Container, Pod


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
