"""Volumes that are in use: attach limits of drivers, claims for one pod only, inline disks."""

import numpy as np

from podium.scheduler.cluster.growth import Mask
from podium.scheduler.framework.explanations.finding import Finding, count
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.plugins.node_volume_limits.attached_volumes import AttachedVolumes
from podium.scheduler.plugins.volumes.counted_volumes import UncountableError, VolumeCounting
from podium.scheduler.plugins.volumes.csi_nodes import NO_LIMIT, CsiNodeColumns


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
