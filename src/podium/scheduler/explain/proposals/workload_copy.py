"""A workload as its controllers see it, put into stores in memory for them to work on.

Where the controllers' object is at hand (a file has it, or it was read for the question) it is
taken as it is; otherwise it follows from the pods: their template, how many there are, and what a
server fills in. ReplicaSets and ControllerRevisions always follow from the pods, since only those
that have pods matter.

Two things are made simpler, and both are about time: a pod that has a node counts as available, and
as it does so at once, `minReadySeconds` is nothing to wait for.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers import objects as seen_objects
from podium.kubernetes.controllers import pods as seen_pods
from podium.kubernetes.controllers.daemon_sets import DaemonSets
from podium.kubernetes.controllers.deployments import REVISION, Deployments
from podium.kubernetes.controllers.jobs import Jobs
from podium.kubernetes.controllers.memory_stores import MemoryStores
from podium.kubernetes.controllers.pod_templates import REVISION_HASH, TEMPLATE_HASH
from podium.kubernetes.controllers.replica_sets import ReplicaSets, ReplicationControllers
from podium.kubernetes.controllers.revisions import revision_data
from podium.kubernetes.controllers.stateful_pods import claim_names_of_ordinal
from podium.kubernetes.controllers.stateful_sets import StatefulSets
from podium.kubernetes.controllers.workloads import (
    ControllerRevision,
    DaemonSet,
    DaemonSetSpec,
    Deployment,
    DeploymentSpec,
    Job,
    JobSpec,
    JobStatus,
    PodTemplate,
    ReplicaSet,
    ReplicasSpec,
    ReplicasStatus,
    ReplicationController,
    ReplicationControllerSpec,
    RollingUpdate,
    StatefulSet,
    StatefulSetSpec,
    StatefulSetStatus,
    Strategy,
)
from podium.kubernetes.controllers.workloads import Workload as Controlled
from podium.kubernetes.kinds.meta import Condition, LabelSelector, ObjectMeta, OwnerReference
from podium.kubernetes.kinds.pod import Pod, as_pending
from podium.kubernetes.kinds.storage import PersistentVolumeClaim
from podium.kubernetes.kinds.workloads import ReplicaSet as ReadReplicaSet
from podium.kubernetes.resources.resource_types import (
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
    ResourceType,
)
from podium.kubernetes.rules.node_affinity import NAME_FIELD
from podium.kubernetes.strategy.workloads import job_labels
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.explain.proposals.admitting import as_json
from podium.scheduler.explain.proposals.workload import OwnedPods

RESOURCES: Final[dict[str, ResourceType]] = {
    each.kind: each
    for each in (
        DAEMON_SETS,
        DEPLOYMENTS,
        JOBS,
        REPLICA_SETS,
        REPLICATION_CONTROLLERS,
        STATEFUL_SETS,
    )
}
"""Kinds whose controllers are run."""
_READY: Final = seen_pods.PodStatus(
    phase="Running", conditions=(Condition(type="Ready", status="True"),)
)
_PENDING: Final = seen_pods.PodStatus(phase="Pending")
_BURST: Final = 10_000
_QUARTER: Final = "25%"
_FEW_NODES: Final = 20
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_NOT_OF_TEMPLATE: Final = ("hostname", "nodeName", "preemptionPolicy", "priority", "subdomain")
_JOB_LABELS: Final = tuple(job_labels("", ""))


@dataclass(slots=True)
class WorkloadCopy:
    """`is_whole` says whether its template is all that was written, and not only what scheduling
    reads of it."""

    resource: ResourceType
    controlled: Controlled
    is_whole: bool
    stores: MemoryStores

    @property
    def controllers(self) -> tuple[Any, ...]:
        stores = self.stores
        match self.controlled:
            case Deployment():
                return Deployments(stores), ReplicaSets(stores, _BURST)
            case ReplicaSet():
                return (ReplicaSets(stores, _BURST),)
            case ReplicationController():
                return (ReplicationControllers(stores, _BURST),)
            case StatefulSet():
                return (StatefulSets(stores),)
            case DaemonSet():
                return (DaemonSets(stores),)
            case Job():
                return (Jobs(stores, _BURST),)


def copy_workload(
    workload: OwnedPods, asked: Pod, engine: Engine, added: Collection[str] = ()
) -> WorkloadCopy | None:
    """The workload as it is, for controllers that watch its stores from now on; the controllers'
    object itself is left to whoever puts it, as changed. Nodes that are `added` get pods of daemon
    sets that nobody has missed, so they are left out. None for a kind that nobody here runs."""
    resource = RESOURCES.get(workload.owner.kind)
    if resource is None:
        return None
    known = workload.known
    controlled = known if known is not None else _from_pods(workload, asked)
    nodes = len(engine.cluster.node_order())
    copy = WorkloadCopy(resource, _at_once(controlled, nodes), known is not None, MemoryStores())
    _put_dependents(copy, workload, asked, engine, added)
    return copy


def as_controllers_see(pod: Pod, node: str = "") -> seen_pods.Pod:
    """A pod on a node is running and ready, one without waits."""
    spec = seen_pods.PodSpec(node_name=node, affinity=pod.spec.affinity)
    return seen_pods.Pod(metadata=pod.metadata, spec=spec, status=_READY if node else _PENDING)


def made_anew(job: Job) -> Job:
    """A Job that was deleted and created again: another one, with nothing done yet."""
    uid = f"{job.metadata.uid}-again"
    template = job.spec.template
    labels = {
        key: value
        for key, value in (template.metadata.get("labels") or {}).items()
        if key not in _JOB_LABELS
    }
    metadata = {**template.metadata, "labels": {**labels, **job_labels(job.name, uid)}}
    spec = replace(job.spec, selector=None, template=replace(template, metadata=metadata))
    return replace(job, metadata=replace(job.metadata, uid=uid), spec=spec, status=JobStatus())


# --- the controllers' object ------------------------------------------------------------------


def _from_pods(workload: OwnedPods, asked: Pod) -> Controlled:
    owner, reference = workload.owner, asked.metadata.controller
    is_direct = reference is not None and reference.kind == owner.kind
    uid = reference.uid if is_direct and reference is not None else owner.name
    metadata = ObjectMeta(name=owner.name, namespace=workload.namespace, uid=uid)
    template = _template_of(asked)
    labels = template.metadata.get("labels") or {}
    selector = LabelSelector(match_labels=labels)
    strategy = Strategy(workload.strategy)
    match owner.kind:
        case "Deployment":
            rolling = RollingUpdate(max_unavailable=_QUARTER, max_surge=_QUARTER)
            spec = DeploymentSpec(
                replicas=workload.wanted,
                selector=selector,
                template=template,
                strategy=Strategy(rolling_update=rolling),
            )
            return Deployment(metadata=metadata, spec=spec)
        case "StatefulSet":
            return StatefulSet(
                metadata=metadata,
                spec=StatefulSetSpec(
                    replicas=workload.wanted,
                    selector=selector,
                    template=template,
                    update_strategy=strategy,
                ),
            )
        case "DaemonSet":
            daemons = DaemonSetSpec(selector=selector, template=template, update_strategy=strategy)
            return DaemonSet(metadata=metadata, spec=daemons)
        case "Job":
            job = JobSpec(
                parallelism=workload.wanted, completions=workload.wanted, template=template
            )
            return Job(metadata=metadata, spec=job)
        case "ReplicationController":
            return ReplicationController(
                metadata=metadata,
                spec=ReplicationControllerSpec(
                    replicas=workload.wanted, selector=labels, template=template
                ),
            )
    replicas = ReplicasSpec(replicas=workload.wanted, selector=selector, template=template)
    return ReplicaSet(metadata=metadata, spec=replicas)


def _template_of(pod: Pod) -> PodTemplate:
    """What a pod was made from, as far as it can be told."""
    spec: JsonObject = as_json(as_pending(pod))["spec"]
    for name in _NOT_OF_TEMPLATE:
        spec.pop(name, None)
    _drop_pin(spec)
    of_controllers = (TEMPLATE_HASH, REVISION_HASH, "statefulset.kubernetes.io/pod-name")
    kept = {
        key: value
        for key, value in (pod.metadata.labels or {}).items()
        if key not in of_controllers and key != "apps.kubernetes.io/pod-index"
    }
    metadata: JsonObject = {"labels": kept} if kept else {}
    if pod.metadata.annotations:
        metadata["annotations"] = dict(pod.metadata.annotations)
    return PodTemplate(metadata=metadata, spec=spec)


def _drop_pin(spec: JsonObject) -> None:
    """A daemon set pins each pod to its node."""
    nodes = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (nodes.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()
    if any(f.get("key") == NAME_FIELD for term in terms for f in term.get("matchFields") or ()):
        del nodes[_REQUIRED]


def _at_once(controlled: Controlled, nodes: int) -> Controlled:
    """The same with nothing to wait for."""
    if isinstance(controlled, Job):
        return controlled
    spec: Any = replace(controlled.spec, min_ready_seconds=0)
    if isinstance(controlled, DaemonSet):
        spec = _in_few_rounds(spec, nodes)
    changed: Any = replace(controlled, spec=spec)
    made: Controlled = changed
    return made


def _in_few_rounds(spec: DaemonSetSpec, nodes: int) -> DaemonSetSpec:
    """Pods of a daemon set do not depend on each other, so that for what comes of a roll-out it
    does not matter how many go at a time; on thousands of nodes one by one takes long."""
    rolling = spec.update_strategy.rolling_update or RollingUpdate()
    if nodes < _FEW_NODES:
        return spec
    rolling = replace(rolling, max_unavailable=_QUARTER)
    return replace(spec, update_strategy=replace(spec.update_strategy, rolling_update=rolling))


# --- what it owns -----------------------------------------------------------------------------


def _put_dependents(
    copy: WorkloadCopy, workload: OwnedPods, asked: Pod, engine: Engine, added: Collection[str]
) -> None:
    stores, controlled = copy.stores, copy.controlled
    for pod in workload.placed:
        stores.pods.put(as_controllers_see(pod, pod.spec.node_name))
    for pod in workload.waiting:
        stores.pods.put(as_controllers_see(pod))
    pods = (*workload.placed, *workload.waiting)
    match controlled:
        case Deployment():
            for each in _replica_sets(controlled, pods, asked, engine):
                stores.replica_sets.put(each)
        case StatefulSet():
            _put_revisions(copy, controlled, pods, asked, labelled_by_name=True)
            for claim in _claims(controlled, engine):
                stores.claims.put(claim)
        case DaemonSet():
            _put_revisions(copy, controlled, pods, asked, labelled_by_name=False)
            for node in _nodes(copy, pods, engine):
                if node.name not in added:
                    stores.nodes.put(node)


def _replica_sets(
    deployment: Deployment, pods: Iterable[Pod], asked: Pod, engine: Engine
) -> Iterator[ReplicaSet]:
    """One for each that has pods; the latest of them has the Deployment's template."""
    owned: dict[str, list[Pod]] = {}
    references: dict[str, OwnerReference] = {}
    for pod in pods:
        reference = pod.metadata.controller
        if reference is not None and reference.kind == "ReplicaSet":
            owned.setdefault(reference.name, []).append(pod)
            references[reference.name] = reference
    catalog, namespace = engine.cluster.catalog, deployment.namespace
    read = {name: catalog.get(ReadReplicaSet, name, namespace) for name in owned}
    own = asked.metadata.controller

    def rank(name: str) -> tuple[int, bool]:
        found = read[name]
        told = found.metadata.annotation(REVISION) if found is not None else ""
        is_own = own is not None and own.name == name
        return int(told) if told.isdecimal() else 0, is_own

    latest = max(owned, key=rank, default="") if not deployment.spec.paused else ""
    for name, its in owned.items():
        found = read[name]
        written = deployment.spec.template if name == latest else _template_of(its[0])
        mark = its[0].metadata.label(TEMPLATE_HASH)
        labels = {**(written.metadata.get("labels") or {}), TEMPLATE_HASH: mark}
        template = replace(written, metadata={**written.metadata, "labels": labels})
        wanted = found.spec.replicas if found is not None else None
        reference = references[name]
        ready = sum(bool(pod.spec.node_name) for pod in its)
        yield ReplicaSet(
            metadata=ObjectMeta(
                name=name,
                namespace=namespace,
                uid=reference.uid,
                labels=labels,
                annotations=found.metadata.annotations if found is not None else None,
                creation_timestamp=(
                    found.metadata.creation_timestamp if found is not None else None
                ),
                owner_references=(
                    OwnerReference(
                        api_version="apps/v1",
                        kind="Deployment",
                        name=deployment.name,
                        uid=deployment.metadata.uid,
                        controller=True,
                    ),
                ),
            ),
            spec=ReplicasSpec(
                replicas=len(its) if wanted is None else wanted,
                selector=LabelSelector(match_labels=labels),
                template=template,
            ),
            status=ReplicasStatus(
                replicas=len(its),
                fully_labeled_replicas=len(its),
                ready_replicas=ready,
                available_replicas=ready,
            ),
        )


def _put_revisions(
    copy: WorkloadCopy,
    controlled: StatefulSet | DaemonSet,
    pods: Iterable[Pod],
    asked: Pod,
    *,
    labelled_by_name: bool,
) -> None:
    """A revision for each that pods have; the latest has the present template."""
    groups: dict[str, Pod] = {}
    for pod in pods:
        groups.setdefault(pod.metadata.label(REVISION_HASH), pod)
    present = asked.metadata.label(REVISION_HASH)
    if isinstance(controlled, StatefulSet):
        present = controlled.status.update_revision or present
        current = controlled.status.current_revision or present
        status = StatefulSetStatus(current_revision=current, update_revision=present)
        copy.controlled = replace(controlled, status=status)
    owner = OwnerReference(
        api_version="apps/v1",
        kind=controlled.kind,
        name=controlled.name,
        uid=controlled.metadata.uid,
        controller=True,
    )
    for label, pod in {present: asked, **groups}.items():
        template = controlled.spec.template if label == present else _template_of(pod)
        copy.stores.revisions.put(
            ControllerRevision(
                metadata=ObjectMeta(
                    name=label if labelled_by_name else f"{controlled.name}-{label}",
                    namespace=controlled.namespace,
                    uid=f"revision-{label}",
                    labels=template.metadata.get("labels") or {},
                    owner_references=(owner,),
                ),
                revision=2 if label == present else 1,
                data=revision_data(template),
            )
        )


def _claims(stateful: StatefulSet, engine: Engine) -> Iterator[PersistentVolumeClaim]:
    if not stateful.spec.volume_claim_templates:
        return
    for ordinal in stateful.ordinals:
        for name in claim_names_of_ordinal(stateful, ordinal):
            found = engine.cluster.catalog.get(PersistentVolumeClaim, name, stateful.namespace)
            if found is not None:
                yield found


def _nodes(copy: WorkloadCopy, pods: Iterable[Pod], engine: Engine) -> Iterator[seen_objects.Node]:
    """All nodes; where the template is not known whole, those that have a pod already."""
    table = engine.cluster.nodes
    named = {as_controllers_see(pod, pod.spec.node_name).target_node for pod in pods}
    for row in engine.cluster.node_order().tolist():
        node = table.node(row)
        if copy.is_whole or node.name in named:
            yield seen_objects.Node(metadata=node.metadata, spec=node.spec)
