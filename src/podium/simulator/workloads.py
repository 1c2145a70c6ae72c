"""Controllers' work: the pods that a Deployment, StatefulSet, Job and so on would have made.

People simulate what they would apply, and that is rarely a bare Pod. A controller whose pods are
in the input as well (a dump of a cluster) has done its work and makes none. What pods look like is
decided in `kubernetes.controllers`; only their names are given here: they are numbered (`web-0`,
`web-1`) instead of getting random names, so that two runs can be compared.
"""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeVar

import msgspec

from podium.golang.errors import ObjectError
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.daemon_pods import DaemonTemplate
from podium.kubernetes.controllers.job_pods import job_labels, job_pod, wanted_pods
from podium.kubernetes.controllers.objects import Kind
from podium.kubernetes.controllers.pod_templates import (
    pod_from_template,
    replica_set_of,
    template_hash,
)
from podium.kubernetes.controllers.stateful_pods import claims_of_ordinal, pod_of_ordinal
from podium.kubernetes.controllers.workloads import (
    DaemonSet,
    Deployment,
    Job,
    PodTemplate,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
    Workload,
)
from podium.kubernetes.kinds import workloads as read_by_engine
from podium.kubernetes.kinds.meta import KubeObject, ObjectMeta
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.typed_objects import convert_object
from podium.kubernetes.rules.index_ranges import read_indexes
from podium.simulator.admission import Admission, assign_uid

K = TypeVar("K", bound=KubeObject)
MAX_PODS: Final = 500_000
"""Controllers of one input make no more; Kubernetes itself is built for 150,000 in a cluster."""
Owner = tuple[str, str, str]
"""(namespace, kind, name)"""


class TooManyPods(ObjectError):
    """More than one input may have."""


@dataclass(slots=True)
class Made:
    """What a controller makes: pods, and the objects that the scheduler looks up beside them."""

    pods: list[Pod] = field(default_factory=list)
    objects: list[KubeObject] = field(default_factory=list)
    refusal: ObjectError | None = None
    """Why the API server takes no more pods of the controller."""

    def add_pods(self, pods: Iterator[Pod]) -> None:
        """Until one is refused; the controller would try again, with the same answer."""
        try:
            for pod in pods:
                self.pods.append(pod)
        except TooManyPods:
            raise
        except ObjectError as refusal:
            self.refusal = refusal


class Controllers:
    """Knows which controllers have their pods already, and makes pods for the others."""

    def __init__(
        self,
        pods: Iterable[Pod],
        workloads: Iterable[Workload],
        nodes: Iterable[Node],
        admission: Admission,
    ) -> None:
        self._nodes = list(nodes)
        self._admission = admission
        self._taken: set[tuple[str, str]] = set()
        self._at_work: set[Owner] = set()
        self._replicated: set[Owner] = set()
        self._made = 0
        for pod in pods:
            self._taken.add(pod.metadata.key)
            self._at_work.update(_owners(pod.metadata))
        for workload in workloads:
            if isinstance(workload, ReplicaSet):
                self._replicated.update(_owners(workload.metadata))

    def make(self, workload: Workload) -> Made:
        """The pods of a controller, none if they are in the input; always its own object."""
        if isinstance(workload, Deployment):
            if _key(workload) in self._at_work | self._replicated:
                return Made()
            self._refuse_beyond(workload.wanted)
            body = replica_set_of(workload, workload.wanted)
            replicas = _convert_body(body, ReplicaSet, workload.namespace)
            made = Made(objects=[_as_engine_reads(replicas)])
            made.add_pods(self._replicas(replicas, workload.name))
            return made
        made = Made()
        if isinstance(workload, ReplicaSet | ReplicationController | StatefulSet):
            made.objects.append(_as_engine_reads(workload))
        if _key(workload) in self._at_work:
            return made
        self._refuse_beyond(_wanted(workload))
        match workload:
            case ReplicaSet():
                made.add_pods(self._replicas(workload, workload.name))
            case ReplicationController():
                replicas = workload.as_replica_set()
                made.add_pods(self._replicas(replicas, workload.name, workload))
            case StatefulSet():
                made.add_pods(self._ordinals(workload, made.objects))
            case DaemonSet():
                made.add_pods(self._daemons(workload))
            case Job():
                made.add_pods(self._job_pods(workload))
        return made

    def _refuse_beyond(self, more: int) -> None:
        """Raises ObjectError before memory is full of pods."""
        if self._made + more > MAX_PODS:
            raise TooManyPods(
                "spec",
                f"with its {more:,} pods there would be more than {MAX_PODS:,}",
                "ask for fewer pods",
            )

    def _replicas(
        self, replicas: ReplicaSet, base: str, owner: ReplicationController | None = None
    ) -> Iterator[Pod]:
        by = owner or replicas
        kind, template = Kind(by.api_version, by.kind), replicas.spec.template
        for index in range(replicas.wanted):
            name = self._free_name(by, template, base, str(index))
            yield self._pod(pod_from_template(kind, by.metadata, template, name=name), by)

    def _ordinals(self, stateful: StatefulSet, claims: list[KubeObject]) -> Iterator[Pod]:
        """Each pod comes after its claims."""
        template = stateful.spec.template
        revision = f"{stateful.name}-{template_hash(template)}"
        for ordinal in stateful.ordinals:
            for claim in claims_of_ordinal(stateful, ordinal):
                body = _in_namespace(claim, stateful.namespace)
                key = stateful.namespace, body["metadata"]["name"]
                if not self._admission.has("v1", "PersistentVolumeClaim", *key):
                    claims.append(assign_uid(self._admission.create_claim(body)))
            body = pod_of_ordinal(stateful, template, ordinal, revision)
            name = self._free_name(stateful, template, stateful.name, str(ordinal))
            body["metadata"]["name"] = name
            yield self._pod(body, stateful)

    def _daemons(self, daemons: DaemonSet) -> Iterator[Pod]:
        template, revision = DaemonTemplate(daemons), template_hash(daemons.spec.template)
        for node in self._nodes:
            if template.runs_on(node.name, node.metadata.labels, node.spec.taints):
                name = self._free_name(daemons, daemons.spec.template, daemons.name, node.name)
                yield self._pod(template.pod_for(node.name, revision, name), daemons)

    def _job_pods(self, job: Job) -> Iterator[Pod]:
        if job.spec.suspend or job.end is not None:
            return
        labels = job_labels(job.name, job.metadata.uid)
        count = wanted_pods(job, job.status.succeeded)
        done = read_indexes(job.status.completed_indexes)
        for index in islice((each for each in itertools.count() if each not in done), count):
            name = self._free_name(job, job.spec.template, job.name, str(index))
            body = job_pod(job, index if job.is_indexed else None, name=name, labels=labels)
            yield self._pod(body, job)

    def _free_name(self, owner: Workload, template: PodTemplate, base: str, suffix: str) -> str:
        """A name that is taken gets the template's hash in it."""
        name = f"{base}-{suffix}"
        if (owner.namespace, name) in self._taken:
            return f"{base}-{template_hash(template)}-{suffix}"
        return name

    def _pod(self, body: JsonObject, owner: Workload) -> Pod:
        self._refuse_beyond(1)
        self._made += 1
        pod = assign_uid(self._admission.create_pod(_in_namespace(body, owner.namespace)))
        self._taken.add(pod.metadata.key)
        return pod


def _wanted(workload: Workload) -> int:
    """How many pods a controller asks for; those of a daemon set are as many as nodes."""
    match workload:
        case Job():
            return wanted_pods(workload, workload.status.succeeded)
        case ReplicationController():
            return workload.as_replica_set().wanted
        case ReplicaSet() | StatefulSet():
            return workload.wanted
    return 0


def _convert_body(body: JsonObject, struct: type[K], namespace: str) -> K:
    return assign_uid(convert_object(_in_namespace(body, namespace), struct, strict=False))


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
