"""Volumes that exist, and that nodes cannot reach: node affinity and zones of bound volumes."""

from collections.abc import Iterator

from podium.cluster.growth import Mask
from podium.cluster.node_matching import terms_mask
from podium.explain.causes.attempt_view import AttemptView, Narrowing
from podium.explain.causes.finding import Finding
from podium.explain.causes.node_labels import terms_text
from podium.explain.causes.volume_claims import claim_name
from podium.explain.causes.wording import joined, some
from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim
from podium.kubernetes.rules.node_affinity import parse_node_selector
from podium.plugins.volume_binding import VolumeBinding
from podium.plugins.volume_zone import VolumeZone
from podium.plugins.volume_zone.plugin import STABLE_KEY, constraints_of
from podium.plugins.volumes.pod_claims import claims_of, find_claim

Bound = tuple[PersistentVolumeClaim, PersistentVolume]


def bound_volumes(view: AttemptView) -> Iterator[Bound]:
    """The pod's claims that have a volume, with it."""
    for used in claims_of(view.pod):
        claim = find_claim(view.catalog, view.pod, used.name)
        if claim is None or not claim.spec.volume_name:
            continue
        volume = view.catalog.get(PersistentVolume, claim.spec.volume_name)
        if volume is not None:
            yield claim, volume


def narrow_by_volumes(view: AttemptView) -> Narrowing:
    """Where the pod's volumes are, or can be made."""
    passes = ~view.rejected(VolumeBinding.name)
    names = joined(volume.metadata.name for _, volume in bound_volumes(view))
    if not names:
        text = "have its volumes or room for them"
        return Narrowing(VolumeBinding.name, passes, text, text.replace("have", "has", 1))
    text = f"PersistentVolume {names}"
    return Narrowing(VolumeBinding.name, passes, f"reach {text}", f"reaches {text}")


def find_unreachable(view: AttemptView, among: Mask) -> list[Finding]:
    """One finding for each volume whose node affinity leaves out some of the nodes."""
    found = []
    for claim, volume in bound_volumes(view):
        affinity = volume.spec.node_affinity
        if affinity is None or affinity.required is None:
            continue
        terms = parse_node_selector(affinity.required)
        reached = terms_mask(view.table, terms, view.rows)
        nodes = among & ~reached
        if not nodes.any():
            continue
        wanted = terms_text(terms)
        reaching = view.named(reached)
        clause = (
            f"PersistentVolume {volume.metadata.name} of {claim_name(claim)} is reached only from"
            f" nodes with {wanted}"
        )
        if not reaching:
            clause += ", and there is no such node"
        elif any(name not in wanted for name in reaching):
            clause += f" ({some(reaching)})"
        found.append(
            Finding(
                "volume-node-affinity",
                volume.metadata.name,
                nodes,
                clause,
                f"PersistentVolume {volume.metadata.name} is only reached from {wanted}",
                facts={"volume": volume.metadata.name, "nodeAffinity": wanted},
            )
        )
    return found


def narrow_by_zones(view: AttemptView) -> Narrowing:
    """Where zone and region labels of the pod's volumes let it go."""
    names = joined(v.metadata.name for _, v in bound_volumes(view) if constraints_of(v))
    text = f"in the zone of PersistentVolume {names}"
    return Narrowing(VolumeZone.name, ~view.rejected(VolumeZone.name), f"are {text}", f"is {text}")


def find_zones(view: AttemptView, among: Mask) -> list[Finding]:
    """One finding for each volume with a zone in which none of the nodes is."""
    found = []
    for claim, volume in bound_volumes(view):
        for constraint in constraints_of(volume):
            key = constraint.key
            there = view.label(STABLE_KEY.get(key, key), among) or view.label(key, among)
            if all(value in constraint.values for value, _ in there):
                continue
            wanted = joined(sorted(constraint.values), "or")
            clause = (
                f"PersistentVolume {volume.metadata.name} of {claim_name(claim)} is in {key}"
                f" {wanted}, the nodes are in {some([value for value, _ in there])}"
            )
            found.append(
                Finding(
                    "volume-zone",
                    volume.metadata.name,
                    among,
                    clause,
                    f"PersistentVolume {volume.metadata.name} is in {key} {wanted}",
                    facts={
                        "volume": volume.metadata.name,
                        "label": key,
                        "zones": [*sorted(constraint.values)],
                        "nodes": dict(there),
                    },
                )
            )
    return found
