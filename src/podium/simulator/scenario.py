"""A cluster and the pods that wait for a place in it: what a simulation starts from.

Reading is done in the order in which the real cluster would see things: files become objects,
controllers make their pods, the API server fills in what was left out and refuses what is wrong.
All problems of all steps are raised together and nothing is half done.

Objects that were read from a cluster (`stored`) join behind all that: they have been admitted, and
controllers are at work for them. Files beside them are what somebody would apply to that cluster.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from msgspec.structs import replace

from podium.golang.documents import Document
from podium.golang.errors import InputError, ObjectError
from podium.kubernetes.kinds.typed_objects import KINDS
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct, ObjectMeta
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.rules.old_node_labels import missing_old_labels
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import Namespace, PodDisruptionBudget
from podium.engine.garbage import uncollected
from podium.framework.watched_kind import WatchedKind
from podium.simulator.admission import DEFAULT_NAMESPACE, Admission, assign_uid, is_stored
from podium.simulator.cluster_dump import HOW_TO_DUMP
from podium.simulator.cluster_rules import LimitRange, RuntimeClass
from podium.simulator.disruptions import count_budget, scales_of
from podium.simulator.inputs import Inputs, Item, Validation, read_inline, read_inputs
from podium.simulator.node_conditions import taint_by_conditions
from podium.simulator.pod_claims import ClaimMaker
from podium.simulator.problems import Problems
from podium.simulator.validation import problems_of
from podium.simulator.volumes import provision_at_once
from podium.simulator.workloads import Controllers
from podium.kubernetes.rules.disruptions import Scale
from podium.kubernetes.controllers.workloads import DaemonSet, Deployment, Job, Workload

_FINISHED = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class Scenario:
    """`pending` is in order of arrival, which is the order of the input. `kinds` are those that the
    input has objects or an empty list of, None if nobody knows; `unread` are those that a cluster
    did not show, and why."""

    nodes: tuple[Node, ...]
    running: tuple[Pod, ...]
    pending: tuple[Pod, ...]
    objects: tuple[KubeStruct, ...] = ()
    notes: tuple[str, ...] = ()
    kinds: frozenset[str] | None = None
    unread: Mapping[str, str] = field(default_factory=dict)
    workloads: tuple[Workload, ...] = ()
    """The controllers' objects that the input has: how many pods they want, and how they replace
    them."""
    old_spellings: tuple[str, ...] = ()
    """What files have as in earlier releases, and what to write today."""


@uncollected()
def load_scenario(
    paths: Sequence[str],
    *,
    validation: Validation = Validation.STRICT,
    on_file: Callable[[str], None] = lambda _: None,
    namespace: str = DEFAULT_NAMESPACE,
    stored: Sequence[KubeObject] = (),
    unread: Mapping[str, str] = MappingProxyType({}),
    watched: Sequence[WatchedKind] = (),
    takes_old: bool = True,
) -> Scenario:
    """Read files into a scenario, on top of objects that a cluster has `stored`, of which it did
    not show the `unread` kinds; `namespace` is that of objects that name none, `watched` are kinds
    that plugins read beside the rest. Without `takes_old`, what is written as in earlier releases
    is refused. Raises InputError with everything that is wrong."""
    if not paths and not stored:
        raise InputError("no input", remedy="give files, directories or - with -f")
    problems = Problems()
    inputs = read_inputs(
        paths,
        validation=validation,
        problems=problems,
        on_file=on_file,
        watched=watched,
        takes_old=takes_old,
    )
    scenario = _assemble(inputs, namespace, stored, problems)
    if not stored:
        _refuse_empty(scenario, inputs, paths)
    shown = {kind for _, kind in KINDS} - unread.keys() if stored else set()
    return dataclasses.replace(
        scenario,
        kinds=frozenset({*inputs.kinds, *shown}),
        unread=dict(unread),
        old_spellings=tuple(map(str, inputs.old_spellings)),
    )


def read_inline_scenario(
    documents: Iterable[Document],
    *,
    namespace: str = DEFAULT_NAMESPACE,
    stored: Sequence[KubeObject] = (),
) -> Scenario:
    """The same from objects that stand inside of other documents; nodes may be missing. Raises
    InputError with everything that is wrong."""
    problems = Problems()
    inputs = read_inline(documents, problems)
    return _assemble(inputs, namespace, stored, problems)


def _assemble(
    inputs: Inputs, namespace: str, stored: Sequence[KubeObject], problems: Problems
) -> Scenario:
    items = _with_old_labels(inputs.items, inputs.old_labels)
    entries = _unique(_identify(items, namespace), problems)
    _refuse_invalid(entries, problems)
    stored, notes = _without_replaced(stored, entries)
    objects, made = _populate(entries, stored, problems)
    problems.raise_if_any()
    scales = scales_of(entry.value for entry in entries)
    written = [entry.value for entry in entries]
    workloads = [value for value in (*stored, *written) if isinstance(value, Workload)]
    scenario = _sort_out([*stored, *objects], scales, [*_notes_on(inputs), *notes, *made])
    return dataclasses.replace(scenario, workloads=tuple(workloads))


def _with_old_labels(items: list[Item], keys: Collection[str]) -> list[Item]:
    """The objects, with nodes that have the labels that pods name by their old names too."""
    if not keys:
        return items
    return [Item(item.document, _with_labels(item.value, keys)) for item in items]


def _with_labels(value: KubeObject | Workload, keys: Collection[str]) -> KubeObject | Workload:
    if not isinstance(value, Node) or is_stored(value):
        return value
    labels = value.metadata.labels or {}
    more = missing_old_labels(labels, keys)
    return replace(value, metadata=replace(value.metadata, labels={**labels, **more}))


def _without_replaced(
    stored: Sequence[KubeObject], items: list[Item]
) -> tuple[Sequence[KubeObject], list[str]]:
    """What a cluster has but for the objects that files have in another form."""
    written = {(type(item.value), item.value.metadata.key) for item in items}
    if not stored or not written:
        return stored, []
    kept = [obj for obj in stored if (type(obj), obj.metadata.key) not in written]
    replaced = len(stored) - len(kept)
    if not replaced:
        return stored, []
    return kept, [f"taken from the files instead of the cluster: {_count(replaced, 'object')}"]


def _identify(items: Iterable[Item], namespace: str) -> list[Item]:
    """The objects with namespaces and UIDs; a UID that was copied along is not used again."""
    found: list[Item] = []
    uids: set[str] = set()
    for item in items:
        value = assign_uid(item.value, namespace)
        if value.metadata.uid in uids:
            value = assign_uid(replace(value, metadata=replace(value.metadata, uid="")))
        uids.add(value.metadata.uid)
        found.append(Item(item.document, value))
    return found


def _unique(items: list[Item], problems: Problems) -> list[Item]:
    """The objects without those that another one stands for already."""
    first: dict[tuple[type, str], Item] = {}
    for item in items:
        held = first.setdefault((type(item.value), _key(item.value)), item)
        if held is not item:
            problem = f"{item.value.kind} {_key(item.value)} is there twice"
            at = held.document.place
            problems.add(item.document.error(problem, remedy=f"the first one is in {at}"))
    return list(first.values())


def _refuse_invalid(items: list[Item], problems: Problems) -> None:
    for item in items:
        if is_stored(item.value):
            continue
        for problem in problems_of(item.value):
            with problems.of(item.document):
                raise problem


def _populate(
    items: list[Item], stored: Sequence[KubeObject], problems: Problems
) -> tuple[list[KubeObject], list[str]]:
    """The objects of the files after controllers and API server have done their part, in a cluster
    that has some already."""
    if not items:
        return [], []
    values = [*stored, *(item.value for item in items)]
    controllers = Controllers(
        [value for value in values if isinstance(value, Pod)],
        [value for value in values if isinstance(value, Workload)],
        [value for value in values if isinstance(value, Node)],
    )
    admission, claims = Admission(values), ClaimMaker(values)
    objects: list[KubeObject] = []
    made_by: dict[str, list[int]] = {}

    def add(obj: KubeObject) -> None:
        if isinstance(obj, Pod) and obj.status.phase not in _FINISHED:
            obj, made = claims.make(obj)
            objects.extend(admission.admit(assign_uid(claim)) for claim in made)
        objects.append(admission.admit(obj))

    for item in items:
        value = item.value
        if isinstance(value, LimitRange | RuntimeClass):
            continue
        with problems.of(item.document):
            if not isinstance(value, Workload):
                add(value)
                continue
            made = controllers.make(value)
            if made.pods:
                made_by.setdefault(value.kind, []).append(len(made.pods))
            try:
                for obj in (*made.objects, *made.pods):
                    add(obj)
            except ObjectError as problem:
                path = f"spec.template.{problem.path}"
                raise ObjectError(path, problem.problem, problem.remedy) from None
    notes = [
        f"{_count(sum(pods), 'pod')} made from {_count(len(pods), kind)}"
        for kind, pods in made_by.items()
    ]
    notes += [
        f"RuntimeClass {name} is not in the input: its overhead, node selector and tolerations are"
        f" not applied to {_count(pods, 'pod')}"
        for name, pods in sorted(admission.rules.unknown_classes.items())
    ]
    return objects, notes


def _sort_out(objects: Iterable[KubeObject], scales: Scale, notes: list[str]) -> Scenario:
    nodes: list[Node] = []
    running: list[Pod] = []
    pending: list[Pod] = []
    others: list[KubeObject] = []
    finished = 0
    for obj in objects:
        match obj:
            case Node():
                nodes.append(obj)
            case Pod() if obj.status.phase in _FINISHED:
                finished += 1
            case Pod() if obj.spec.node_name:
                running.append(obj)
            case Pod():
                pending.append(obj)
            case Deployment() | DaemonSet() | Job():
                pass  # what they ask for is in their pods
            case _:
                others.append(obj)
    nodes, tainted = taint_by_conditions(nodes)
    notes += tainted
    if finished:
        notes.append(f"left out because they have finished: {_count(finished, 'pod')}")
    known = {node.metadata.name for node in nodes}
    strays = Counter(pod.spec.node_name for pod in running if pod.spec.node_name not in known)
    if strays:
        names = ", ".join(sorted(strays)[:3]) + (", ..." if len(strays) > 3 else "")
        notes.append(
            f"{_count(strays.total(), 'pod')} on nodes that are not in the input ({names})"
        )
    others = [
        count_budget(obj, [*running, *pending], scales)
        if isinstance(obj, PodDisruptionBudget)
        else obj
        for obj in others
    ]
    others = provision_at_once(others)
    others.extend(_implied_namespaces(others, [*running, *pending]))
    return Scenario(tuple(nodes), tuple(running), tuple(pending), tuple(others), tuple(notes))


def _implied_namespaces(objects: list[KubeObject], pods: Iterable[Pod]) -> list[KubeObject]:
    """Namespaces that pods live in and nobody wrote down; selectors can match their names."""
    known = {obj.metadata.name for obj in objects if isinstance(obj, Namespace)}
    admission = Admission(())
    return [
        admission.admit(assign_uid(Namespace(metadata=ObjectMeta(name=name))))
        for name in sorted({pod.metadata.namespace for pod in pods} - known)
    ]


def _notes_on(inputs: Inputs) -> list[str]:
    notes = list(inputs.warnings)
    if inputs.passed_over:
        listed = ", ".join(f"{kind} ({count})" for kind, count in inputs.passed_over.most_common())
        notes.append(f"not read, since scheduling does not depend on them: {listed}")
    if inputs.helm_tests:
        listed = ", ".join(f"{kind} ({count})" for kind, count in inputs.helm_tests.most_common())
        notes.append(f"left out, since Helm makes them for tests only: {listed}")
    return notes


def _refuse_empty(scenario: Scenario, inputs: Inputs, paths: Sequence[str]) -> None:
    remedy = HOW_TO_DUMP
    if not inputs.items:
        raise InputError("no objects in the input", source=", ".join(paths), remedy=remedy)
    if not scenario.nodes:
        raise InputError("no nodes in the input", remedy=remedy)


def _key(obj: KubeObject) -> str:
    return f"{obj.namespace}/{obj.name}" if obj.namespace else obj.name


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
