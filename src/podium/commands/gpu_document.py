"""What `podium gpu` prints as a document: all that the tables show, and more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, cast

from podium.addons.gpu.cards.card import UNLIMITED
from podium.addons.gpu.cards.fragmentation import Fragmentation
from podium.addons.gpu.cards.overview import (
    CardOwner,
    CardView,
    DeviceHolder,
    DeviceView,
    DialectView,
    GPUNodeView,
    GPUWaitingPod,
    ModelQuotaView,
    QuotaView,
    UncountedPod,
)
from podium.addons.gpu.cards.requests import ContainerRequest
from podium.commands.gpu_report import GPUReport
from podium.golang.document_structs import (
    Amount,
    Count,
    Document,
    DocumentPart,
    Notes,
    PodKey,
    Positive,
)
from podium.kubernetes.rules.timestamps import time_text

OwnerPhase = Literal["reserved", "confirmed"]


class CardInstance(DocumentPart, frozen=True):
    """A MIG instance."""

    profile: str
    """The MIG profile."""
    placement: int
    """Its first slice."""


class OwnerOfCard(DocumentPart, frozen=True):
    """A pod that shares a card."""

    pod: PodKey
    phase: OwnerPhase
    """Whether the agent has given the card yet."""
    cores: Count
    """Cores that it holds."""
    memory_bytes: Count
    """Memory that it holds."""
    instances: tuple[CardInstance, ...]
    """MIG instances that it has of the card."""

    @classmethod
    def of(cls, owner: CardOwner, unit: int) -> OwnerOfCard:
        instances = tuple(CardInstance(name, at) for name, at in owner.instances)
        return cls(
            owner.key,
            cast(OwnerPhase, owner.phase.value),
            owner.use.cores,
            owner.use.memory * unit,
            instances,
        )


class GPUCard(DocumentPart, frozen=True):
    """One card."""

    index: Count
    """Its number on the node."""
    uuid: str
    """Its name everywhere; empty where the agent does not say it."""
    model: str
    """The product's name."""
    healthy: bool
    """Whether the agent says that it works."""
    cordoned: bool
    """Whether new pods are kept away."""
    mode: str
    """How it is shared out, in the dialect's word."""
    mig: bool
    """Whether it is in MIG mode."""
    numa_node: int | None
    """The NUMA node that it lies on, if known."""
    cores: Count
    """Its cores."""
    used_cores: Count
    """Cores that pods hold; may be more than there are."""
    memory_bytes: Count
    """Its memory."""
    used_memory_bytes: Count
    """Memory that pods hold; may be more than there is."""
    slots: int | None
    """How many may share it; null if the dialect does not count them."""
    used_slots: Count
    """How many do."""
    owners: tuple[OwnerOfCard, ...]
    """The pods that share it."""

    @classmethod
    def of(cls, view: CardView, unit: int) -> GPUCard:
        card, used = view.card, view.used
        return cls(
            index=card.index,
            uuid=card.uuid,
            model=card.model,
            healthy=card.healthy,
            cordoned=card.cordoned,
            mode=card.mode,
            mig=bool(card.profiles),
            numa_node=card.numa if card.numa >= 0 else None,
            cores=card.cores,
            used_cores=used.cores,
            memory_bytes=card.memory * unit,
            used_memory_bytes=used.memory * unit,
            slots=card.slots if card.slots < UNLIMITED else None,
            used_slots=used.slots,
            owners=tuple(OwnerOfCard.of(owner, unit) for owner in view.owners),
        )


class NodeRefusal(DocumentPart, frozen=True):
    """Why none of a node's cards can be had."""

    code: str
    """A stable code."""
    message: str
    """The code in words."""
    detail: str
    """What exactly is wrong, if more is known."""

    @classmethod
    def of(cls, node: GPUNodeView) -> NodeRefusal | None:
        refusal = node.refusal
        return None if refusal is None else cls(refusal.code, refusal.phrase, node.detail)


class GPUNode(DocumentPart, frozen=True):
    """One node."""

    name: str
    """Its name."""
    refusal: NodeRefusal | None
    """Why none of its cards can be had; null if they can."""
    idle_cards: Count
    """Cards that nobody uses."""
    partial_cards: Count
    """Cards that somebody uses and that have free cores."""
    free_cores: Count
    """Free cores."""
    free_cores_in_pieces: Count
    """Free cores of cards that somebody uses."""
    free_memory_bytes: Count
    """Free memory."""
    free_memory_in_pieces_bytes: Count
    """Free memory of cards that somebody uses."""
    fragmentation_of_cores: Amount
    """The share of free cores that lies in pieces."""
    fragmentation_of_memory: Amount
    """The share of free memory that lies in pieces."""
    cards: tuple[GPUCard, ...]
    """Its cards in order of their indexes."""

    @classmethod
    def of(cls, node: GPUNodeView, unit: int) -> GPUNode:
        return cls(
            name=node.name,
            refusal=NodeRefusal.of(node),
            **_measure_pieces(node.fragmentation, unit),
            cards=tuple(GPUCard.of(card, unit) for card in node.cards),
        )


def _measure_pieces(pieces: Fragmentation, unit: int) -> dict[str, Any]:
    """What is free of cards that can be had."""
    return {
        "idle_cards": pieces.idle_cards,
        "partial_cards": pieces.partial_cards,
        "free_cores": pieces.free_cores,
        "free_cores_in_pieces": pieces.free_cores_in_pieces,
        "free_memory_bytes": pieces.free_memory * unit,
        "free_memory_in_pieces_bytes": pieces.free_memory_in_pieces * unit,
        "fragmentation_of_cores": round(pieces.of_cores, 4),
        "fragmentation_of_memory": round(pieces.of_memory, 4),
    }


class RequestedCards(DocumentPart, frozen=True):
    """What one container asks for."""

    cards: Positive
    """How many cards."""
    cores: Count
    """Cores of each."""
    memory_bytes: int | None
    """Memory of each; null if it is a share."""
    memory_percent: int | None
    """The share of each card's memory; null if it is an amount."""
    exclusive: bool
    """Whether nobody else may use them."""
    mig: bool
    """Whether it wants MIG instances."""

    @classmethod
    def of(cls, request: ContainerRequest, unit: int) -> RequestedCards:
        percent = 100 if request.whole else request.memory_percent
        return cls(
            cards=request.cards,
            cores=request.cores,
            memory_bytes=None if percent is not None else request.memory * unit,
            memory_percent=percent,
            exclusive=request.exclusive or request.whole,
            mig=request.wants_mig(),
        )


class PodThatWaits(DocumentPart, frozen=True):
    """A pod without a node that asks for cards."""

    pod: PodKey
    requests: tuple[RequestedCards, ...]
    """What its containers ask for, init containers first."""

    @classmethod
    def of(cls, pod: GPUWaitingPod, unit: int) -> PodThatWaits:
        containers = (*pod.request.init_containers, *pod.request.containers)
        asked = tuple(RequestedCards.of(each, unit) for each in containers if each is not None)
        return cls(f"{pod.namespace}/{pod.name}", asked)


class PodNotCounted(DocumentPart, frozen=True):
    """A pod of whose decision nothing, or not all, counts."""

    pod: PodKey
    node: str | None
    """The node that it is on, or that its decision names."""
    reason: str
    """Why not everything counts."""

    @classmethod
    def of(cls, pod: UncountedPod) -> PodNotCounted:
        return cls(f"{pod.namespace}/{pod.name}", pod.node or None, pod.why)


class GPUDialect(DocumentPart, frozen=True):
    """One dialect."""

    name: str
    """Its name."""
    memory_unit_bytes: Positive
    """What one unit of memory means in it."""
    cards: Count
    """Cards that can be had, used or not."""
    idle_cards: Count
    """Cards that nobody uses."""
    partial_cards: Count
    """Cards that somebody uses and that have free cores."""
    free_cores: Count
    """Free cores."""
    free_cores_in_pieces: Count
    """Free cores of cards that somebody uses."""
    free_memory_bytes: Count
    """Free memory."""
    free_memory_in_pieces_bytes: Count
    """Free memory of cards that somebody uses."""
    fragmentation_of_cores: Amount
    """The share of free cores that lies in pieces."""
    fragmentation_of_memory: Amount
    """The share of free memory that lies in pieces."""
    nodes: tuple[GPUNode, ...]
    """The nodes whose agents speak it."""
    waiting: tuple[PodThatWaits, ...]
    """Pods without a node that ask for cards."""
    uncounted: tuple[PodNotCounted, ...]
    """Pods of whose decision nothing, or not all, counts."""

    @classmethod
    def of(cls, view: DialectView) -> GPUDialect:
        unit = view.memory_unit
        return cls(
            name=view.dialect,
            memory_unit_bytes=unit,
            cards=view.fragmentation.cards,
            **_measure_pieces(view.fragmentation, unit),
            nodes=tuple(GPUNode.of(node, unit) for node in view.nodes),
            waiting=tuple(PodThatWaits.of(pod, unit) for pod in view.waiting),
            uncounted=tuple(map(PodNotCounted.of, view.uncounted)),
        )


class GPUQuota(DocumentPart, frozen=True):
    """What a ResourceQuota leaves to a namespace."""

    namespace: str
    """Whom it limits."""
    name: str
    """The ResourceQuota."""
    resource: str
    """What it limits, as the quota writes it."""
    hard: str
    """How much there may be."""
    used: str | None
    """How much is used; null if nobody has counted."""

    @classmethod
    def of(cls, quota: QuotaView) -> GPUQuota:
        used = quota.used or None
        return cls(quota.namespace, quota.name, quota.resource, quota.hard, used)


class GPUModelQuota(DocumentPart, frozen=True):
    """What a quota by model leaves to a namespace."""

    namespace: str
    """Whom it limits."""
    model: str
    """The model, as nodes are labelled."""
    cards: Count
    """How many cards of it may be used."""
    used_cores: Count
    """What the namespace's pods use of them."""
    pools: tuple[str, ...]
    """Pools whose nodes may be used; all if none is named."""

    @classmethod
    def of(cls, quota: ModelQuotaView) -> GPUModelQuota:
        pools = tuple(quota.pools)
        return cls(quota.namespace, quota.model, quota.cards, quota.used_cores, pools)


class ClaimWithDevice(DocumentPart, frozen=True):
    """A claim that has a device."""

    claim: str
    """The claim, as namespace/name."""
    pods: tuple[str, ...]
    """The pods that it is reserved for, of the claim's namespace."""

    @classmethod
    def of(cls, holder: DeviceHolder) -> ClaimWithDevice:
        return cls(f"{holder.namespace}/{holder.claim}", tuple(holder.pods))


class GPUDevice(DocumentPart, frozen=True):
    """A GPU of dynamic resource allocation."""

    driver: str
    """Who publishes it."""
    pool: str
    """The pool that it is in."""
    name: str
    """Its name there."""
    node: str | None
    """The node that it is on; null if it is of no single one."""
    model: str
    """What its attributes call it."""
    capacity: Mapping[str, str]
    """What it has."""
    tainted: bool
    """Whether it has a taint."""
    holders: tuple[ClaimWithDevice, ...]
    """The claims that it is allocated to."""

    @classmethod
    def of(cls, device: DeviceView) -> GPUDevice:
        return cls(
            driver=device.driver,
            pool=device.pool,
            name=device.name,
            node=device.node or None,
            model=device.model,
            capacity=dict(device.capacity),
            tainted=device.tainted,
            holders=tuple(map(ClaimWithDevice.of, device.holders)),
        )


class UnknownDevice(DocumentPart, frozen=True):
    """A device that a claim has and no slice publishes."""

    device: str
    """Driver, pool and device."""
    claim: str
    """The claim, as namespace/name."""
    pods: tuple[str, ...]
    """The pods that it is reserved for, of the claim's namespace."""


class GPUOverview(Document, frozen=True):
    """What `podium gpu` prints: cards, who shares them, and what is left of them. Memory is in
    bytes, cores are hundredths of a card."""

    KIND: ClassVar[str] = "GPUOverview"

    at: str
    """The moment by which decisions and heartbeats were judged."""
    dialects: tuple[GPUDialect, ...]
    """Nodes and pods by the dialect of the agents."""
    quotas: tuple[GPUQuota, ...]
    """ResourceQuotas for the resources of the dialects."""
    model_quotas: tuple[GPUModelQuota, ...]
    """Quotas by model and pool."""
    devices: tuple[GPUDevice, ...]
    """GPUs of dynamic resource allocation."""
    unknown_devices: tuple[UnknownDevice, ...]
    """Devices that claims have and no slice publishes."""
    notes: Notes

    @classmethod
    def of(cls, report: GPUReport) -> GPUOverview:
        return cls(
            at=time_text(report.at),
            dialects=tuple(map(GPUDialect.of, report.dialects)),
            quotas=tuple(map(GPUQuota.of, report.quotas)),
            model_quotas=tuple(map(GPUModelQuota.of, report.model_quotas)),
            devices=tuple(map(GPUDevice.of, report.devices.devices)),
            unknown_devices=tuple(
                UnknownDevice(name, f"{holder.namespace}/{holder.claim}", tuple(holder.pods))
                for name, holder in report.devices.unknown
            ),
            notes=tuple(report.notes),
        )
