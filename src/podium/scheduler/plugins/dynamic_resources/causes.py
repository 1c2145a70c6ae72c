"""Devices: at which step of the search the devices of nodes fall away, and how many at each.

For each request the devices in reach of the nodes pass the class's selectors, the request's own,
then taints, then whoever has them already; what is left must suffice on one node. The first step
at which none is left is the cause.

Further causes are claims that a pod cannot have anywhere (missing, going, not made yet, of no
class), and extended resources of which no node has as many devices as are requested.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from podium.kubernetes.kinds.devices import DeviceClass, ResourceClaim
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.node_affinity import parse_node_selector
from podium.scheduler.cluster.growth import Mask
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.explanations.finding import (
    Finding,
    Narrowing,
    count,
    join_words,
    sentence,
    some,
    terms_text,
)
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.framework.plugin import RefusalCause
from podium.scheduler.plugins.dynamic_resources import DynamicResources
from podium.scheduler.plugins.dynamic_resources.allocatable_causes import find_claimed_resources
from podium.scheduler.plugins.dynamic_resources.claim_state import (
    ClaimState,
    claim_key,
    is_made_for,
)
from podium.scheduler.plugins.dynamic_resources.extended_resources import extended_requests
from podium.scheduler.plugins.dynamic_resources.inventory import (
    DeviceEntry,
    DeviceId,
    DeviceSelectorError,
    InventoryRules,
)
from podium.scheduler.plugins.dynamic_resources.node_search import CLAIM_ELSEWHERE, INVALID
from podium.scheduler.plugins.dynamic_resources.pools import GatherError, Supply
from podium.scheduler.plugins.dynamic_resources.requests import ALL, ClaimRequest, requests_of
from podium.scheduler.plugins.dynamic_resources.taint_rules import all_tolerated
from podium.scheduler.plugins.resources.extended_resource_classes import ExtendedResourceClasses

Stock = dict[int, Sequence[DeviceEntry]]
"""Devices by the position of a node that can use them."""


def narrow_by_devices(view: AttemptView) -> Narrowing:
    """Where devices are free for the pod's claims, or can be used that the claims hold already."""
    text = "devices for its ResourceClaims"
    passes = ~view.rejected(DynamicResources.name)
    return Narrowing(DynamicResources.name, passes, f"have {text}", f"has {text}")


def find_devices(view: AttemptView, among: Mask) -> list[Finding]:
    elsewhere = among & view.with_reason(DynamicResources.name, CLAIM_ELSEWHERE.reasons[0])
    found = list(_find_held_elsewhere(view, elsewhere)) if elsewhere.any() else []
    invalid = among & view.with_reason(DynamicResources.name, INVALID.reasons[0])
    if invalid.any():
        found.extend(_find_invalid(view, invalid))
    left = among & ~elsewhere & ~invalid
    for finding in find_claimed_resources(view, left):
        found.append(finding)
        left &= ~finding.nodes
    if left.any():
        found.extend(_find_unserved(view, left))
        found.extend(find_extended_shortages(view, left))
    return found


def _find_held_elsewhere(view: AttemptView, among: Mask) -> Iterator[Finding]:
    for claim in claims_of_pod(view.cluster, view.pod):
        allocation = claim.status.allocation
        if allocation is None or allocation.node_selector is None:
            continue
        wanted = terms_text(parse_node_selector(allocation.node_selector))
        devices = join_words(
            f"{r.driver}/{r.pool}/{r.device}" for r in (allocation.devices.results or ())[:3]
        )
        clause = f"ResourceClaim {claim_key(claim)} holds {devices}, to be used with {wanted} only"
        yield Finding(
            "resource-claim-elsewhere",
            claim_key(claim),
            among,
            clause,
            f"ResourceClaim {claim_key(claim)} can only be used with {wanted}",
            facts={"claim": claim_key(claim), "nodeSelector": wanted},
        )


def _supply_of(view: AttemptView) -> Supply:
    return Supply.of(view.cluster, InventoryRules.of(view.gates))


def _find_invalid(view: AttemptView, among: Mask) -> Iterator[Finding]:
    pools: dict[str, None] = {}
    supply = _supply_of(view)
    for position in view.positions(among):
        for pool in supply.pools_of(int(view.rows[position])).pools:
            if pool.invalid:
                pools[str(pool)] = None
    text = f"the slices of resource pool {some(list(pools))} contradict each other"
    yield Finding("device-pool-invalid", ",".join(pools), among, text, text)


def _find_unserved(view: AttemptView, among: Mask) -> Iterator[Finding]:
    """The first request that cannot be served, or constraints if each alone can."""
    supply = _supply_of(view)
    supply.refresh()
    stock: Stock = {}
    for position in view.positions(among):
        try:
            stock[position] = supply.pools_of(int(view.rows[position])).sequence
        except GatherError:
            continue
    find_class = lambda name: view.catalog.get(DeviceClass, name)  # noqa: E731
    pending = [c for c in claims_of_pod(view.cluster, view.pod) if c.status.allocation is None]
    for claim in pending:
        for alternatives in requests_of(claim, find_class, view.gates).requests:
            found = [_find_shortage(view, request, stock, among) for request in alternatives]
            if all(found) and found[0] is not None:
                yield found[0]
                return
    for claim in pending:
        if claim.spec.devices.constraints:
            yield _find_constraint(claim, among)
            return
    if pending:
        names = join_words(claim_key(claim) for claim in pending)
        text = f"no node has devices for ResourceClaim {names} at once"
        yield Finding("too-few-devices", names, among, text, text)


def _find_constraint(claim: ResourceClaim, among: Mask) -> Finding:
    written = claim.spec.devices.constraints or ()
    told = join_words(
        f"matchAttribute {c.match_attribute}"
        if c.match_attribute
        else f"distinctAttribute {c.distinct_attribute}"
        for c in written
    )
    text = (
        f"ResourceClaim {claim_key(claim)} has devices to choose from on a node, but none that"
        f" agree with its constraint {told}"
    )
    return Finding("device-constraint", claim_key(claim), among, text, text)


def _find_shortage(
    view: AttemptView, request: ClaimRequest, stock: Stock, among: Mask
) -> Finding | None:
    """Why no node of the stock can serve a request; None if some node can."""
    devices = {entry.id: entry for entries in stock.values() for entry in entries}
    of_class = {i: e for i, e in devices.items() if _in_class(request, e)}
    where = f"request {request.full_name} of ResourceClaim {request.claim}"

    def make_finding(code: str, subject: str, text: str) -> Finding:
        return Finding(code, subject, among, text, text, facts={"claim": request.claim})

    if not of_class:
        return make_finding("no-devices", request.claim, _no_devices(view, request, devices, where))
    failing: Counter[str] = Counter()
    chosen: dict[DeviceId, DeviceEntry] = {}
    for device, entry in of_class.items():
        expression = _failing_selector(request, entry)
        if expression is None:
            chosen[device] = entry
        else:
            failing[expression] += 1
    if not chosen:
        listed = "; ".join(
            f"{n:,} of {len(of_class):,} devices fail at {e}" for e, n in failing.most_common(3)
        )
        return make_finding("device-selector", next(iter(failing)), f"{where}: {listed}")
    untainted = {i: e for i, e in chosen.items() if _is_tolerated(request, e)}
    if not untainted:
        taints = dict.fromkeys(
            f"{t.key}{'=' if t.value else ''}{t.value or ''}:{t.effect}"
            for e in chosen.values()
            for t in e.content.blocking_taints
        )
        text = f"{where}: {_all(len(chosen))} taint {join_words(taints)}"
        return make_finding("device-taint", ",".join(taints), text)
    held = ClaimState.of(view.cluster).devices
    free = {i for i in untainted if request.admin or not held.is_dedicated(i)}
    if not free:
        holders = _holders(view, set(untainted))
        text = (
            f"{where}: {_all(len(untainted), 'is', 'are')} allocated, to"
            f" {'ResourceClaim' if len(holders) == 1 else 'ResourceClaims'} {some(holders)}"
        )
        return make_finding("devices-allocated", ",".join(holders[:20]), text)
    most = max(sum(e.id in free for e in entries) for entries in stock.values())
    if request.mode != ALL and most < request.count:
        taken = len(untainted) - len(free)
        text = f"{where} asks for {count(request.count, 'device')}; the best node has {most} free"
        text += f" ({taken:,} of {len(untainted):,} that match are allocated)" if taken else ""
        return make_finding("too-few-devices", request.claim, text)
    return None


def _all(number: int, singular: str = "has", plural: str = "have") -> str:
    if number == 1:
        return f"the only device that matches {singular}"
    return f"all {number:,} devices that match {plural}"


def _no_devices(
    view: AttemptView, request: ClaimRequest, devices: dict[DeviceId, DeviceEntry], where: str
) -> str:
    """No device passes the selectors of the class."""
    class_ = request.class_
    if class_ is None:
        return f"{where} asks for a DeviceClass that does not exist"
    name = class_.metadata.name
    if not devices:
        nodes = "these nodes" if view.introduced else "any node"
        return f"{where} asks for DeviceClass {name}; no driver has published devices of {nodes}"
    expressions = [s.cel.expression for s in class_.spec.selectors or () if s.cel is not None]
    text = f"{where}: none of {count(len(devices), 'device')} is of DeviceClass {name}"
    text += f" ({' && '.join(expressions)})" if expressions else ""
    drivers = sorted({device.driver for device in devices})
    return f"{text}; there are devices of {join_words(drivers)}"


def _in_class(request: ClaimRequest, entry: DeviceEntry) -> bool:
    selectors = request.class_.spec.selectors if request.class_ is not None else None
    return all(
        selector.cel is None or _matches(entry, selector.cel.expression)
        for selector in selectors or ()
    )


def _failing_selector(request: ClaimRequest, entry: DeviceEntry) -> str | None:
    """The first selector of the request that a device does not pass."""
    for selector in request.selectors:
        if selector.cel is not None and not _matches(entry, selector.cel.expression):
            return selector.cel.expression
    return None


def _matches(entry: DeviceEntry, expression: str) -> bool:
    try:
        return entry.content.matches(expression)
    except DeviceSelectorError:
        return False


def _is_tolerated(request: ClaimRequest, entry: DeviceEntry) -> bool:
    return all_tolerated(entry.content.blocking_taints, request.tolerations or ())


def _holders(view: AttemptView, devices: set[DeviceId]) -> list[str]:
    """The claims that have some devices."""
    return [
        claim_key(claim)
        for claim in sorted(view.catalog.all(ResourceClaim), key=claim_key)
        if claim.status.allocation is not None
        and any(
            DeviceId(r.driver, r.pool, r.device) in devices
            for r in claim.status.allocation.devices.results or ()
        )
    ]


def explain_claims(cluster: Cluster, gates: FeatureGates, pod: Pod) -> RefusalCause | None:
    """The first thing that is wrong with the claims of a pod, whatever the node."""
    return find_device_claim_problem(cluster, gates, pod) or find_device_class_problem(cluster, pod)


def find_device_claim_problem(
    cluster: Cluster, gates: FeatureGates, pod: Pod
) -> RefusalCause | None:
    """The first claim of the pod that is not there, or not for it."""
    namespace = pod.metadata.namespace
    made = {s.name: s.resource_claim_name for s in pod.status.resource_claim_statuses or ()}
    for reference in pod.spec.resource_claims or ():
        template = reference.resource_claim_template_name
        name = reference.resource_claim_name
        if name is None:
            if reference.name not in made:
                return _not_created(namespace, reference.name, template)
            name = made[reference.name]
            if name is None:
                continue
        problem = _claim_problem(
            cluster, gates, pod, f"{namespace}/{name}", owned=template is not None
        )
        if problem is not None:
            return problem
    return None


def find_device_class_problem(cluster: Cluster, pod: Pod) -> RefusalCause | None:
    """The first claim that asks for a class that does not exist, or is being allocated."""
    claims = ClaimState.of(cluster)
    for claim in claims_of_pod(cluster, pod):
        if claim.status.allocation is not None:
            continue
        if claims.is_pending(claim.metadata.uid):
            text = f"ResourceClaim {claim_key(claim)} is being allocated for another pod"
            return _cause("resource-claim-pending", claim_key(claim), text)
        for request in claim.spec.devices.requests or ():
            parts = (request.exactly,) if request.exactly else (request.first_available or ())
            for part in parts:
                name = part.device_class_name
                if cluster.catalog.get(DeviceClass, name) is None:
                    known = sorted(c.metadata.name for c in cluster.catalog.all(DeviceClass))
                    text = (
                        f"DeviceClass {name}, which request {request.name} of ResourceClaim"
                        f" {claim_key(claim)} asks for, does not exist"
                    )
                    text += f"; there {_are(len(known))} {', '.join(known[:10])}" if known else ""
                    return _cause("device-class-missing", name, text)
    return None


def claims_of_pod(cluster: Cluster, pod: Pod) -> list[ResourceClaim]:
    """The claims of a pod that exist, in its order."""
    made = {s.name: s.resource_claim_name for s in pod.status.resource_claim_statuses or ()}
    found = []
    for reference in pod.spec.resource_claims or ():
        name = reference.resource_claim_name or made.get(reference.name)
        claim = ClaimState.of(cluster).find(pod.metadata.namespace, name) if name else None
        if claim is not None:
            found.append(claim)
    return found


def _claim_problem(
    cluster: Cluster, gates: FeatureGates, pod: Pod, key: str, *, owned: bool
) -> RefusalCause | None:
    namespace, _, name = key.partition("/")
    claim = cluster.catalog.get(ResourceClaim, name, namespace)
    if claim is None:
        return _cause("resource-claim-missing", key, f"ResourceClaim {key} does not exist")
    if claim.metadata.deletion_timestamp is not None:
        return _cause("resource-claim-deleting", key, f"ResourceClaim {key} is being deleted")
    of_groups = gates["DRAWorkloadResourceClaims"]
    if owned and not is_made_for(claim, pod, of_groups=of_groups):
        text = f"ResourceClaim {key} was not made for this pod, which it has to be"
        return _cause("resource-claim-not-owned", key, text)
    return None


def _not_created(namespace: str, entry: str, template: str | None) -> RefusalCause:
    if template is None:
        text = f"entry {entry} of its resourceClaims names neither a claim nor a template"
    else:
        text = (
            f"the ResourceClaim for entry {entry} of its resourceClaims has not been made from"
            f" ResourceClaimTemplate {namespace}/{template}"
        )
    return _cause("resource-claim-not-created", f"{namespace}/{template or entry}", text)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _cause(code: str, subject: str, text: str) -> RefusalCause:
    return RefusalCause(code, subject, sentence([text]), {"object": subject}, keeps_message=True)


def find_extended_shortages(view: AttemptView, among: Mask) -> Iterator[Finding]:
    """One finding for each resource of which no node has enough free devices."""
    if not view.gates["DRAExtendedResource"]:
        return
    classes = ExtendedResourceClasses(view.catalog)
    for resource, asked in (extended_requests(view.pod, classes) or {}).items():
        device_class = classes.find(resource)
        if device_class is None:
            continue
        total, used = (column[view.rows] for column in _supply_of(view).counts(device_class))
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
