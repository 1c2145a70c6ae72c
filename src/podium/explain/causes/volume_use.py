"""Volumes that are in use: attach limits of drivers, claims for one pod only, inline disks."""

from collections.abc import Iterator

import numpy as np

from podium.cluster.growth import Mask
from podium.explain.causes.attempt_view import AttemptView
from podium.explain.causes.finding import Finding
from podium.explain.causes.wording import count, joined, some
from podium.plugins.node_volume_limits.attached_volumes import AttachedVolumes
from podium.plugins.volume_restrictions import VolumeRestrictions
from podium.plugins.volume_restrictions.inline_disks import conflicts, disks_of
from podium.plugins.volume_restrictions.plugin import (
    CLAIM_IN_USE,
    DISK_CONFLICT,
    READ_WRITE_ONCE_POD,
)
from podium.plugins.volumes.counted_volumes import UncountableError, VolumeCounting
from podium.plugins.volumes.csi_nodes import NO_LIMIT, CsiNodeColumns
from podium.plugins.volumes.pod_claims import find_claim, named_claims


def find_restrictions(view: AttemptView, among: Mask) -> list[Finding]:
    found: list[Finding] = []
    held = among & _with_reason(view, CLAIM_IN_USE.reasons[0])
    if held.any():
        found.extend(_find_exclusive(view, held))
    disks = among & _with_reason(view, DISK_CONFLICT.reasons[0])
    if disks.any():
        found.append(_find_disks(view, disks))
    return found


def _with_reason(view: AttemptView, reason: str) -> Mask:
    mask: Mask = np.zeros(len(view.names), dtype=np.bool_)
    for status, nodes in view.examination.statuses(VolumeRestrictions.name):
        if reason in status.reasons:
            mask |= nodes
    return mask


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


def find_limits(view: AttemptView, among: Mask) -> list[Finding]:
    """One finding for each driver that has no place left, or is not there."""
    counting = VolumeCounting(view.catalog)
    try:
        volumes = list(counting.volumes(view.pod, migration=True, new=True))
    except UncountableError:
        return []
    columns = CsiNodeColumns(view.cluster)
    attached = AttachedVolumes(view.cluster, columns)
    attached.refresh()
    found: list[Finding] = []
    for driver in sorted({volume.driver for volume in volumes}):
        new = len({volume for volume in volumes if volume.driver == driver})
        limits = columns.limits(driver)[view.rows]
        counts = attached.counts(driver)[view.rows].copy()
        nodes = among & (limits != NO_LIMIT) & (counts + new > limits)
        if nodes.any():
            found.append(_find_limit(view, driver, new, nodes, limits, counts))
        missing = among & ~nodes & ~columns.installed(driver)[view.rows]
        if missing.any():
            clause = view.say(missing, "does", "do") + f" not have CSI driver {driver}"
            text = f"CSI driver {driver} is not installed on the node"
            found.append(Finding("csi-driver-missing", driver, missing, clause, text))
    return found


def _find_limit(
    view: AttemptView,
    driver: str,
    new: int,
    nodes: Mask,
    limits: np.typing.NDArray[np.int64],
    counts: np.typing.NDArray[np.int64],
) -> Finding:
    best = int(np.flatnonzero(nodes)[int((limits - counts)[nodes].argmax())])
    clause = (
        f"CSI driver {driver} has {int(counts[best])} of {int(limits[best])} volumes attached"
        f" on the best of them ({view.names[best]}); the pod adds {count(new, 'volume')}"
    )
    if not view.introduced:
        clause = clause.replace("the best of them", "the best node")
    return Finding(
        "volume-limit",
        driver,
        nodes,
        clause,
        f"CSI driver {driver} has no place left",
        lambda position: (
            f"CSI driver {driver} has {int(counts[position])} of {int(limits[position])} volumes"
            f" attached and the pod adds {new}"
        ),
        facts={"driver": driver, "adds": new, "limit": int(limits[best])},
    )
