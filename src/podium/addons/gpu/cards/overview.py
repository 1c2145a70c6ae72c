"""What one sees of a cluster's cards: who has which share, what is left, quotas, devices.

One dialect at a time: its nodes with their cards, the pods that hold shares, the pods that wait for
some, and the pods whose decisions count nothing, with the reason.

What quotas leave of cards to namespaces: ResourceQuotas, and quotas by model and pool.

GPUs of dynamic resource allocation: which devices there are, and who has them. Their drivers
publish devices in ResourceSlices and the scheduler writes into ResourceClaims who gets which, so
that no dialect is needed to look.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Final

from msgspec import Struct

from podium.addons.gpu.cards.allocations import Allocation, CardUse
from podium.addons.gpu.cards.card import Card, NodeCards, Reason
from podium.addons.gpu.cards.card_table import NO_REASON, REASONS, CardTable
from podium.addons.gpu.cards.fragmentation import Fragmentation, fragmentation, node_fragmentation
from podium.addons.gpu.cards.known_pods import HeldCards, held_cards
from podium.addons.gpu.cards.quota import (
    CORES_OF_A_CARD,
    MODEL_LABEL,
    QUOTA_CONFIG_MAP,
    QUOTA_KEY,
    pod_cores,
    read_quotas,
)
from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.dialects.dialect import Dialect, InvalidRequest, Phase
from podium.kubernetes.kinds.devices import Device, ResourceClaim, ResourceSlice
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import ResourceQuota
from podium.kubernetes.rules.timestamps import seconds_of

ConfigMaps = Mapping[tuple[str, str], Mapping[str, str]]
"""Data of ConfigMaps by namespace and name."""


class CardOwner(Struct, frozen=True):
    """What a pod has of a card; `instances` are profiles of MIG with their placements."""

    namespace: str
    name: str
    use: CardUse
    phase: Phase
    instances: tuple[tuple[str, int], ...] = ()

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


class CardView(Struct, frozen=True):
    """A card with what all owners together have of it, which may be more than there is."""

    card: Card
    used: CardUse
    owners: tuple[CardOwner, ...] = ()


class GPUNodeView(Struct, frozen=True):
    """With a `refusal` none of the cards can be had."""

    name: str
    cards: tuple[CardView, ...]
    fragmentation: Fragmentation
    refusal: Reason | None = None
    detail: str = ""


class UncountedPod(Struct, frozen=True):
    """A pod of whose decision nothing, or not all, counts."""

    namespace: str
    name: str
    node: str
    why: str


class GPUWaitingPod(Struct, frozen=True):
    """A pod that asks for cards and has no node."""

    namespace: str
    name: str
    request: PodRequest


class DialectView(Struct, frozen=True):
    dialect: str
    memory_unit: int
    nodes: tuple[GPUNodeView, ...]
    fragmentation: Fragmentation
    waiting: tuple[GPUWaitingPod, ...] = ()
    uncounted: tuple[UncountedPod, ...] = ()


def view_dialect(
    dialect: Dialect,
    nodes: Sequence[Node],
    pods: Iterable[Pod],
    now: float,
    config_maps: ConfigMaps | None = None,
) -> DialectView:
    """The nodes that speak a dialect, and the pods that ask in it."""
    found = {node.name: read_cards(dialect, node, now, config_maps or {}) for node in nodes}
    speaking = [name for name, cards in found.items() if speaks(cards)]
    rows = {name: row for row, name in enumerate(speaking)}
    table = CardTable(dialect.memory_unit)
    table.reserve(len(rows))
    for name, row in rows.items():
        table.put_node(row, found[name])
    owners: dict[str, dict[int, list[CardOwner]]] = {name: {} for name in speaking}
    waiting: list[GPUWaitingPod] = []
    uncounted: list[UncountedPod] = []
    for pod in pods:
        place = dialect.decided_node(pod) or pod.spec.node_name
        cards = found.get(place)
        held = held_cards(dialect, pod, cards or NodeCards(), now)
        why = _why_uncounted(dialect, pod, held, place, is_known=cards is not None)
        if why:
            uncounted.append(UncountedPod(pod.namespace, pod.name, place, why))
        elif held.allocation is None and not pod.spec.node_name:
            request = _request(dialect, pod)
            if request is not None:
                waiting.append(GPUWaitingPod(pod.namespace, pod.name, request))
        if held.allocation is not None and place in rows:
            table.charge(rows[place], held.uses)
            for index, use in held.uses.items():
                owner = _owner(pod, held, held.allocation, index, use)
                owners[place].setdefault(index, []).append(owner)
    pieces = node_fragmentation(table)
    return DialectView(
        dialect.name,
        dialect.memory_unit,
        tuple(
            _view_node(table, row, name, owners[name], fragmentation(pieces, row))
            for name, row in rows.items()
        ),
        fragmentation(pieces),
        tuple(waiting),
        tuple(uncounted),
    )


def read_cards(dialect: Dialect, node: Node, now: float, config_maps: ConfigMaps) -> NodeCards:
    """The node's cards with all that is said of them."""
    cards = dialect.node_cards(node, now)
    place = dialect.config_map_name(node.name)
    if place is not None and place in config_maps:
        cards = dialect.read_config_map(cards, config_maps[place])
    return cards


def speaks(cards: NodeCards) -> bool:
    """Whether the node has an agent of the dialect, be it one that nobody understands."""
    return bool(cards.cards) or cards.refusal is Reason.BAD_REGISTRATION


def latest_moment(dialect: Dialect, nodes: Iterable[Node], pods: Iterable[Pod]) -> float:
    """The last moment that objects tell of: what stands in files was true then. 0 if none does."""
    latest = 0.0
    timeout_s = dialect.heartbeat_timeout_s
    for node in nodes:
        cards = dialect.node_cards(node, -inf)
        if timeout_s is not None and cards.good_until != inf:
            latest = max(latest, cards.good_until - timeout_s)
    for pod in pods:
        decision = dialect.decision(pod, NodeCards())
        times = [condition.last_transition_time for condition in pod.status.conditions or ()]
        told = (_seconds(text) for text in (pod.metadata.creation_timestamp, *times))
        latest = max(latest, decision.decided_at if decision else 0.0, *told)
    return latest


def _seconds(text: str | None) -> float:
    try:
        return seconds_of(text or "")
    except (ValueError, OverflowError):
        return 0.0


def _why_uncounted(
    dialect: Dialect, pod: Pod, held: HeldCards, place: str, *, is_known: bool
) -> str:
    """Why not all of what a pod asks for or was given counts; empty if all of it does."""
    if held.staleness is not None:
        return held.staleness.value
    if held.allocation is not None:
        return held.unread if is_known else f"there is no node {place}"
    try:
        asks = dialect.pod_request(pod) is not None
    except InvalidRequest as problem:
        return str(problem)
    if asks and pod.spec.node_name:
        return "it is bound, and no decision says which cards it has"
    return ""


def _request(dialect: Dialect, pod: Pod) -> PodRequest | None:
    try:
        return dialect.pod_request(pod)
    except InvalidRequest:
        return None


def _owner(
    pod: Pod, held: HeldCards, allocation: Allocation, index: int, use: CardUse
) -> CardOwner:
    shares = [
        share
        for part in (*allocation.init_containers, *allocation.containers)
        for share in part
        if share.card == index and share.mig_profile
    ]
    return CardOwner(
        pod.namespace,
        pod.name,
        use,
        held.phase or Phase.RESERVED,
        tuple((share.mig_profile, share.placement) for share in shares),
    )


def _view_node(
    table: CardTable,
    row: int,
    name: str,
    owners: Mapping[int, Sequence[CardOwner]],
    pieces: Fragmentation,
) -> GPUNodeView:
    node, code = table.nodes[row], int(table.refusal[row])
    books = table.charged[row]
    views = []
    for card in node.cards:
        book = books.get(card.index)
        used = CardUse(book.cores, book.memory, book.slots, book.slices) if book else CardUse()
        views.append(CardView(card, used, tuple(owners.get(card.index, ()))))
    refusal = None if code == NO_REASON else REASONS[code]
    return GPUNodeView(name, tuple(views), pieces, refusal, node.detail)


MODEL_LABELS: Final = (MODEL_LABEL, "tkestack.io/gpu-model")
_PREFIXES: Final = ("requests.", "limits.")


class QuotaView(Struct, frozen=True):
    """One limit of a ResourceQuota; `used` is empty where nobody has counted yet."""

    namespace: str
    name: str
    resource: str
    hard: str
    used: str = ""


class ModelQuotaView(Struct, frozen=True):
    """How many cards of a model a namespace may use, and what its pods use of them."""

    namespace: str
    model: str
    cards: int
    used_cores: int
    pools: tuple[str, ...] = ()

    @property
    def used_cards(self) -> float:
        return self.used_cores / CORES_OF_A_CARD


def view_quotas(resources: Sequence[str], quotas: Iterable[ResourceQuota]) -> list[QuotaView]:
    """The limits that quotas set to some resources."""
    found = []
    for quota in quotas:
        hard = quota.status.hard or quota.spec.hard or {}
        used = quota.status.used or {}
        for key, amount in sorted(hard.items()):
            resource = key
            for prefix in _PREFIXES:
                resource = resource.removeprefix(prefix)
            if resource in resources:
                view = QuotaView(quota.namespace, quota.name, key, str(amount), used.get(key, ""))
                found.append(view)
    return sorted(found, key=lambda each: (each.namespace, each.name, each.resource))


def view_model_quotas(
    dialect: Dialect, text: str, nodes: Iterable[Node], pods: Iterable[Pod]
) -> list[ModelQuotaView]:
    """Raises InvalidQuota."""
    models = {node.name: _model_of(node) for node in nodes}
    used: dict[tuple[str, str], int] = {}
    for pod in pods:
        model = models.get(pod.spec.node_name, "")
        if model:
            key = pod.namespace, model
            used[key] = used.get(key, 0) + pod_cores(dialect, pod)
    return [
        ModelQuotaView(namespace, model, cards, used.get((namespace, model), 0), quota.pool)
        for namespace, quota in sorted(read_quotas(text).items())
        for model, cards in sorted(quota.quota.items())
    ]


def quota_text(config_maps: Mapping[tuple[str, str], Mapping[str, str]]) -> str:
    return config_maps.get(QUOTA_CONFIG_MAP, {}).get(QUOTA_KEY, "")


def _model_of(node: Node) -> str:
    return next((text for key in MODEL_LABELS if (text := node.metadata.label(key))), "")


_NAMES: Final = ("productName", "model", "type")


class DeviceHolder(Struct, frozen=True):
    """A claim that was given the device, and the pods that it is reserved for."""

    namespace: str
    claim: str
    pods: tuple[str, ...] = ()


class DeviceView(Struct, frozen=True):
    """`node` is empty of a device that is of no single node."""

    driver: str
    pool: str
    name: str
    node: str = ""
    model: str = ""
    capacity: tuple[tuple[str, str], ...] = ()
    tainted: bool = False
    holders: tuple[DeviceHolder, ...] = ()


class DevicesView(Struct, frozen=True):
    """`others` counts devices of drivers that are for no GPUs; `unknown` are devices of claims that
    no slice has: driver/pool/device."""

    devices: tuple[DeviceView, ...] = ()
    others: int = 0
    unknown: tuple[tuple[str, DeviceHolder], ...] = ()


def view_devices(slices: Iterable[ResourceSlice], claims: Iterable[ResourceClaim]) -> DevicesView:
    holders = _holders(claims)
    devices: list[DeviceView] = []
    others = 0
    known: set[tuple[str, str, str]] = set()
    for each in _newest(slices):
        spec = each.spec
        for device in spec.devices or ():
            key = (spec.driver, spec.pool.name, device.name)
            known.add(key)
            if not _is_for_gpus(spec.driver):
                others += 1
                continue
            node = spec.node_name or device.node_name or ""
            devices.append(_view(key, node, device, tuple(holders.get(key, ()))))
    lost = [
        ("/".join(key), holder)
        for key, found in holders.items()
        if key not in known and _is_for_gpus(key[0])
        for holder in found
    ]
    devices.sort(key=lambda view: (view.driver, view.node, view.pool, view.name))
    return DevicesView(tuple(devices), others, tuple(lost))


def _is_for_gpus(driver: str) -> bool:
    return "gpu" in driver.lower()


def _newest(slices: Iterable[ResourceSlice]) -> list[ResourceSlice]:
    """Of each pool the slices of its newest generation: older ones are on their way out."""
    pools: dict[tuple[str, str], list[ResourceSlice]] = {}
    for each in slices:
        pools.setdefault((each.spec.driver, each.spec.pool.name), []).append(each)
    return [
        each
        for found in pools.values()
        for each in found
        if each.spec.pool.generation == max(other.spec.pool.generation for other in found)
    ]


def _holders(claims: Iterable[ResourceClaim]) -> dict[tuple[str, str, str], list[DeviceHolder]]:
    holders: dict[tuple[str, str, str], list[DeviceHolder]] = {}
    for claim in claims:
        allocation = claim.status.allocation
        if allocation is None:
            continue
        consumers = claim.status.reserved_for or ()
        pods = tuple(each.name for each in consumers if each.resource == "pods")
        holder = DeviceHolder(claim.namespace, claim.name, pods)
        for result in allocation.devices.results or ():
            if not result.admin_access:  # who watches a device does not have it
                key = (result.driver, result.pool, result.device)
                holders.setdefault(key, []).append(holder)
    return holders


def _view(
    key: tuple[str, str, str], node: str, device: Device, holders: tuple[DeviceHolder, ...]
) -> DeviceView:
    capacity = sorted((device.capacity or {}).items())
    return DeviceView(
        *key,
        node=node,
        model=_model(device),
        capacity=tuple((name, str(amount.value)) for name, amount in capacity),
        tainted=bool(device.taints),
        holders=holders,
    )


def _model(device: Device) -> str:
    attributes = {
        name.rpartition("/")[2]: value for name, value in (device.attributes or {}).items()
    }
    found = (attributes[name].string for name in _NAMES if name in attributes)
    return next((text for text in found if text), "")
