"""Volumes that only one pod may use: claims for one pod only, and inline disks."""

from collections.abc import Iterator

from podium.scheduler.cluster.growth import Mask
from podium.scheduler.framework.explanations.finding import Finding, joined, some
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.plugins.volume_restrictions.inline_disks import conflicts, disks_of
from podium.scheduler.plugins.volume_restrictions.plugin import (
    CLAIM_IN_USE,
    DISK_CONFLICT,
    READ_WRITE_ONCE_POD,
    VolumeRestrictions,
)
from podium.scheduler.plugins.volumes.pod_claims import find_claim, named_claims


def find_restrictions(view: AttemptView, among: Mask) -> list[Finding]:
    found: list[Finding] = []
    held = among & view.with_reason(VolumeRestrictions.name, CLAIM_IN_USE.reasons[0])
    if held.any():
        found.extend(_find_exclusive(view, held))
    disks = among & view.with_reason(VolumeRestrictions.name, DISK_CONFLICT.reasons[0])
    if disks.any():
        found.append(_find_disks(view, disks))
    return found


def _find_exclusive(view: AttemptView, among: Mask) -> Iterator[Finding]:
    namespace = view.pod.metadata.namespace
    for name in named_claims(view.pod):
        claim = find_claim(view.catalog, view.pod, name)
        if claim is None or READ_WRITE_ONCE_POD not in (claim.spec.access_modes or ()):
            continue
        key = f"{namespace}/{name}"
        users = [
            f"{pod.key} on {view.names[position]}"
            for position in range(len(view.names))
            for pod in view.pods_on(position)
            if key in pod.shape.claim_names
        ]
        if not users:
            continue
        clause = f"PersistentVolumeClaim {key} is {READ_WRITE_ONCE_POD} and in use by {some(users)}"
        yield Finding(
            "volume-claim-in-use",
            key,
            among,
            clause,
            clause,
            facts={"claim": key, "pods": [*users[:20]]},
        )


def _find_disks(view: AttemptView, among: Mask) -> Finding:
    names = joined(sorted({disk.identity[-1] for disk in disks_of(view.pod)}))
    users = {
        position: [pod.key for pod in view.pods_on(position) if conflicts(view.pod, pod.pod)]
        for position in view.positions(among)
    }
    pods = [key for keys in users.values() for key in keys]
    clause = f"disk {names} is mounted by {some(pods)}: {view.say(among, 'has', 'have')} such a pod"
    return Finding(
        "disk-in-use",
        names,
        among,
        clause,
        f"disk {names} is in use",
        lambda position: f"disk {names} is mounted by {some(users[position])}",
        facts={"disks": names, "pods": [*pods[:20]]},
    )
