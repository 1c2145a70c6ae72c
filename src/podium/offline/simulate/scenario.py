"""A cluster and the pods that wait for a place in it: what a simulation starts from.

Reading is done in the order in which the real cluster would see things: files become objects, the
API server fills in what was left out and refuses what is wrong, controllers make their pods, which
the server admits in turn. All problems of all steps are raised together and nothing is half done.

Objects that were read from a cluster (`stored`) have been admitted, and controllers are at work for
them. Files beside them are what somebody would apply to that cluster: its classes, limits and
quotas decide about them.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from msgspec.structs import replace

from podium.golang.documents import SourceDocument
from podium.golang.errors import InputError
from podium.golang.json_values import JsonObject
from podium.golang.quoting import go_quote
from podium.kubernetes.admission.rules import NAMESPACES
from podium.kubernetes.controllers.workloads import DaemonSet, Deployment, Job, Workload
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import Workload as PodGroupWorkload
from podium.kubernetes.kinds.storage import StorageClass
from podium.kubernetes.kinds.typed_objects import KINDS
from podium.kubernetes.kinds.workloads import (
    ADMISSION_KINDS,
    LimitRange,
    Namespace,
    PriorityClass,
    ResourceQuota,
    RuntimeClass,
)
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.nodes import missing_old_labels
from podium.kubernetes.status_errors import not_found
from podium.offline.simulate.admission import DEFAULT_NAMESPACE, Admission, assign_uid, is_stored
from podium.offline.simulate.control_plane import ControlPlane
from podium.offline.simulate.input_files import Problems
from podium.offline.simulate.input_kinds import no_matches
from podium.offline.simulate.inputs import (
    FieldValidation,
    Inputs,
    Item,
    OtherItem,
    read_inline,
    read_inputs,
)
from podium.offline.simulate.node_conditions import taint_by_conditions
from podium.offline.simulate.pod_claims import ClaimMaker, provision_at_once
from podium.offline.simulate.read_kinds import HOW_TO_DUMP
from podium.scheduler.engine.garbage import pause_collection
from podium.scheduler.framework.events import WatchedKind

_FINISHED = ("Succeeded", "Failed")
_OF_EVERY_CLUSTER = ("default", "kube-node-lease", "kube-public", "kube-system")
_ADMISSION_ONLY = frozenset(ADMISSION_KINDS.values())
_LOOKED_UP = (
    LimitRange,
    Namespace,
    Node,
    PodGroupWorkload,
    PriorityClass,
    ResourceQuota,
    RuntimeClass,
    StorageClass,
)
"""Kinds that decide about objects of other kinds."""


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
    admission_objects: tuple[KubeObject, ...] = ()
    """Limit ranges, quotas and runtime classes: what decides about pods that come later."""
    refusals: tuple[str, ...] = ()
    """Controllers whose pods the API server does not take, and why; notes have them too."""
    old_spellings: tuple[str, ...] = ()
    """What files have as in earlier releases, and what to write today."""


def admission_of(scenario: Scenario, gates: FeatureGates) -> Admission:
    """The API server of a cluster like this, for those who ask what it would take."""
    objects = [obj for obj in scenario.objects if isinstance(obj, KubeObject)]
    stored = [*objects, *scenario.admission_objects, *scenario.running, *scenario.pending]
    return Admission(gates, stored, knows_classes=False)


@pause_collection()
def load_scenario(
    paths: Sequence[str],
    *,
    gates: FeatureGates,
    validation: FieldValidation = FieldValidation.STRICT,
    on_file: Callable[[str], None] = lambda _: None,
    namespace: str = DEFAULT_NAMESPACE,
    stored: Sequence[KubeObject] = (),
    unread: Mapping[str, str] = MappingProxyType({}),
    watched: Sequence[WatchedKind] = (),
    takes_old: bool = True,
) -> Scenario:
    """Read files into a scenario, on top of objects that a cluster has `stored`, of which it did
    not show the `unread` kinds. `gates` are those of the API server, `namespace` is that of objects
    that name none, `watched` are kinds that plugins read beside the rest. Without `takes_old`, what
    is written as in earlier releases is refused. Raises InputError with everything that is wrong.
    """
    if not paths and not stored:
        raise InputError("no input", remedy="give files, directories or - with -f")
    problems = Problems()
    inputs = read_inputs(
        paths,
        gates=gates,
        validation=validation,
        problems=problems,
        on_file=on_file,
        watched=watched,
        takes_old=takes_old,
    )
    # Files beside a cluster that is read live: its runtime classes are read with it.
    is_live = bool(stored) and bool(paths) and "RuntimeClass" not in unread
    scenario = _assemble(inputs, namespace, stored, problems, gates, watched, knows_classes=is_live)
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
    documents: Iterable[SourceDocument],
    *,
    gates: FeatureGates,
    namespace: str = DEFAULT_NAMESPACE,
    stored: Sequence[KubeObject] = (),
) -> Scenario:
    """The same from objects that are inside of other documents; nodes may be missing. Raises
    InputError with everything that is wrong."""
    problems = Problems()
    inputs = read_inline(documents, problems, gates=gates)
    return _assemble(inputs, namespace, stored, problems, gates)


def _assemble(
    inputs: Inputs,
    namespace: str,
    stored: Sequence[KubeObject],
    problems: Problems,
    gates: FeatureGates,
    watched: Sequence[WatchedKind] = (),
    *,
    knows_classes: bool = False,
) -> Scenario:
    entries = _unique(_identify(inputs.items, namespace), problems)
    stored, notes = _without_replaced(stored, entries)
    is_from_cluster = any(map(is_stored, stored)) or any(
        is_stored(entry.value) for entry in entries
    )
    admission = Admission(
        gates,
        [*stored, *(entry.value for entry in entries if is_stored(entry.value))],
        knows_classes=knows_classes
        or not is_from_cluster
        or "RuntimeClass" in inputs.kinds
        or any(isinstance(obj, RuntimeClass) for obj in stored),
        served=inputs.served,
    )
    known = _namespaces_of(stored, entries)
    entries = _admit(entries, admission, inputs.old_labels, problems)
    _admit_others(inputs.others, admission, namespace, problems)
    objects, made, refused = _populate(entries, stored, admission, problems)
    problems.raise_if_any()
    written = [entry.value for entry in entries]
    workloads = [value for value in (*stored, *written) if isinstance(value, Workload)]
    left_out = _ADMISSION_ONLY - {kind.struct for kind in watched}
    objects = [obj for obj in (*stored, *objects) if type(obj) not in left_out]
    implied = _implied_namespaces_of(inputs, namespace, known)
    notes = [*_notes_on(inputs), *implied, *notes, *made, *refused]
    scenario = _sort_out(objects, notes, gates)
    return dataclasses.replace(
        scenario,
        workloads=tuple(workloads),
        refusals=tuple(refused),
        admission_objects=tuple(obj for obj in (*stored, *written) if type(obj) in _ADMISSION_ONLY),
    )


def _admit(
    entries: list[Item], admission: Admission, old_labels: Collection[str], problems: Problems
) -> list[Item]:
    """The objects as the API server has them, without those that it refuses. What admission looks
    up comes first: in files it may be behind the pods that it is about."""
    admitted: dict[int, Item] = {}
    for at in sorted(range(len(entries)), key=lambda at: not _is_looked_up(entries[at].value)):
        entry = entries[at]
        with problems.of(entry.document):
            value = _with_labels(_admit_entry(entry, admission), old_labels)
            admitted[at] = Item(entry.document, value)
    return [admitted[at] for at in sorted(admitted)]


def _admit_others(
    others: Iterable[OtherItem], admission: Admission, namespace: str, problems: Problems
) -> None:
    """Have the server refuse what it would of the objects that nothing here reads."""
    for each in others:
        with problems.of(each.document):
            metadata = {"namespace": namespace, **(each.written.get("metadata") or {})}
            admission.store({**each.written, "metadata": metadata})


def _is_looked_up(value: KubeObject) -> bool:
    return isinstance(value, _LOOKED_UP)


def _admit_entry(entry: Item, admission: Admission) -> KubeObject:
    value, written = entry.value, entry.written
    if written is None:
        return admission.read_stored(value)
    identity = value.metadata
    named = {"name": identity.name, "namespace": identity.namespace, "uid": identity.uid}
    metadata = {**written["metadata"], **named}
    return admission.create({**written, "metadata": metadata}, type(value))


def _with_labels(value: KubeObject | Workload, keys: Collection[str]) -> KubeObject | Workload:
    if not isinstance(value, Node) or is_stored(value):
        return value
    labels = value.metadata.labels or {}
    more = missing_old_labels(labels, keys)
    if not more:
        return value
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
        found.append(Item(item.document, value, item.written))
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


def _populate(
    items: list[Item], stored: Sequence[KubeObject], admission: Admission, problems: Problems
) -> tuple[list[KubeObject], list[str], list[str]]:
    """The objects of the files and what controllers make of them, in a cluster that has some
    already; notes, and whose pods are refused."""
    if not items:
        return [], [], []
    values = [*stored, *(item.value for item in items)]
    controllers = ControlPlane(
        [value for value in values if isinstance(value, Pod)],
        [value for value in values if isinstance(value, Workload)],
        [value for value in values if isinstance(value, Node)],
        admission,
    )
    claims = ClaimMaker(values, admission)
    objects: list[KubeObject] = []
    made_by: dict[str, list[int]] = {}
    refused: list[str] = []

    def add(obj: KubeObject) -> None:
        if isinstance(obj, Pod) and obj.status.phase not in _FINISHED:
            obj, made = claims.make(obj)
            objects.extend(made)
        objects.append(obj)

    for item in items:
        value = item.value
        with problems.of(item.document):
            if not isinstance(value, Workload):
                add(value)
                continue
            made = controllers.make(value)
            if made.pods:
                made_by.setdefault(value.kind, []).append(len(made.pods))
            if made.refusal is not None:
                refused.append(
                    f"{value.kind} {_key(value)} has {_count(len(made.pods), 'pod')}, and the API"
                    f" server refuses the next one: {made.refusal}"
                )
            for obj in (*made.objects, *made.pods):
                add(obj)
    notes = [
        f"{_count(sum(pods), 'pod')} made from {_count(len(pods), kind)}"
        for kind, pods in made_by.items()
    ]
    notes += [
        f"RuntimeClass {name} is not in the input: its overhead, node selector and tolerations are"
        f" not applied to {_count(pods, 'pod')}"
        for name, pods in sorted(admission.unknown_classes.items())
    ]
    return objects, notes, refused


def _sort_out(objects: Iterable[KubeObject], notes: list[str], gates: FeatureGates) -> Scenario:
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
    others = provision_at_once(others)
    others.extend(_implied_namespaces(others, [*running, *pending], gates))
    return Scenario(tuple(nodes), tuple(running), tuple(pending), tuple(others), tuple(notes))


def _implied_namespaces(
    objects: list[KubeObject], pods: Iterable[Pod], gates: FeatureGates
) -> list[KubeObject]:
    """Namespaces that pods live in and nobody wrote down; selectors can match their names."""
    known = {obj.metadata.name for obj in objects if isinstance(obj, Namespace)}
    admission = Admission(gates)
    return [
        assign_uid(admission.admit_leniently(_namespace(name), Namespace))
        for name in sorted({pod.metadata.namespace for pod in pods} - known)
    ]


def _namespaces_of(stored: Iterable[KubeObject], items: Iterable[Item]) -> set[str]:
    """Those that a cluster has or files make."""
    known = set(_OF_EVERY_CLUSTER)
    for obj in stored:
        known.add(obj.metadata.name if isinstance(obj, Namespace) else obj.metadata.namespace)
    for item in items:
        if isinstance(item.value, Namespace):
            known.add(item.value.metadata.name)
        elif item.written is None:
            known.add(item.value.metadata.namespace)
    return known


def _implied_namespaces_of(inputs: Inputs, default: str, known: Collection[str]) -> list[str]:
    """What is said of new objects in namespaces that nobody has seen. A server refuses them; a
    file for a team's namespace is asked about without one all the same."""
    written = [item.written for item in inputs.items if item.written is not None]
    counts: Counter[str] = Counter()
    for obj in (*written, *(each.written for each in inputs.others)):
        found = inputs.served.find(obj["apiVersion"], obj["kind"])
        if found is not None and found[0].namespaced:
            counts[(obj.get("metadata") or {}).get("namespace") or default] += 1
    return [
        f"namespace {go_quote(name)} is not in the input and taken to be there for"
        f" {_count(counts[name], 'object')}; without it a server answers:"
        f" {not_found(NAMESPACES, name).message}"
        for name in sorted(counts.keys() - known)
    ]


def _namespace(name: str) -> JsonObject:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _notes_on(inputs: Inputs) -> list[str]:
    notes = list(inputs.warnings)
    if inputs.passed_over:
        listed = ", ".join(f"{kind} ({count})" for kind, count in inputs.passed_over.most_common())
        notes.append(f"not read, since scheduling does not depend on them: {listed}")
    if inputs.helm_tests:
        listed = ", ".join(f"{kind} ({count})" for kind, count in inputs.helm_tests.most_common())
        notes.append(f"left out, since Helm makes them for tests only: {listed}")
    notes += [
        f"not checked, since no CustomResourceDefinition in the input has it: {kind} ({count});"
        f" without one a server answers: {no_matches(api_version, kind)}"
        for (api_version, kind), count in inputs.undefined.items()
    ]
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
