"""A pod's claims, the plan for them, what is decided, and how PreBind makes it true.

What the scheduler has decided about volumes and claims but the API server does not show yet.
Between Reserve and the API server's answer, a volume is taken and a claim is on its way although
the catalog still says otherwise. Decisions are here as changed copies laid over the catalog. A
copy holds only while the object it was made from is the current one: as soon as the API server
shows something newer, that is the truth and the copy is forgotten.

PreBind: telling the API server which volumes a pod takes, and waiting until they are its own. The
scheduler only names the volume or the node; the volume controller and the provisioners do the rest.
So after the writes the objects are looked at once a second, as the API server shows them, until
every claim is bound, something has gone wrong, or the time is up. Nothing that was written is taken
back: the next attempt finds it.

Source: `BindPodVolumes` and `checkBindings` in
`pkg/scheduler/framework/plugins/volumebinding/binder.go`.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import (
    BIND_COMPLETED,
    SELECTED_NODE,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from podium.kubernetes.rules.field_errors import aggregate
from podium.kubernetes.rules.node_affinity import parse_node_selector
from podium.kubernetes.rules.quantity import nano, value
from podium.scheduler.cluster.catalog import Catalog, object_key
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.handle import ApiHandle
from podium.scheduler.plugins.volumes.attach_limits import migrated_plugins
from podium.scheduler.plugins.volumes.csi_translation import (
    TranslationError,
    in_tree_plugin,
    translated_affinity,
)
from podium.scheduler.plugins.volumes.pod_claims import (
    PodVolumeClaim,
    claims_of,
    class_of_claim,
    controls,
    not_owner,
    waits_for_consumer,
)

T = TypeVar("T", PersistentVolume, PersistentVolumeClaim)

_RESOURCE_NAMES: dict[type, str] = {
    PersistentVolume: "persistentvolumes",
    PersistentVolumeClaim: "persistentvolumeclaims",
}


class AssumeError(Exception):
    """An object changed or went away since the decision about it was made."""


class _Assumed(NamedTuple, Generic[T]):
    stored: T
    changed: T


class AssumedObjects(Generic[T]):
    """One kind of objects as the scheduler has to see them."""

    def __init__(self, catalog: Catalog, kind: type[T]) -> None:
        self._catalog = catalog
        self._kind: type[T] = kind
        self._assumed: dict[str, _Assumed[T]] = {}
        self._touched: set[str] = set()

    def get(self, key: str) -> T | None:
        """The object by its key, with the scheduler's decisions in it."""
        stored = self.get_stored(key)
        held = self._assumed.get(key)
        if stored is None or held is None:
            return stored
        if not _same(stored, held.stored):
            del self._assumed[key]
            return stored
        return held.changed

    def get_stored(self, key: str) -> T | None:
        """The object as the API server shows it."""
        return self._catalog.get(self._kind, key)

    def assume(self, changed: T) -> None:
        key = object_key(changed.metadata)
        stored = self.get_stored(key)
        if stored is None:
            raise AssumeError(not_found(self._kind, key))
        old, new = stored.metadata.resource_version, changed.metadata.resource_version
        if old != new:
            raise AssumeError(f'"{key}" is out of sync (stored: {old or 0}, assume: {new or 0})')
        self._assumed[key] = _Assumed(stored, changed)
        self._touched.add(key)

    def restore(self, changed: T) -> None:
        """Take a decision back, unless a newer object has made it void already."""
        key = object_key(changed.metadata)
        held = self._assumed.get(key)
        version = changed.metadata.resource_version
        if held is not None and held.changed.metadata.resource_version == version:
            del self._assumed[key]
            self._touched.add(key)

    def take_touched(self) -> Collection[str]:
        """Keys whose decisions were made or taken back since the last call."""
        touched, self._touched = self._touched, set()
        return touched


def not_found(kind: type, key: str) -> str:
    return f'{_RESOURCE_NAMES[kind]} "{key}" not found'


def _same(stored: T, before: T) -> bool:
    """Whether an object has not changed; without resource versions only identity can tell."""
    version = stored.metadata.resource_version
    if not version:
        return stored is before
    return version == before.metadata.resource_version


STORAGE = "storage"


class ClaimError(Exception):
    """A claim that cannot be classified, which ends the attempt."""


@dataclass(slots=True)
class PodVolumeClaims:
    """A pod's claims in volume order: bound, to be bound with a node in mind, or overdue."""

    bound: list[PersistentVolumeClaim] = field(default_factory=list)
    delayed: list[PersistentVolumeClaim] = field(default_factory=list)
    immediate: list[PersistentVolumeClaim] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class StaticBinding:
    """A claim and the existing volume chosen for it."""

    claim: PersistentVolumeClaim
    volume: PersistentVolume


@dataclass(frozen=True, slots=True)
class Provision:
    """A claim whose volume is to be made, and the capacity that promised room for it."""

    claim: PersistentVolumeClaim
    capacity: CSIStorageCapacity | None = None


@dataclass(slots=True)
class PodVolumes:
    """The plan for a pod's claims on one node; once reserved it holds the assumed objects."""

    bindings: list[StaticBinding] = field(default_factory=list)
    provisions: list[Provision] = field(default_factory=list)


def is_fully_bound(claim: PersistentVolumeClaim) -> bool:
    return bool(claim.spec.volume_name) and BIND_COMPLETED in (claim.metadata.annotations or {})


def selected_node(claim: PersistentVolumeClaim) -> str | None:
    """The node a provisioner has been told to make the volume for."""
    return (claim.metadata.annotations or {}).get(SELECTED_NODE)


def requested_nano(claim: PersistentVolumeClaim) -> int:
    """How much a claim asks for, exactly; nothing is 0."""
    return nano((claim.spec.resources.requests or {}).get(STORAGE, 0))


def requested_bytes(claim: PersistentVolumeClaim) -> int | None:
    written = (claim.spec.resources.requests or {}).get(STORAGE)
    return value(written) if written is not None else None


def classify(
    pod: Pod, claims: AssumedObjects[PersistentVolumeClaim], catalog: Catalog
) -> PodVolumeClaims:
    found = PodVolumeClaims()
    delayed: dict[str, bool] = {}
    for used in claims_of(pod):
        claim = find(pod, used, claims)
        if is_fully_bound(claim):
            found.bound.append(claim)
        elif not claim.spec.volume_name and _is_delayed(class_of_claim(claim), catalog, delayed):
            found.delayed.append(claim)
        else:
            # A claim that names its volume is the volume controller's to bind, whatever its class.
            found.immediate.append(claim)
    return found


def all_bound(pod: Pod, claims: AssumedObjects[PersistentVolumeClaim]) -> bool:
    try:
        return all(is_fully_bound(find(pod, used, claims)) for used in claims_of(pod))
    except ClaimError:
        return False


def find(
    pod: Pod, used: PodVolumeClaim, claims: AssumedObjects[PersistentVolumeClaim]
) -> PersistentVolumeClaim:
    key = f"{pod.metadata.namespace}/{used.name}"
    claim = claims.get(key)
    if claim is None:
        missing = not_found(PersistentVolumeClaim, key)
        raise ClaimError(f'error getting PVC "{key}": {missing}')
    if used.ephemeral and not controls(pod, claim):
        raise ClaimError(not_owner(pod, claim))
    return claim


def claim_key(claim: PersistentVolumeClaim) -> str:
    return object_key(claim.metadata)


def _is_delayed(class_name: str, catalog: Catalog, known: dict[str, bool]) -> bool:
    """Whether claims of a class wait for a node; `known` are the classes asked about before."""
    if class_name not in known:
        storage_class = catalog.get(StorageClass, class_name) if class_name else None
        known[class_name] = storage_class is not None and waits_for_consumer(storage_class)
    return known[class_name]


CHECK_INTERVAL_S = 1.0
TIMED_OUT = "context deadline exceeded"
NO_MATCHING_TERM = "no matching NodeSelectorTerms"


class BindingFailure(Exception):
    """Volumes cannot be bound as planned; the pod has to be scheduled again."""


class VolumeWriter:
    def __init__(
        self,
        cluster: Cluster,
        volumes: AssumedObjects[PersistentVolume],
        claims: AssumedObjects[PersistentVolumeClaim],
        timeout_s: float,
    ) -> None:
        self._cluster = cluster
        self._volumes = volumes
        self._claims = claims
        self._timeout_s = timeout_s

    async def bind(self, pod: PodInfo, node_name: str, planned: PodVolumes, api: ApiHandle) -> None:
        """Write the plan and wait for it to come true; raises when it cannot."""
        await self._write(planned, api)
        left_s = self._timeout_s
        while left_s > CHECK_INTERVAL_S:
            await api.pause(CHECK_INTERVAL_S)
            left_s -= CHECK_INTERVAL_S
            try:
                if self.is_bound(pod, node_name, planned):
                    return
            except BindingFailure as problem:
                raise BindingFailure(f"binding volumes: {problem}") from None
        await api.pause(left_s)
        raise BindingFailure(f"binding volumes: {TIMED_OUT}")

    async def _write(self, planned: PodVolumes, api: ApiHandle) -> None:
        bindings, provisions = planned.bindings, planned.provisions
        written_bindings = written_provisions = 0
        try:
            for number, binding in enumerate(bindings):
                base = self._volumes.get_stored(binding.volume.metadata.name)
                stored = await api.update(binding.volume, base=base)
                bindings[number] = StaticBinding(binding.claim, stored)
                written_bindings += 1
            for number, provision in enumerate(provisions):
                claimed = self._claims.get_stored(claim_key(provision.claim))
                renewed = await api.update(provision.claim, base=claimed)
                provisions[number] = Provision(renewed, provision.capacity)
                written_provisions += 1
        finally:
            for binding in bindings[written_bindings:]:
                self._volumes.restore(binding.volume)
            for provision in provisions[written_provisions:]:
                self._claims.restore(provision.claim)

    def is_bound(self, pod: PodInfo, node_name: str, planned: PodVolumes) -> bool:
        """Whether all claims are bound by now; raises when they will not be."""
        if not self._cluster.nodes.is_present(node_name):
            raise BindingFailure(f'failed to get node "{node_name}": node "{node_name}" not found')
        if pod.uid not in self._cluster.placements:
            name = pod.pod.metadata.name
            raise BindingFailure(f'pod does not exist any more: pod "{name}" not found')
        return all(self._is_taken(binding, node_name) for binding in planned.bindings) and all(
            self._is_made(provision, node_name) for provision in planned.provisions
        )

    def _is_taken(self, binding: StaticBinding, node_name: str) -> bool:
        name = binding.volume.metadata.name
        volume = self._volumes.get_stored(name)
        if volume is None:
            raise BindingFailure(f"failed to check binding: {not_found(PersistentVolume, name)}")
        claim = self._stored_claim(binding.claim, "failed to check binding")
        if _is_older(volume, binding.volume):
            return False
        try:
            self._check_reach(volume, node_name)
        except TranslationError as problem:
            raise BindingFailure(f"failed to translate pv to csi: {problem}") from None
        if volume.spec.claim_ref is None or not volume.spec.claim_ref.uid:
            raise BindingFailure(f'ClaimRef got reset for pv "{name}"')
        return is_fully_bound(claim)

    def _is_made(self, provision: Provision, node_name: str) -> bool:
        claim = self._stored_claim(provision.claim, "failed to check provisioning pvc")
        if _is_older(claim, provision.claim):
            return False
        name = claim.metadata.name
        if claim.metadata.annotations is None:
            raise BindingFailure(f'selectedNode annotation reset for PVC "{name}"')
        if selected_node(claim) != node_name:
            raise BindingFailure(f'provisioning failed for PVC "{name}"')
        if claim.spec.volume_name:
            volume = self._volumes.get_stored(claim.spec.volume_name)
            if volume is None:
                return False
            try:
                self._check_reach(volume, node_name)
            except TranslationError as problem:
                raise BindingFailure(str(problem)) from None
        return is_fully_bound(claim)

    def _stored_claim(self, claim: PersistentVolumeClaim, doing: str) -> PersistentVolumeClaim:
        key = claim_key(claim)
        stored = self._claims.get_stored(key)
        if stored is None:
            raise BindingFailure(f"{doing}: {not_found(PersistentVolumeClaim, key)}")
        return stored

    def _check_reach(self, volume: PersistentVolume, node_name: str) -> None:
        plugin = in_tree_plugin(volume.spec)
        csi_node = self._cluster.catalog.get(CSINode, node_name)
        affinity = volume.spec.node_affinity
        required = affinity.required if affinity is not None else None
        if plugin is not None and plugin.migrates and plugin.name in migrated_plugins(csi_node):
            try:
                required = translated_affinity(volume)
            except TranslationError as problem:
                raise TranslationError(f"could not translate pv: {problem}") from None
        if required is None:
            return
        nodes = self._cluster.nodes
        labels = nodes.labels.labels_of(nodes.row(node_name))
        terms = parse_node_selector(required)
        if not any(term.matches(labels, "") for term in terms):
            errors = [term.error for term in terms if term.error is not None]
            raise BindingFailure(
                f'pv "{volume.metadata.name}" node affinity doesn\'t match node "{node_name}":'
                f" {aggregate(errors) if errors else NO_MATCHING_TERM}"
            )


def _is_older(
    stored: PersistentVolume | PersistentVolumeClaim,
    written: PersistentVolume | PersistentVolumeClaim,
) -> bool:
    """Whether the API server does not show yet what it answered to our write."""
    seen, ours = stored.metadata.resource_version, written.metadata.resource_version
    return seen.isdigit() and ours.isdigit() and int(seen) < int(ours)
