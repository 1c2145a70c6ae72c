"""The control plane of an input: what a Deployment, StatefulSet, Job and so on become.

People simulate what they would apply, and that is rarely a bare Pod. The controllers of the
simulated cluster (`kubernetes.controllers`) run here on stores in memory until nothing more is to
be done; what they make is admitted as an API server would. Every pod counts as ready at once, and
no time passes.

Two things differ from a server. A controller whose pods are in the input as well (a dump of a
cluster) has done its work and is not run. And names that a server would make up are numbered
(`web-0`, `web-1`), so that two runs can be compared.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar, assert_never

import msgspec
from msgspec.structs import replace

from podium.golang.errors import ObjectError
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers import objects as seen_objects
from podium.kubernetes.controllers import pods as seen_pods
from podium.kubernetes.controllers.controller import (
    Action,
    Controller,
    CreateAction,
    DeleteAction,
    PatchAction,
)
from podium.kubernetes.controllers.daemon_sets import DaemonSets
from podium.kubernetes.controllers.deployments import Deployments
from podium.kubernetes.controllers.job_pods import COMPLETION_INDEX, wanted_pods
from podium.kubernetes.controllers.jobs import Jobs
from podium.kubernetes.controllers.memory_stores import (
    ControllerLoop,
    MemoryStores,
    apply_patch,
)
from podium.kubernetes.controllers.pod_templates import template_hash
from podium.kubernetes.controllers.replica_sets import ReplicaSets, ReplicationControllers
from podium.kubernetes.controllers.stateful_sets import StatefulSets
from podium.kubernetes.controllers.stores import KINDS, Stores
from podium.kubernetes.controllers.workloads import (
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
    Workload,
)
from podium.kubernetes.kinds import workloads as read_by_engine
from podium.kubernetes.kinds.meta import Condition, KubeObject, LabelSelector, ObjectMeta
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import PersistentVolumeClaim
from podium.kubernetes.resources.resource_types import (
    EVENTS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    ResourceType,
)
from podium.kubernetes.rules.labels import selector_or_nothing
from podium.kubernetes.rules.timestamps import Moment
from podium.kubernetes.strategy.workloads import job_labels
from podium.kubernetes.validation.pod_specs import SELECTOR_MISMATCH
from podium.offline.simulate.admission import Admission, assign_uid

K = TypeVar("K", bound=KubeObject)
MAX_PODS: Final = 500_000
"""Controllers of one input make no more; Kubernetes itself is built for 150,000 in a cluster."""
Owner = tuple[str, str, str]
"""(namespace, kind, name)"""
_NO_TIME: Final = Moment(0.0, 0.0)
_READY: Final = seen_pods.PodStatus(
    phase="Running", conditions=(Condition(type="Ready", status="True"),)
)
_CONTROLLERS: Final[Mapping[type[Workload], Callable[[Stores], tuple[Controller, ...]]]] = {
    Deployment: lambda stores: (Deployments(stores), ReplicaSets(stores, MAX_PODS)),
    ReplicaSet: lambda stores: (ReplicaSets(stores, MAX_PODS),),
    ReplicationController: lambda stores: (ReplicationControllers(stores, MAX_PODS),),
    StatefulSet: lambda stores: (StatefulSets(stores, waits=False),),
    DaemonSet: lambda stores: (DaemonSets(stores),),
    Job: lambda stores: (Jobs(stores, MAX_PODS),),
}
"""Who has work with an object of a kind, and with what comes of it."""
_RESOURCES: Final = {kind: resource for resource, kind in KINDS.items()}


class TooManyPods(ObjectError):
    """More than one input may have."""


@dataclass(slots=True)
class Made:
    """What a controller makes: pods, and the objects that the scheduler looks up beside them."""

    pods: list[Pod] = field(default_factory=list)
    objects: list[KubeObject] = field(default_factory=list)
    refusal: ObjectError | None = None
    """Why the API server takes no more pods of the controller."""


class ControlPlane:
    """Knows which controllers have their pods already, and makes pods for the others."""

    def __init__(
        self,
        pods: Iterable[Pod],
        workloads: Iterable[Workload],
        nodes: Iterable[Node],
        admission: Admission,
    ) -> None:
        self.nodes = [_as_controllers_see(node) for node in nodes]
        self.admission = admission
        self.taken: set[tuple[str, str]] = set()
        self.made = 0
        self._at_work: set[Owner] = set()
        self._replicated: set[Owner] = set()
        for pod in pods:
            self.taken.add(pod.metadata.key)
            self._at_work.update(_owners(pod.metadata))
        for workload in workloads:
            if isinstance(workload, ReplicaSet):
                self._replicated.update(_owners(workload.metadata))

    def make(self, workload: Workload) -> Made:
        """What a workload becomes: no pods if they are in the input; always its own object. Raises
        ObjectError."""
        made = Made()
        if isinstance(workload, ReplicaSet | ReplicationController | StatefulSet):
            made.objects.append(_as_engine_reads(workload))
        key = _key(workload)
        is_replicated = isinstance(workload, Deployment) and key in self._replicated
        if key in self._at_work or is_replicated:
            return made
        self.refuse_beyond(_count_wanted(workload))
        _Expansion(self, made, _as_stored(workload)).run()
        return made

    def refuse_beyond(self, more: int) -> None:
        """Raises TooManyPods before memory is full of pods."""
        if self.made + more > MAX_PODS:
            raise TooManyPods(
                "spec",
                f"with its {more:,} pods there would be more than {MAX_PODS:,}",
                "ask for fewer pods",
            )


class _Expansion:
    """Controllers at work for one object."""

    def __init__(self, plane: ControlPlane, made: Made, workload: Workload) -> None:
        self._plane = plane
        self._made = made
        self._workload = workload
        self._stores = MemoryStores()
        self._objects: list[tuple[ResourceType, KubeObject]] = []
        self._numbers: Counter[str] = Counter()
        self._last_spec: tuple[JsonObject, seen_pods.PodSpec] | None = None

    def run(self) -> None:
        stores, plane, workload = self._stores, self._plane, self._workload
        if isinstance(workload, DaemonSet):
            for node in plane.nodes:
                stores.nodes.put(node)
        controllers = _CONTROLLERS[type(workload)](stores)
        store = stores.store_of(_RESOURCES[type(workload)])
        loop = ControllerLoop(controllers)
        store.put(workload)
        try:
            loop.settle(self._carry_out, _NO_TIME)
        except TooManyPods:
            raise
        except ObjectError as refusal:
            # The controller would try again, with the same answer.
            self._made.refusal = refusal
        for resource, obj in self._objects:
            found = stores.store_of(resource).find(obj.metadata.key)
            match found:
                case ReplicaSet():
                    self._made.objects.append(_as_engine_reads(found))
                case PersistentVolumeClaim():
                    self._made.objects.append(found)

    def _carry_out(self, action: Action) -> None:
        match action:
            case CreateAction():
                self._create(action)
            case PatchAction():
                store = self._stores.store_of(action.resource)
                obj = store.get(action.namespace, action.name)
                changed = apply_patch(obj, action) if obj is not None else None
                if changed is not None and changed != obj:  # else a server tells nobody
                    store.put(changed)
            case DeleteAction():
                store = self._stores.store_of(action.resource)
                obj = store.get(action.namespace, action.name)
                if obj is not None:
                    store.drop(obj)
            case _:
                assert_never(action)

    def _create(self, action: CreateAction) -> None:
        resource, admission = action.resource, self._plane.admission
        if resource == PODS:
            self._create_pod(action.body, action.namespace)
            return
        if resource == EVENTS:
            return
        store, name = self._stores.store_of(resource), action.body["metadata"]["name"]
        if store.get(action.namespace, name) is not None:
            return  # a server says that it exists already
        if resource == PERSISTENT_VOLUME_CLAIMS and admission.has(
            "v1", resource.kind, action.namespace, name
        ):
            return
        body = _in_namespace(action.body, action.namespace)
        made = assign_uid(admission.create_made(body, KINDS[resource]))
        store.put(made)
        self._objects.append((resource, made))

    def _create_pod(self, written: JsonObject, namespace: str) -> None:
        plane = self._plane
        plane.refuse_beyond(1)
        plane.made += 1
        metadata = {**written["metadata"], "namespace": namespace}
        metadata["name"] = self._name(metadata, written["spec"], namespace)
        metadata.pop("generateName", None)
        body = {**written, "metadata": metadata}
        pod = assign_uid(plane.admission.create_pod(body))
        plane.taken.add(pod.metadata.key)
        self._made.pods.append(pod)
        seen = pod.metadata
        if written["metadata"].get("name", seen.name) != seen.name:
            # The name was taken; its controller looks for the pod that it asked for.
            seen = replace(seen, name=written["metadata"]["name"])
        spec = self._spec_as_controllers_see(written["spec"])
        self._stores.pods.put(seen_pods.Pod(metadata=seen, spec=spec, status=_READY))

    def _spec_as_controllers_see(self, spec: JsonObject) -> seen_pods.PodSpec:
        """Pods of one template share it."""
        if self._last_spec is None or self._last_spec[0] is not spec:
            self._last_spec = spec, msgspec.convert(spec, seen_pods.PodSpec, strict=False)
        return self._last_spec[1]

    # --- names --------------------------------------------------------------------------------

    def _name(self, metadata: JsonObject, spec: JsonObject, namespace: str) -> str:
        """The name of a pod, a numbered one if it is to be made up. One that is taken gets the
        template's hash in it."""
        owner, base = metadata["ownerReferences"][0], self._workload.name
        suffix = self._suffix(owner, metadata, spec)
        if (namespace, f"{base}-{suffix}") not in self._plane.taken:
            return f"{base}-{suffix}"
        replicas = self._stores.replica_sets.get(namespace, owner["name"])
        template = (replicas or self._workload).spec.template
        return f"{base}-{template_hash(template)}-{suffix}"

    def _suffix(self, owner: JsonObject, metadata: JsonObject, spec: JsonObject) -> str:
        if "name" in metadata:
            named: str = metadata["name"]
            return named.removeprefix(f"{owner['name']}-")
        if owner["kind"] == "DaemonSet":
            return seen_pods.Pod(spec=self._spec_as_controllers_see(spec)).target_node
        index: str | None = (metadata.get("annotations") or {}).get(COMPLETION_INDEX)
        if index is not None:
            return index
        self._numbers[owner["uid"]] += 1
        return str(self._numbers[owner["uid"]] - 1)


def _count_wanted(workload: Workload) -> int:
    """How many pods a controller asks for; those of a daemon set are as many as nodes."""
    match workload:
        case Job():
            return wanted_pods(workload, workload.status.succeeded)
        case ReplicationController():
            return workload.as_replica_set().wanted
        case Deployment() | ReplicaSet() | StatefulSet():
            return workload.wanted
    return 0


def _as_stored(workload: Workload) -> Workload:
    """The workload as a server would have it, also if it comes from a trace that has left out what
    servers fill in. Raises ObjectError if its pods would not be its own."""
    template = workload.spec.template
    labels = template.metadata.get("labels") or {}
    seen = workload.as_replica_set() if isinstance(workload, ReplicationController) else workload
    if seen.spec.selector is not None:
        if not selector_or_nothing(seen.spec.selector).matches(labels):
            raise ObjectError("spec.template.metadata.labels", SELECTOR_MISMATCH)
        return workload
    if isinstance(workload, Job):
        generated = job_labels(workload.name, workload.metadata.uid)
        metadata = {**template.metadata, "labels": {**labels, **generated}}
        changed: dict[str, object] = {"template": replace(template, metadata=metadata)}
    else:
        changed = {"selector": LabelSelector(match_labels=labels)}
    return replace(workload, spec=replace(workload.spec, **changed))


def _as_controllers_see(node: Node) -> seen_objects.Node:
    return seen_objects.Node(metadata=node.metadata, spec=node.spec)


def _in_namespace(body: JsonObject, namespace: str) -> JsonObject:
    return {**body, "metadata": {**body["metadata"], "namespace": namespace}}


def _as_engine_reads(workload: ReplicaSet | ReplicationController | StatefulSet) -> KubeObject:
    """The object with its selector only; that of a replication controller defaults to the labels
    of its template."""
    match workload:
        case ReplicaSet():
            return msgspec.convert(workload, read_by_engine.ReplicaSet, from_attributes=True)
        case StatefulSet():
            return msgspec.convert(workload, read_by_engine.StatefulSet, from_attributes=True)
    selector = workload.as_replica_set().spec.selector
    return read_by_engine.ReplicationController(
        metadata=workload.metadata,
        spec=read_by_engine.ReplicationControllerSpec(
            replicas=workload.spec.replicas,
            selector=selector.match_labels if selector is not None else None,
        ),
    )


def _owners(metadata: ObjectMeta) -> Iterator[Owner]:
    """The controller of an object; for a ReplicaSet also the Deployment that its name implies."""
    owner = metadata.controller
    if owner is not None:
        yield metadata.namespace, owner.kind, owner.name
        if owner.kind == "ReplicaSet" and "-" in owner.name:
            yield metadata.namespace, "Deployment", owner.name.rpartition("-")[0]


def _key(workload: Workload) -> Owner:
    return workload.namespace, workload.kind, workload.name
