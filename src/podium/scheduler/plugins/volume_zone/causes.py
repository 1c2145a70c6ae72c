"""Zones of bound volumes in which no node is."""

from podium.scheduler.cluster.growth import Mask
from podium.scheduler.framework.explanations.finding import Finding, Narrowing, joined, some
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.plugins.volume_zone import VolumeZone
from podium.scheduler.plugins.volume_zone.plugin import STABLE_KEY, constraints_of
from podium.scheduler.plugins.volumes.claim_causes import bound_volumes, claim_name


def narrow_by_zones(view: AttemptView) -> Narrowing:
    """Where zone and region labels of the pod's volumes let it go."""
    names = joined(
        v.metadata.name for _, v in bound_volumes(view.catalog, view.pod) if constraints_of(v)
    )
    text = f"in the zone of PersistentVolume {names}"
    return Narrowing(VolumeZone.name, ~view.rejected(VolumeZone.name), f"are {text}", f"is {text}")


def find_zones(view: AttemptView, among: Mask) -> list[Finding]:
    """One finding for each volume with a zone in which none of the nodes is."""
    found = []
    for claim, volume in bound_volumes(view.catalog, view.pod):
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
