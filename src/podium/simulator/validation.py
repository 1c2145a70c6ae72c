"""What an API server would refuse, as far as it concerns where pods go.

The scheduler can rely on objects having been validated; a file has not been. A selector that
cannot be parsed or a taint without an effect would turn into an odd decision or an error in the
middle of a run, so it is told here, with the path to the field. Objects that a server has stored
passed its validation and are not looked at.
"""

from collections.abc import Iterator, Sequence

import msgspec

from podium.golang.errors import ObjectError
from podium.golang.field_paths import join
from podium.kubernetes.rules.label_syntax import key_problems, value_problems
from podium.kubernetes.rules.labels import SelectorError, selector_of
from podium.kubernetes.kinds.meta import KubeObject, LabelSelector, ObjectMeta, ResourceList
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.rules.node_affinity import NodeSelectorError, parse_node_selector, preferred_of
from podium.kubernetes.kinds.pod import (
    Affinity,
    Container,
    NodeAffinity,
    Pod,
    PodAffinity,
    PodSpec,
    ResourceRequirements,
    Toleration,
    TopologySpreadConstraint,
)
from podium.kubernetes.rules.quantity import nano
from podium.kubernetes.kinds.workloads import PriorityClass
from podium.simulator.templates import read_template
from podium.kubernetes.controllers.workloads import Workload
from podium.kubernetes.rules.priorities import MAX_USER_PRIORITY, SYSTEM_PRIORITIES

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("Equal", "Exists", "Lt", "Gt")

_COUNTS = ("replicas", "completions", "parallelism", "minReadySeconds")
_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1

Problems = Iterator[ObjectError]


def problems_of(obj: KubeObject) -> Problems:
    """Everything that is wrong with an object that somebody wrote."""
    if not isinstance(obj, Pod | Node | PriorityClass | Workload):
        return
    yield from _labels(obj.metadata.labels, "metadata.labels")
    match obj:
        case Pod():
            yield from _pod_spec(obj.spec, "spec")
        case Node():
            yield from _node(obj)
        case PriorityClass():
            yield from _priority_class(obj)
        case _:
            yield from _counts(obj)
            template = read_template(obj.spec.template)
            yield from _template(template.metadata, template.spec)


def _counts(workload: Workload) -> Problems:
    """Numbers that a server decodes as int32, and so refuses if they are larger."""
    spec = msgspec.to_builtins(workload.spec)
    ordinals = spec.get("ordinals") or {}
    counted = {f"spec.{name}": spec.get(name) for name in _COUNTS}
    for path, value in {**counted, "spec.ordinals.start": ordinals.get("start")}.items():
        if isinstance(value, int) and not _INT32_MIN <= value <= _INT32_MAX:
            yield ObjectError(path, f"{value} does not fit 32 bits", "Kubernetes refuses it too")
        elif isinstance(value, int) and value < 0:
            yield ObjectError(path, f"{value} is negative", "write 0 or more")


def _template(metadata: ObjectMeta, spec: PodSpec) -> Problems:
    yield from _labels(metadata.labels, "spec.template.metadata.labels")
    yield from _pod_spec(spec, "spec.template.spec")


def _pod_spec(spec: PodSpec, path: str) -> Problems:
    if not spec.containers:
        yield ObjectError(join(path, "containers"), "is missing", "a pod needs a container")
    for kind, containers in (
        ("containers", spec.containers),
        ("initContainers", spec.init_containers),
    ):
        for index, container in enumerate(containers or ()):
            yield from _container(container, join(path, f"{kind}[{index}]"))
    yield from _resources(spec.resources, join(path, "resources"))
    yield from _labels(spec.node_selector, join(path, "nodeSelector"))
    yield from _affinity(spec.affinity, join(path, "affinity"))
    for index, toleration in enumerate(spec.tolerations or ()):
        yield from _toleration(toleration, join(path, f"tolerations[{index}]"))
    for index, constraint in enumerate(spec.topology_spread_constraints or ()):
        at = join(path, f"topologySpreadConstraints[{index}]")
        yield from _spread(constraint, at)
    yield from _one_of(
        spec.preemption_policy, ("PreemptLowerPriority", "Never"), join(path, "preemptionPolicy")
    )
    if spec.scheduling_gates and spec.node_name:
        problem = "cannot be set while there are schedulingGates"
        yield ObjectError(join(path, "nodeName"), problem)


def _container(container: Container, path: str) -> Problems:
    yield from _resources(container.resources, join(path, "resources"))
    for index, port in enumerate(container.ports or ()):
        if not 0 <= port.host_port <= 65535:
            at = join(path, f"ports[{index}].hostPort")
            yield ObjectError(at, f"{port.host_port} is not a port", "ports are 1 to 65535")


def _resources(resources: ResourceRequirements | None, path: str) -> Problems:
    if resources is None:
        return
    limits = resources.limits or {}
    yield from _amounts(limits, join(path, "limits"))
    yield from _amounts(resources.requests, join(path, "requests"))
    for name, request in (resources.requests or {}).items():
        if name in limits and nano(request) > nano(limits[name]):
            problem = f"{name} {request} is more than the limit of {limits[name]}"
            yield ObjectError(join(path, "requests"), problem)


def _amounts(amounts: ResourceList | None, path: str) -> Problems:
    for name, amount in (amounts or {}).items():
        if nano(amount) < 0:
            yield ObjectError(path, f"{name} is {amount}, and amounts cannot be negative")


def _labels(labels: dict[str, str] | None, path: str) -> Problems:
    for key, value in (labels or {}).items():
        if wrong := key_problems(key):
            yield ObjectError(f'{path}["{key}"]', f"the key is invalid: {'; '.join(wrong)}")
        if wrong := value_problems(value):
            yield ObjectError(f'{path}["{key}"]', f'value "{value}": {"; ".join(wrong)}')


def _affinity(affinity: Affinity | None, path: str) -> Problems:
    if affinity is None:
        return
    yield from _node_affinity(affinity.node_affinity, join(path, "nodeAffinity"))
    yield from _pod_affinity(affinity.pod_affinity, join(path, "podAffinity"))
    yield from _pod_affinity(affinity.pod_anti_affinity, join(path, "podAntiAffinity"))


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _node_affinity(affinity: NodeAffinity | None, path: str) -> Problems:
    if affinity is None:
        return
    required = affinity.required_during_scheduling_ignored_during_execution
    at = join(path, _REQUIRED)
    if required is not None and not required.node_selector_terms:
        yield ObjectError(join(at, "nodeSelectorTerms"), "is missing", "give at least one term")
    try:
        if required is not None:
            parse_node_selector(required, strict=True)
    except NodeSelectorError as problem:
        yield _below(at, problem)
    preferred = affinity.preferred_during_scheduling_ignored_during_execution or ()
    at = join(path, _PREFERRED)
    try:
        preferred_of(preferred)
    except NodeSelectorError as problem:
        yield _below(at, problem)
    yield from _weights([entry.weight for entry in preferred], at)


def _below(path: str, problem: NodeSelectorError) -> ObjectError:
    """A problem whose text opens with the rest of the path, unless it is a list of several."""
    text = str(problem)
    if text.startswith("[") and text.endswith("]"):
        return ObjectError(path, text)
    rest, _, detail = text.partition(": ")
    return ObjectError(join(path, rest), detail)


def _pod_affinity(affinity: PodAffinity | None, path: str) -> Problems:
    if affinity is None:
        return
    preferred = affinity.preferred_during_scheduling_ignored_during_execution or ()
    terms = [
        (join(path, f"{_REQUIRED}[{index}]"), term)
        for index, term in enumerate(
            affinity.required_during_scheduling_ignored_during_execution or ()
        )
    ] + [
        (join(path, f"{_PREFERRED}[{index}].podAffinityTerm"), entry.pod_affinity_term)
        for index, entry in enumerate(preferred)
    ]
    for at, term in terms:
        yield from _selector(term.label_selector, join(at, "labelSelector"))
        yield from _selector(term.namespace_selector, join(at, "namespaceSelector"))
        if not term.topology_key:
            yield ObjectError(join(at, "topologyKey"), "is missing")
    yield from _weights([entry.weight for entry in preferred], join(path, _PREFERRED))


def _spread(constraint: TopologySpreadConstraint, path: str) -> Problems:
    yield from _selector(constraint.label_selector, join(path, "labelSelector"))
    if constraint.max_skew <= 0:
        yield ObjectError(join(path, "maxSkew"), "must be at least 1")
    if not constraint.topology_key:
        yield ObjectError(join(path, "topologyKey"), "is missing")
    yield from _one_of(
        constraint.when_unsatisfiable,
        ("DoNotSchedule", "ScheduleAnyway"),
        join(path, "whenUnsatisfiable"),
    )


def _selector(selector: LabelSelector | None, path: str) -> Problems:
    try:
        selector_of(selector)
    except SelectorError as problem:
        yield ObjectError(path, str(problem))


def _weights(weights: Sequence[int], path: str) -> Problems:
    for index, weight in enumerate(weights):
        if not 1 <= weight <= 100:
            yield ObjectError(f"{path}[{index}].weight", f"{weight} is not in the range 1 to 100")


def _toleration(toleration: Toleration, path: str) -> Problems:
    yield from _one_of(toleration.operator or None, _OPERATORS, join(path, "operator"))
    yield from _one_of(toleration.effect or None, _EFFECTS, join(path, "effect"))
    if not toleration.key and toleration.operator != "Exists":
        yield ObjectError(join(path, "key"), "is missing", "only operator Exists needs no key")
    if toleration.operator == "Exists" and toleration.value:
        yield ObjectError(join(path, "value"), "must be left out with operator Exists")


def _node(node: Node) -> Problems:
    for index, taint in enumerate(node.spec.taints or ()):
        path = f"spec.taints[{index}]"
        if not taint.key:
            yield ObjectError(f"{path}.key", "is missing")
        yield from _one_of(taint.effect, _EFFECTS, f"{path}.effect")
    yield from _amounts(node.status.allocatable, "status.allocatable")


def _priority_class(entry: PriorityClass) -> Problems:
    name = entry.metadata.name
    if name in SYSTEM_PRIORITIES:
        if entry.value != SYSTEM_PRIORITIES[name]:
            yield ObjectError(
                "value", f"{name} is worth {SYSTEM_PRIORITIES[name]} in every cluster"
            )
    elif entry.value > MAX_USER_PRIORITY:
        yield ObjectError("value", f"{entry.value} is more than {MAX_USER_PRIORITY}")
    yield from _one_of(
        entry.preemption_policy, ("PreemptLowerPriority", "Never"), "preemptionPolicy"
    )


def _one_of(found: str | None, choices: Sequence[str], path: str) -> Problems:
    if found is not None and found not in choices:
        yield ObjectError(path, f'"{found}" is none of {", ".join(choices)}')
