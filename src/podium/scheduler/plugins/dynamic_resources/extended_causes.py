"""Extended resources that device classes serve: how many devices the best node has to offer."""

from collections.abc import Iterator

import numpy as np

from podium.scheduler.cluster.growth import Mask
from podium.scheduler.framework.explanations.finding import Finding, count
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.plugins.dynamic_resources.extended_resources import extended_requests
from podium.scheduler.plugins.dynamic_resources.supply import Supply
from podium.scheduler.plugins.resources.extended_resource_classes import ExtendedResourceClasses


def find_extended_shortages(view: AttemptView, among: Mask) -> Iterator[Finding]:
    """One finding for each resource of which no node has enough free devices."""
    if not view.gates["DRAExtendedResource"]:
        return
    classes = ExtendedResourceClasses(view.catalog)
    for resource, asked in (extended_requests(view.pod, classes) or {}).items():
        device_class = classes.find(resource)
        if device_class is None:
            continue
        total, used = (column[view.rows] for column in Supply.of(view.cluster).counts(device_class))
        free = total - used
        nodes = among & (free < asked)
        if not nodes.any() or (among & ~nodes).any():
            continue
        best = int(np.flatnonzero(among)[int(free[among].argmax())])
        name = device_class.metadata.name
        clause = f"the pod asks for {asked:,} {resource}, which DeviceClass {name} serves; "
        if total[among].any():
            clause += (
                f"the best candidate ({view.names[best]}) has"
                f" {count(int(free[best]), 'free device')} of {int(total[best])}"
            )
        else:
            clause += f"{'none of them' if view.introduced else 'no node'} has such a device"
        yield Finding(
            "too-few-devices",
            resource,
            nodes,
            clause,
            f"too few devices of DeviceClass {name}",
            lambda at, free=free, total=total: (  # type: ignore[misc]
                f"{int(free[at])} of {int(total[at])} devices of its class are free"
            ),
            facts={"resource": resource, "deviceClass": name, "asked": asked},
        )
