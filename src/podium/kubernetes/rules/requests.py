"""How much of each resource a pod asks for, in the variants the scheduler needs.

Filtering, accounting on nodes and scoring each look at a pod's requests with other options, and
the differences decide placements, so the options are arguments of one walk over the containers
(`staging/src/k8s.io/component-helpers/resource/helpers.go`) and the named variants below fix them.

Contract: sums and maxima are exact, in units of 10^-9; rounding happens once per pod and resource,
in `to_vector`. What does not fit an int64 then is what upstream makes of it (`quantity.Amount`).
Limits are never read: the API server has copied them into missing requests already.

Worked example: containers {cpu 1, memory 1Gi} and {cpu 500m}; init containers {cpu 2}, a sidecar
{cpu 300m, memory 100Mi} and {cpu 1500m, memory 2Gi}; overhead {cpu 50m, memory 10Mi}. Running:
1800m, 1124Mi. Starting: 2000m; 300m, 100Mi; 1800m, 2148Mi. Together: 2050m and 2158Mi.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from podium.golang.arithmetic import INT64_MAX
from podium.golang.document_structs import Unit
from podium.kubernetes.kinds.meta import Quantity, ResourceList
from podium.kubernetes.kinds.pod import Container, ContainerStatus, Pod, ResourceRequirements
from podium.kubernetes.rules.labels import key_problems
from podium.kubernetes.rules.quantity import (
    NANO_PER_MILLI,
    NANO_PER_UNIT,
    Amount,
    amount_of,
    milli_of_nano,
    milli_value,
    nano,
    value,
    value_of_nano,
)

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"
UNITS: Final[Mapping[str, Unit]] = {CPU: "milli", MEMORY: "bytes", EPHEMERAL_STORAGE: "bytes"}
"""What numbers of resources count in documents; of all others they count pieces."""

DEFAULT_CPU_MILLI = 100
DEFAULT_MEMORY_BYTES = 209715200
"""What a container without a request counts for in scoring, so that such pods spread too."""

_SCORING_DEFAULTS: Mapping[str, int] = {
    CPU: Amount(DEFAULT_CPU_MILLI * NANO_PER_MILLI, -3),
    MEMORY: Amount(DEFAULT_MEMORY_BYTES * NANO_PER_UNIT, 0),
}


_KNOWN_NAMES = 1 << 16
"""How many names of resources are distinguished once and for all."""
_MAX_EXACT = INT64_MAX * NANO_PER_MILLI
"""A larger total may not fit an int64 when it is rounded; then the form of its parts counts."""


class RequestRules(NamedTuple):
    """What requests are read from beside the containers, as the gates of these names have it."""

    pod_level: bool = True
    """PodLevelResources: `spec.resources` replaces the sum of the containers."""
    resizes: bool = True
    """InPlacePodVerticalScaling: what a node has given to a container counts."""
    pod_level_resizes: bool = True
    """InPlacePodLevelResourcesVerticalScaling: what a node has given to the whole pod counts."""
    claims: bool = False
    """DRANodeAllocatableResources: what claims take of the node's own resources counts."""


ALL_REQUESTS: Final = RequestRules()


class _Options(NamedTuple):
    """What one walk over a pod's containers looks at; `read` makes an amount of a quantity."""

    status_resources: bool
    rules: RequestRules
    defaults: Mapping[str, int] | None
    claimed: Sequence[ResourceList]
    read: Callable[[Quantity], int]


def pod_requests(
    pod: Pod,
    *,
    status_resources: bool,
    rules: RequestRules,
    defaults: Mapping[str, int] | None = None,
    claimed: Sequence[ResourceList] = (),
) -> dict[str, int]:
    """The pod's total requests in nano units.

    `status_resources` lets a resize in progress count with the larger of what is requested, given
    and in use, as far as the rules let it; `defaults` (in nano units) are used for each container
    that does not mention the name; `claimed` is what claims take, beside the containers.
    """
    options = _Options(status_resources and rules.resizes, rules, defaults, claimed, nano)
    total = _total(pod, options)
    if any(amount > _MAX_EXACT for amount in total.values()):
        return _total(pod, options._replace(read=amount_of))
    return total


def _total(pod: Pod, options: _Options) -> dict[str, int]:
    total = _container_requests(pod, options)
    for resources in options.claimed:
        _add(total, _read(resources, options))
    if options.rules.pod_level and has_pod_level_requests(pod):
        total.update(_pod_level_requests(pod, options))
    _add(total, _read(pod.spec.overhead, options))
    return total


def claimed_resources(pod: Pod, rules: RequestRules) -> tuple[ResourceList, ...]:
    """What claims take for the pod of its node's own resources, as its status tells."""
    if not rules.claims:
        return ()
    statuses = pod.status.node_allocatable_resource_claim_statuses or ()
    return tuple(status.resources for status in statuses if status.resources)


def accounted_requests(pod: Pod, rules: RequestRules) -> dict[str, int]:
    """What a pod takes on its node, in nano units: resizes and claims included."""
    claimed = claimed_resources(pod, rules)
    return pod_requests(pod, status_resources=True, rules=rules, claimed=claimed)


def nonzero_requests(pod: Pod, rules: RequestRules) -> tuple[int, int]:
    """(cpu milli, memory bytes) that a pod on a node counts for in scoring.

    With pod-level requests a default is used only for a name that the whole total lacks; without
    them it is used for every container that lacks the name.
    """
    defaults = _SCORING_DEFAULTS
    if rules.pod_level and has_pod_level_requests(pod):
        total = accounted_requests(pod, rules)
        defaults = {name: amount for name, amount in defaults.items() if name not in total}
    claimed = claimed_resources(pod, rules)
    filled = pod_requests(
        pod, status_resources=True, rules=rules, defaults=defaults, claimed=claimed
    )
    return milli_of_nano(filled.get(CPU, 0)), value_of_nano(filled.get(MEMORY, 0))


def scoring_requests(pod: Pod) -> dict[str, int]:
    """What NodeResourcesFit scores a pending pod with.

    upstream: pod-level requests and a resize are not looked at here, although the same pod once
    placed is accounted with both.
    """
    rules = RequestRules(pod_level=False)
    return to_vector(
        pod_requests(pod, status_resources=False, rules=rules, defaults=_SCORING_DEFAULTS)
    )


def to_vector(nanos: Mapping[str, int], *, include_pods: bool = False) -> dict[str, int]:
    """Nano amounts as the scheduler compares them: cpu in milli, the rest in units, rounded up.

    Names the scheduler does not know are dropped, `pods` too unless asked for.
    """
    return {
        name: milli_of_nano(amount) if name == CPU else value_of_nano(amount)
        for name, amount in nanos.items()
        if _is_counted(name) or (include_pods and name == PODS)
    }


def allocatable_vector(resources: ResourceList | None) -> dict[str, int]:
    """A node's `status.allocatable` in the units of `to_vector`, with `pods` (0 if missing)."""
    vector = {PODS: 0}
    for name, quantity in (resources or {}).items():
        if name == CPU:
            vector[name] = milli_value(quantity)
        elif name == PODS or _is_counted(name):
            vector[name] = value(quantity)
    return vector


@lru_cache(maxsize=_KNOWN_NAMES)
def is_scalar(name: str) -> bool:
    """Whether the scheduler counts the resource beside cpu, memory and ephemeral storage."""
    return (
        "kubernetes.io/" in name
        or name.startswith(("hugepages-", "attachable-volumes-"))
        or is_extended(name)
    )


@lru_cache(maxsize=_KNOWN_NAMES)
def is_extended(name: str) -> bool:
    """Whether the name is an extended resource such as `nvidia.com/gpu`."""
    return (
        "/" in name
        and "kubernetes.io/" not in name
        and not name.startswith("requests.")
        # upstream: the name must also do as the name of a quota.
        and not key_problems(f"requests.{name}")
    )


def unit_of(resource: str) -> Unit:
    return UNITS.get(resource, "count")


def has_pod_level_requests(pod: Pod) -> bool:
    """Whether `spec.resources` requests anything that can be requested for a pod as a whole."""
    resources = pod.spec.resources
    return resources is not None and any(map(_is_pod_level, resources.requests or ()))


def _is_pod_level(name: str) -> bool:
    return name in (CPU, MEMORY) or name.startswith("hugepages-")


def _is_counted(name: str) -> bool:
    return name in (CPU, MEMORY, EPHEMERAL_STORAGE) or is_scalar(name)


def _container_requests(pod: Pod, options: _Options) -> dict[str, int]:
    defaults = options.defaults
    statuses = _statuses(pod) if options.status_resources else {}
    infeasible = bool(statuses) and resize_is_infeasible(pod)

    def read_requests(container: Container, status: ContainerStatus | None) -> dict[str, int]:
        spec = _requests(container.resources, options)
        if status is not None and status.resources is not None:
            allocated = status.allocated_resources
            spec = _in_effect(spec, status.resources, allocated, infeasible, options)
        return {**defaults, **spec} if defaults else spec

    running: dict[str, int] = {}
    for container in pod.spec.containers or ():
        _add(running, read_requests(container, statuses.get(container.name)))
    if not pod.spec.init_containers:
        return running

    sidecars: dict[str, int] = {}
    starting: dict[str, int] = {}
    for container in pod.spec.init_containers:
        if container.restart_policy == "Always":
            amounts = read_requests(container, statuses.get(container.name))
            _add(running, amounts)
            _add(sidecars, amounts)
            _raise(starting, sidecars)
        else:
            # An ordinary init container is never resized, so its status does not count.
            amounts = read_requests(container, None)
            _add(amounts, sidecars)
            _raise(starting, amounts)
    _raise(running, starting)
    return running


def _pod_level_requests(pod: Pod, options: _Options) -> dict[str, int]:
    """What replaces the containers' sums, for the names written in `spec.resources` only."""
    asked = _requests(pod.spec.resources, options)
    spec = {name: amount for name, amount in asked.items() if _is_pod_level(name)}
    status = pod.status
    counted = options.status_resources and options.rules.pod_level_resizes
    if not counted or status.resources is None:
        return spec
    infeasible = resize_is_infeasible(pod)
    effective = _in_effect(spec, status.resources, status.allocated_resources, infeasible, options)
    # upstream: a name that an infeasible resize brought in is replaced by nothing at all.
    return {name: effective.get(name, 0) for name in spec}


def _in_effect(
    spec: dict[str, int],
    actuated: ResourceRequirements,
    allocated: ResourceList | None,
    infeasible: bool,
    options: _Options,
) -> dict[str, int]:
    """What counts during a resize: an infeasible one leaves out what the spec asks for."""
    amounts = {} if infeasible else dict(spec)
    _raise(amounts, _requests(actuated, options))
    _raise(amounts, _read(allocated, options))
    return amounts


def resize_is_infeasible(pod: Pod) -> bool:
    """Whether the node has said that it will never have room for what the pod is to become."""
    for condition in pod.status.conditions or ():
        if condition.type == "PodResizePending":
            return condition.reason == "Infeasible"
    return False


def _statuses(pod: Pod) -> dict[str, ContainerStatus]:
    status = pod.status
    listed = (*(status.container_statuses or ()), *(status.init_container_statuses or ()))
    return {container.name: container for container in listed}


def _requests(resources: ResourceRequirements | None, options: _Options) -> dict[str, int]:
    return {} if resources is None else _read(resources.requests, options)


def _read(resources: ResourceList | None, options: _Options) -> dict[str, int]:
    if not resources:
        return {}
    read = options.read
    return {name: read(quantity) for name, quantity in resources.items()}


def _add(total: dict[str, int], amounts: Mapping[str, int]) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount


def _raise(total: dict[str, int], amounts: Mapping[str, int]) -> None:
    for name, amount in amounts.items():
        if amount > total.get(name, -1):
            total[name] = amount
