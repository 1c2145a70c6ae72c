"""VolumeBinding's rules for one pod and one node, every lookup done on the spot.

The plugin searches for all nodes at once with indexes it keeps; tests hold it against this form,
which follows the rule book step by step and keeps nothing but the decisions made so far.
"""

from dataclasses import dataclass, field

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import NodeSelector, Pod
from podium.kubernetes.kinds.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from podium.kubernetes.rules.labels import selector_of
from podium.kubernetes.rules.node_affinity import parse_node_selector
from podium.kubernetes.rules.quantity import nano, value
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.plugins.volumes.csi_translation import in_tree_plugin, translated_affinity

MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"
AFFINITY = "node(s) didn't match PersistentVolume's node affinity"
BIND = "node(s) didn't find available persistent volumes to bind"
SPACE = "node(s) did not have enough free storage"
GONE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


class ReferenceError(Exception):
    """The search breaks off with an error."""


@dataclass
class Answer:
    """Reasons against a node, or what would be done there; an error replaces both."""

    reasons: list[str] = field(default_factory=list)
    bindings: dict[str, str] = field(default_factory=dict)
    provision: list[str] = field(default_factory=list)
    error: str | None = None


@dataclass
class Decisions:
    """What earlier pods were given, as their Reserve left it."""

    taken: dict[str, str] = field(default_factory=dict)
    pinned: dict[str, str] = field(default_factory=dict)


class Reference:
    def __init__(self, catalog: Catalog, decisions: Decisions) -> None:
        self.catalog = catalog
        self.decisions = decisions

    def answer(self, pod: Pod, node: Node) -> Answer:
        try:
            return self._answer(pod, node)
        except ReferenceError as problem:
            return Answer(error=str(problem))

    def _answer(self, pod: Pod, node: Node) -> Answer:
        claims = []
        for volume in pod.spec.volumes or ():
            assert volume.persistent_volume_claim is not None
            name = volume.persistent_volume_claim.claim_name
            claim = self.catalog.get(PersistentVolumeClaim, name, pod.metadata.namespace)
            assert claim is not None
            claims.append(claim)
        bound = [claim for claim in claims if claim.spec.volume_name]
        delayed = [claim for claim in claims if not claim.spec.volume_name]
        affinity_fits, volumes_exist = self._bound(bound, node)
        answer = Answer()
        satisfied, room = self._delayed(delayed, node, answer)
        checks = ((affinity_fits, AFFINITY), (satisfied, BIND), (room, SPACE))
        answer.reasons = [reason for good, reason in (*checks, (volumes_exist, GONE)) if not good]
        return answer

    def _bound(self, claims: list[PersistentVolumeClaim], node: Node) -> tuple[bool, bool]:
        for claim in claims:
            volume = self.catalog.get(PersistentVolume, claim.spec.volume_name)
            if volume is None:
                return True, False
            required = volume.spec.node_affinity.required if volume.spec.node_affinity else None
            plugin = in_tree_plugin(volume.spec)
            csi_node = self.catalog.get(CSINode, node.metadata.name)
            if plugin is not None and csi_node is not None:
                listed = (csi_node.metadata.annotations or {}).get(MIGRATED, "").split(",")
                if plugin.name in listed:
                    try:
                        required = translated_affinity(volume)
                    except ValueError as problem:
                        raise ReferenceError(f"could not translate pv: {problem}") from None
            if not fits(required, node):
                return False, True
        return True, True

    def _delayed(
        self, claims: list[PersistentVolumeClaim], node: Node, answer: Answer
    ) -> tuple[bool, bool]:
        to_match, to_provision = [], []
        for claim in claims:
            pinned = self.pinned_to(claim)
            if pinned is None:
                to_match.append(claim)
            elif pinned != node.metadata.name:
                return False, True
            else:
                to_provision.append(claim)
        chosen: set[str] = set()
        satisfied = True
        for claim in sorted(to_match, key=size):
            volume = self._match(claim, node, chosen)
            if volume is None:
                to_provision.append(claim)
                satisfied = False
            else:
                chosen.add(volume.metadata.name)
                answer.bindings[key_of(claim)] = volume.metadata.name
        for claim in to_provision:
            satisfied, room = self._provision(claim, node)
            if not satisfied or not room:
                return satisfied, room
            answer.provision.append(key_of(claim))
        return satisfied or bool(to_provision), True

    def pinned_to(self, claim: PersistentVolumeClaim) -> str | None:
        written = (claim.metadata.annotations or {}).get("volume.kubernetes.io/selected-node")
        return self.decisions.pinned.get(key_of(claim), written)

    def _match(
        self, claim: PersistentVolumeClaim, node: Node, chosen: set[str]
    ) -> PersistentVolume | None:
        candidates: list[PersistentVolume] = []
        selector = selector_of(claim.spec.selector) if claim.spec.selector else None
        in_order = sorted(
            self.catalog.all(PersistentVolume),
            key=lambda volume: (capacity(volume), volume.metadata.name),
        )
        for volume in in_order:
            spec = volume.spec
            if spec.storage_class_name != (claim.spec.storage_class_name or ""):
                continue
            if volume.metadata.name in chosen:
                continue
            owner = self._owner(volume)
            if owner is not None and not self._owns(claim, volume):
                continue
            if capacity(volume) < size(claim):
                continue
            if (spec.volume_mode or "Filesystem") != (claim.spec.volume_mode or "Filesystem"):
                continue
            mine = claim.spec.volume_attributes_class_name or ""
            if (spec.volume_attributes_class_name or "") != mine:
                continue
            if volume.metadata.deletion_timestamp is not None:
                continue
            required = spec.node_affinity.required if spec.node_affinity else None
            reached = fits(required, node)
            if owner is not None:
                return volume if reached else None
            if volume.status.phase != "Available" or not reached:
                continue
            if selector is not None and not selector.matches(volume.metadata.labels):
                continue
            if not set(claim.spec.access_modes or ()) <= set(spec.access_modes or ()):
                continue
            candidates.append(volume)
        return candidates[0] if candidates else None

    def _owner(self, volume: PersistentVolume) -> str | None:
        taken = self.decisions.taken.get(volume.metadata.name)
        if taken is not None:
            return taken
        held = volume.spec.claim_ref
        return f"{held.namespace}/{held.name}" if held is not None else None

    def _owns(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
        if self._owner(volume) != key_of(claim):
            return False
        if volume.metadata.name in self.decisions.taken:
            return True
        held = volume.spec.claim_ref
        return held is not None and held.uid in ("", claim.metadata.uid)

    def _provision(self, claim: PersistentVolumeClaim, node: Node) -> tuple[bool, bool]:
        name = claim.spec.storage_class_name or ""
        storage_class = self.catalog.get(StorageClass, name)
        assert storage_class is not None
        if storage_class.provisioner in ("", "kubernetes.io/no-provisioner"):
            return False, True
        labels = node.metadata.labels or {}
        terms = storage_class.allowed_topologies or ()
        if terms and not any(
            term.match_label_expressions
            and all(labels.get(e.key) in (e.values or ()) for e in term.match_label_expressions)
            for term in terms
        ):
            return False, True
        wanted = (claim.spec.resources.requests or {}).get("storage")
        driver = self.catalog.get(CSIDriver, storage_class.provisioner)
        if wanted is None or driver is None or not driver.spec.storage_capacity:
            return True, True
        for room in self.catalog.all(CSIStorageCapacity):
            limit = room.maximum_volume_size
            limit = room.capacity if limit is None else limit
            if room.storage_class_name != name or limit is None or value(limit) < value(wanted):
                continue
            if room.node_topology is not None and selector_of(room.node_topology).matches(labels):
                return True, True
        return True, False


def fits(required: NodeSelector | None, node: Node) -> bool:
    if required is None:
        return True
    terms = parse_node_selector(required)
    return any(term.matches(node.metadata.labels, "") for term in terms)


def key_of(claim: PersistentVolumeClaim) -> str:
    return f"{claim.metadata.namespace}/{claim.metadata.name}"


def size(claim: PersistentVolumeClaim) -> int:
    return nano((claim.spec.resources.requests or {}).get("storage", 0))


def capacity(volume: PersistentVolume) -> int:
    return nano((volume.spec.capacity or {}).get("storage", 0))
