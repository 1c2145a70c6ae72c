"""Requests: the most that a node has free, in place of what the pod asks for.

The amounts are exact: one milli-cpu or one byte more would fit on no node that nothing else speaks
against. What a pod asks for is a sum over containers, or the largest init container; the largest of
them gives up what is too much.
"""

from collections.abc import Iterator
from math import fsum
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from podium.kubernetes.kinds.meta import Quantity
from podium.kubernetes.kinds.pod import Container, Pod, ResourceRequirements
from podium.kubernetes.rules.quantity import NANO_PER_MILLI, NANO_PER_UNIT, nano
from podium.kubernetes.rules.requests import (
    CPU,
    PODS,
    RequestRules,
    pod_requests,
    to_vector,
)
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.finding import (
    describe,
    is_counted_in_pieces,
    spell,
)
from podium.scheduler.framework.explanations.situation import Situation
from podium.scheduler.framework.plugin import ProposedChange
from podium.scheduler.plugins.node_resources_fit.plugin import NodeResourcesFit


class Shortage(NamedTuple):
    """What a node has too little of: resource to free amount, and the share that is missing."""

    share: float
    node: str
    free: dict[str, int]


def propose_smaller_requests(situation: Situation) -> Iterator[ProposedChange]:
    """The least loss for each set of resources of which nodes have too little."""
    best: dict[tuple[str, ...], Shortage] = {}
    for shortage in shortages(situation):
        key = tuple(sorted(shortage.free))
        if PODS not in key and (key not in best or shortage < best[key]):
            best[key] = shortage
    asked = situation.info.shape.requests
    rules = situation.cluster.infos.rules
    for key in sorted(best, key=lambda each: (best[each].share, each)):
        share, _, free = best[key]
        changed: Pod | None = situation.pod
        for resource, amount in free.items():
            changed = changed and lower_request(changed, resource, amount, rules)
        if changed is None:
            continue
        told = " and ".join(
            f"the {name} request from {describe(name, asked[name])} to {describe(name, free[name])}"
            for name in key
        )
        weight = disturbance.LOWER_REQUEST + round(disturbance.LOWER_REQUEST * min(share, 1.0))
        yield situation.change_pod("lower-request", f"lower {told}", weight, changed)


def shortages(situation: Situation) -> Iterator[Shortage]:
    """Nodes that only resources speak against, and what they lack."""
    names = situation.nodes_near(NodeResourcesFit.name)
    if not names or situation.examination is None:
        return
    load = situation.examination.load
    asked = {**situation.info.shape.requests, PODS: 1}
    column = {name: at for at, name in enumerate(load.nodes)}
    columns = np.array([column[name] for name in names], dtype=np.intp)
    free = {
        resource: (load.allocatable[row] - load.requested[row])[columns]
        for row, resource in enumerate(load.resources)
        if resource in asked
    }
    for at, name in enumerate(names):
        lacking = {
            resource: int(free[resource][at]) if resource in free else 0
            for resource, amount in asked.items()
            if amount and (resource not in free or free[resource][at] < amount)
        }
        if lacking:
            missing = ((asked[each] - left) / asked[each] for each, left in lacking.items())
            yield Shortage(fsum(missing), name, lacking)


def lower_request(pod: Pod, resource: str, most: int, rules: RequestRules) -> Pod | None:
    """The pod with a total request of at most so much; None if nothing sensible is left of it."""
    if most <= 0:
        return None
    unit = NANO_PER_MILLI if resource == CPU else NANO_PER_UNIT
    limit = most * unit - nano((pod.spec.overhead or {}).get(resource, 0))
    if limit <= 0:
        return None
    spec = pod.spec
    init = tuple(
        c if c.restart_policy == "Always" else _capped(c, resource, limit)
        for c in spec.init_containers or ()
    )
    main = _lower_sum([*(spec.containers or ())], resource, limit - _sidecars(pod, resource))
    if main is None:
        return None
    resources = spec.resources
    if rules.pod_level and resources is not None and resource in (resources.requests or {}):
        resources = _with_amount(resources, resource, limit)
    changed = replace(
        pod,
        spec=replace(
            spec,
            containers=tuple(main),
            init_containers=init if spec.init_containers else spec.init_containers,
            resources=resources,
        ),
    )
    left = to_vector(pod_requests(changed, status_resources=False, rules=rules)).get(resource, 0)
    return changed if 0 < left <= most else None


def _lower_sum(containers: list[Container], resource: str, limit: int) -> list[Container] | None:
    """The largest gives up what is too much, and what it does not have the next one does."""
    excess = sum(_amount(c, resource) for c in containers) - limit
    order = sorted(range(len(containers)), key=lambda at: -_amount(containers[at], resource))
    for at in order:
        if excess <= 0:
            break
        own = _amount(containers[at], resource)
        # An extended resource comes in whole pieces, and a container that has some keeps one.
        least = NANO_PER_UNIT if is_counted_in_pieces(resource) else NANO_PER_MILLI
        given = min(excess, own - least)
        if given > 0:
            containers[at] = _set_amount(containers[at], resource, own - given)
            excess -= given
    return containers if excess <= 0 else None


def _sidecars(pod: Pod, resource: str) -> int:
    sidecars = (c for c in pod.spec.init_containers or () if c.restart_policy == "Always")
    return sum(_amount(c, resource) for c in sidecars)


def _capped(container: Container, resource: str, limit: int) -> Container:
    if _amount(container, resource) <= limit:
        return container
    return _set_amount(container, resource, limit)


def _amount(container: Container, resource: str) -> int:
    requests = container.resources.requests if container.resources is not None else None
    return nano((requests or {}).get(resource, 0))


def _set_amount(container: Container, resource: str, amount: int) -> Container:
    resources = container.resources or ResourceRequirements()
    return replace(container, resources=_with_amount(resources, resource, amount))


def _with_amount(
    resources: ResourceRequirements, resource: str, amount: int
) -> ResourceRequirements:
    written = spell(resource, amount)
    limits = resources.limits
    # upstream: of extended resources and huge pages the limit has to be the request.
    if is_counted_in_pieces(resource) and resource in (limits or {}):
        limits = {**(limits or {}), resource: written}
    requests: dict[str, Quantity] = {**(resources.requests or {}), resource: written}
    return replace(resources, requests=requests, limits=limits)


def find_lacking(situation: Situation, name: str) -> dict[str, int]:
    """How much of which resource is missing on a node."""
    cluster = situation.cluster
    asked = situation.info.shape.requests
    row = cluster.nodes.row(name)
    lacking = {}
    for at, resource in enumerate(cluster.nodes.resources):
        free = int(cluster.nodes.allocatable[at, row] - cluster.usage.requested[at, row])
        if asked.get(resource, 0) > free:
            lacking[resource] = asked[resource] - free
    if int(cluster.nodes.allowed_pods[row]) <= int(cluster.usage.pod_count[row]):
        lacking[PODS] = int(cluster.usage.pod_count[row]) + 1 - int(cluster.nodes.allowed_pods[row])
    return lacking
