"""What people are told of room on nodes: how much is missing, and which requests would fit.

Proposed is the most that a node has free, in place of what the pod asks for. The amounts are exact:
one milli-cpu or one byte more would fit on no node that nothing else speaks against. What a pod
asks for is a sum over containers, or the largest init container; the largest of them gives up what
is too much.
"""

from collections.abc import Callable, Iterator
from math import fsum
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from podium.golang.errors import closest
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
from podium.scheduler.cluster.growth import Ints, Mask
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.finding import (
    TYPO,
    Finding,
    Narrowing,
    amount_text,
    amount_texts,
    count,
    describe,
    is_counted_in_pieces,
    join_words,
    or_rather,
    spell,
)
from podium.scheduler.framework.explanations.situation import AttemptView, Situation
from podium.scheduler.framework.plugin import ProposedChange
from podium.scheduler.framework.status import Code
from podium.scheduler.plugins.node_resources_fit.plugin import (
    INSUFFICIENT,
    TOO_MANY_PODS,
    NodeResourcesFit,
)

_PREFIX = INSUFFICIENT.format("")


def narrow_by_size(view: AttemptView) -> Narrowing:
    """Where the pod would fit if nothing else ran there."""
    passes = view.everywhere.copy()
    for status, nodes in view.examination.statuses(NodeResourcesFit.name):
        if status.code is Code.UNRESOLVABLE:
            passes &= ~nodes
    parts = [_size_text(view, resource) for resource, _ in _sizes(view)]
    text = f"have {join_words(parts)}"
    singular = text.replace("have", "has", 1)
    return Narrowing(
        NodeResourcesFit.name, passes, text, singular, lambda among: find_too_small(view, among)
    )


def _sizes(view: AttemptView) -> Iterator[tuple[str, Mask]]:
    """Resources of which some candidates have too little even when empty, and which have enough."""
    for resource, asked in view.shape.requests.items():
        enough = _free(view, resource, view.everywhere)[1] >= asked
        if (view.candidates & ~enough).any():
            yield resource, enough


def _size_text(view: AttemptView, resource: str) -> str:
    """`20 cpu or more`, or the name alone of what other nodes have nothing of."""
    asked = _amount_asked(view, resource)
    allocatable = _free(view, resource, view.candidates)[1]
    if not allocatable[allocatable < asked].any():
        return resource
    return f"{amount_text(resource, asked)} {resource} or more"


def find_too_small(view: AttemptView, among: Mask) -> list[Finding]:
    """Why no candidate is large enough."""
    sizes = list(_sizes(view))
    if len(sizes) < 2 or not all((view.candidates & enough).any() for _, enough in sizes):
        return find_shortages(view, among)
    parts = [
        f"{count(int(np.count_nonzero(view.candidates & enough)), 'node')} with"
        f" {amount_text(resource, _amount_asked(view, resource))} {resource} or more"
        for resource, enough in sizes
    ]
    names = [resource for resource, _ in sizes]
    clause = (
        f"there {'is' if parts[0].startswith('1 ') else 'are'} {join_words(parts)}, but no node"
    )
    clause += f" with {'both' if len(parts) == 2 else 'all of that'}"
    return [
        Finding(
            "resources-apart",
            ",".join(names),
            among,
            clause,
            f"too small for {join_words(names)}",
            _describer(view, tuple(names)),
            facts={"resources": {name: _amount_asked(view, name) for name in names}},
        )
    ]


def find_shortages(view: AttemptView, among: Mask) -> list[Finding]:
    """One finding for each set of things that nodes lack, the nearest to fitting first."""
    groups: dict[tuple[str, ...], Mask] = {}
    for status, nodes in view.examination.statuses(NodeResourcesFit.name):
        mask = nodes & among
        if mask.any():
            short = tuple(_resource(reason) for reason in status.reasons)
            groups[short] = groups[short] | mask if short in groups else mask
    nearest = sorted(groups, key=lambda short: (len(short), _distance(view, short, groups[short])))
    return [_describe_shortage(view, short, groups[short]) for short in nearest]


def _resource(reason: str) -> str:
    return PODS if reason == TOO_MANY_PODS else reason.removeprefix(_PREFIX)


def _distance(view: AttemptView, short: tuple[str, ...], mask: Mask) -> float:
    """How far the nearest node is from having room, in fractions of what is requested."""
    missing = np.zeros(int(np.count_nonzero(mask)))
    for resource in short:
        asked = _amount_asked(view, resource)
        free, _ = _free(view, resource, mask)
        missing += (asked - free) / max(asked, 1)
    return float(missing.min())


def _amount_asked(view: AttemptView, resource: str) -> int:
    return 1 if resource == PODS else view.shape.requests.get(resource, 0)


def _free(view: AttemptView, resource: str, mask: Mask) -> tuple[Ints, Ints]:
    """(free, allocatable) of a resource on the nodes of a mask."""
    rows, table, usage = view.rows[mask], view.table, view.cluster.usage
    usage.grow()
    if resource == PODS:
        allocatable = table.allowed_pods[rows].astype(np.int64)
        return allocatable - usage.pod_count[rows], allocatable
    index = table.resources.find(resource)
    if index < 0:
        nothing = np.zeros(len(rows), dtype=np.int64)
        return nothing, nothing
    allocatable = table.allocatable[index][rows]
    return allocatable - usage.requested_of(index)[rows], allocatable


def _describe_shortage(view: AttemptView, short: tuple[str, ...], mask: Mask) -> Finding:
    code, clause = _describe(view, short, mask)
    return Finding(
        code,
        ",".join(short),
        mask,
        clause,
        f"lacks {join_words(short)}",
        _describer(view, short),
        facts={
            "resources": {
                resource: {
                    "asked": _amount_asked(view, resource),
                    "largestFree": int(_free(view, resource, mask)[0].max()),
                    "largestAllocatable": int(_free(view, resource, view.everywhere)[1].max()),
                }
                for resource in short
            }
        },
    )


def _describe(view: AttemptView, short: tuple[str, ...], mask: Mask) -> tuple[str, str]:
    """(code, clause): the resource that the largest node lacks speaks first."""
    for resource in short:
        if resource == PODS:
            continue
        asked = _amount_asked(view, resource)
        _, anywhere = _free(view, resource, view.everywhere)
        _, here = _free(view, resource, view.candidates)
        if not anywhere.any():
            wanted = amount_text(resource, asked)
            meant = or_rather(_closest_resource(view.table, resource))
            return "resource-unknown", f"no node has {resource}{meant}; the pod asks for {wanted}"
        if asked > int(here.max()):
            return "resource-exceeds-largest-node", _exceeds(view, resource, asked, here, anywhere)
    if short == (PODS,):
        return "too-many-pods", _describe_crowded(view, mask)
    return "insufficient-resource", _lacks(view, short, mask)


def _closest_resource(nodes: NodeTable, resource: str) -> str:
    """The extended resource of some node that may have been meant by one that none has."""
    there = [
        name
        for name, allocatable in zip(nodes.resources, nodes.allocatable, strict=False)
        if "/" in name and allocatable.any()
    ]
    return "" if resource in there else closest(resource, there, TYPO)


def _exceeds(view: AttemptView, resource: str, asked: int, here: Ints, anywhere: Ints) -> str:
    largest, largest_of_all = int(here.max()), int(anywhere.max())
    wanted, had, had_at_most = amount_texts(resource, asked, largest, largest_of_all)
    if largest == 0:
        others = int(np.count_nonzero(anywhere))
        return f"none of them has {resource}, of which the pod asks for {wanted}; {_have(others)}"
    at = int(np.flatnonzero(view.candidates)[int(here.argmax())])
    number = int(np.count_nonzero(here == largest))
    more = f" and {number - 1:,} more" if number > 1 else ""
    which = "the largest of them" if view.introduced else "the largest node"
    text = f"the pod asks for {wanted} {resource}; {which} ({view.names[at]}{more})"
    text += f" has {had}"
    if largest_of_all > largest:
        other = view.names[int(anywhere.argmax())]
        text += f", the largest of all ({other}) {had_at_most}"
    return text


def _have(number: int) -> str:
    return f"{count(number, 'other node')} {'has' if number == 1 else 'have'} it"


def _describe_crowded(view: AttemptView, mask: Mask) -> str:
    _, allowed = _free(view, PODS, mask)
    if int(allowed.min()) == int(allowed.max()):
        each = count(int(allowed[0]), "pod")
        return view.say(mask, f"has its {each} already", f"have their {each} each already")
    return view.say(mask, "has all the pods it may have", "have all the pods they may have")


def _lacks(view: AttemptView, short: tuple[str, ...], mask: Mask) -> str:
    """What the pod asks for, and how far the nearest node is from it."""
    best = _nearest(view, short, mask)
    room = {resource: _room_at(view, resource, best) for resource in short}
    asked = join_words(f"{room[r][0]} {r}" for r in short if r != PODS)
    lacks = join_words(_missing_text(view, resource, best, room[resource]) for resource in short)
    alone = view.introduced and int(np.count_nonzero(view.candidates)) == 1
    who = "the node" if alone else f"the best candidate ({view.names[best]})"
    return f"the pod asks for {asked}; {who} lacks {lacks}"


def _free_at(view: AttemptView, resource: str, position: int) -> tuple[int, int]:
    one = np.zeros(len(view.names), dtype=np.bool_)
    one[position] = True
    free, allocatable = _free(view, resource, one)
    return int(free[0]), int(allocatable[0])


def _room_at(view: AttemptView, resource: str, position: int) -> tuple[str, ...]:
    """What is requested, what is free and what there is in all, in units in which they differ."""
    return amount_texts(
        resource, _amount_asked(view, resource), *_free_at(view, resource, position)
    )


def _missing_text(view: AttemptView, resource: str, position: int, room: tuple[str, ...]) -> str:
    free, allocatable = _free_at(view, resource, position)
    if resource == PODS:
        return f"the place of a pod ({allocatable} allowed)"
    missing = _amount_asked(view, resource) - free
    left = " of ".join(room[1:])
    return f"{amount_text(resource, missing)} {resource} ({left} free)"


def _nearest(view: AttemptView, short: tuple[str, ...], mask: Mask) -> int:
    missing = np.zeros(int(np.count_nonzero(mask)))
    for resource in short:
        asked = _amount_asked(view, resource)
        free, _ = _free(view, resource, mask)
        missing += (asked - free) / max(asked, 1)
    return int(np.flatnonzero(mask)[int(missing.argmin())])


def _describer(view: AttemptView, short: tuple[str, ...]) -> Callable[[int], str]:
    """What says how much of each resource a node lacks."""
    missing = {r: _amount_asked(view, r) - _free(view, r, view.everywhere)[0] for r in short}

    def describe(position: int) -> str:
        return join_words(
            "all its pods are there"
            if resource == PODS
            else f"{amount_text(resource, int(missing[resource][position]))} {resource} missing"
            for resource in short
        )

    return describe


class NodeShortage(NamedTuple):
    """What a node has too little of: resource to free amount, and the share that is missing."""

    share: float
    node: str
    free: dict[str, int]


def propose_smaller_requests(situation: Situation) -> Iterator[ProposedChange]:
    """The least loss for each set of resources of which nodes have too little."""
    best: dict[tuple[str, ...], NodeShortage] = {}
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


def propose_other_names(situation: Situation) -> Iterator[ProposedChange]:
    """The resource that nodes have in place of one that none has and that is spelt nearly so."""
    for resource in situation.info.shape.requests:
        meant = _closest_resource(situation.cluster.nodes, resource) if "/" in resource else ""
        if meant:
            yield situation.change_pod(
                "correct-resource-name",
                f"ask for {meant} in place of {resource}, which no node has",
                disturbance.CORRECT_NAME,
                _rename_resource(situation.pod, resource, meant),
            )


def _rename_resource(pod: Pod, old: str, new: str) -> Pod:
    """The pod with another resource in what its containers request."""

    def rename(amounts: dict[str, Quantity] | None) -> dict[str, Quantity] | None:
        return amounts and {new if key == old else key: each for key, each in amounts.items()}

    def change(container: Container) -> Container:
        found = container.resources
        if found is None:
            return container
        renamed = replace(found, requests=rename(found.requests), limits=rename(found.limits))
        return replace(container, resources=renamed)

    spec = pod.spec
    containers = tuple(map(change, spec.containers or ()))
    init = tuple(map(change, spec.init_containers or ())) or None
    return replace(pod, spec=replace(spec, containers=containers, init_containers=init))


def shortages(situation: Situation) -> Iterator[NodeShortage]:
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
            yield NodeShortage(fsum(missing), name, lacking)


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
        c if c.restart_policy == "Always" else _cap_request(c, resource, limit)
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


def _cap_request(container: Container, resource: str, limit: int) -> Container:
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
