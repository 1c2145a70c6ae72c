"""Controllers' work: the pods that a Deployment, StatefulSet, Job and so on would have made.

People simulate what they would apply, and that is rarely a bare Pod. A controller whose pods are
in the input as well (a dump of a cluster) has done its work and makes none. Pods are numbered
(`web-0`, `web-1`) instead of getting random names, so that two runs can be compared; labels and
owners are those that the real controllers set, because selectors and spreading read them.

A DaemonSet makes one pod for each node that its template's node affinity and tolerations allow,
pinned there as the real controller pins it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256

import msgspec
from msgspec.structs import replace

from podium.api import workloads as read_by_engine
from podium.api.meta import KubeStruct, LabelSelector, ObjectMeta, OwnerReference
from podium.api.node import Node
from podium.api.pod import Pod, PodSpec
from podium.api.storage import PersistentVolumeClaim
from podium.api.volumes import PersistentVolumeClaimReference, Volume
from podium.simulator.admission import identified
from podium.simulator.daemons import daemon_specs
from podium.simulator.workload_kinds import (
    DaemonSet,
    Deployment,
    Job,
    PodTemplate,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
    Workload,
)

TEMPLATE_HASH = "pod-template-hash"
Owner = tuple[str, str, str]
"""(namespace, kind, name)"""


@dataclass(slots=True)
class Made:
    """What a controller makes: pods, and the objects that the scheduler looks up beside them."""

    pods: list[Pod] = field(default_factory=list)
    objects: list[KubeStruct] = field(default_factory=list)


class Controllers:
    """Knows which controllers have their pods already, and makes pods for the others."""

    def __init__(
        self, pods: Iterable[Pod], workloads: Iterable[Workload], nodes: Iterable[Node]
    ) -> None:
        self._nodes = list(nodes)
        self._taken: set[tuple[str, str]] = set()
        self._at_work: set[Owner] = set()
        self._replicated: set[Owner] = set()
        for pod in pods:
            self._taken.add((pod.metadata.namespace, pod.metadata.name))
            self._at_work.update(_owners(pod.metadata))
        for workload in workloads:
            if isinstance(workload, ReplicaSet):
                self._replicated.update(_owners(workload.metadata))

    def make(self, workload: Workload) -> Made:
        """The pods of a controller, none if they are in the input; always its own object."""
        made = Made()
        match workload:
            case Deployment():
                if not {_key(workload)} & (self._at_work | self._replicated):
                    return self._replicas(_replica_set(workload), workload.metadata.name)
            case ReplicaSet():
                return self._replicas(workload, workload.metadata.name)
            case ReplicationController():
                return self._replication_controller(workload)
            case StatefulSet():
                return self._stateful_set(workload)
            case DaemonSet():
                if _key(workload) not in self._at_work:
                    made.pods = list(self._daemons(workload))
            case Job():
                if _key(workload) not in self._at_work:
                    made.pods = list(self._job_pods(workload))
        return made

    def _replicas(self, replicas: ReplicaSet, name: str) -> Made:
        spec = replicas.spec
        selects = read_by_engine.ReplicaSetSpec(replicas=spec.replicas, selector=spec.selector)
        made = Made(objects=[read_by_engine.ReplicaSet(metadata=replicas.metadata, spec=selects)])
        if _key(replicas) not in self._at_work:
            for index in range(_count(spec.replicas)):
                made.pods.append(self._pod(replicas, spec.template, name, str(index)))
        return made

    def _replication_controller(self, controller: ReplicationController) -> Made:
        spec = controller.spec
        selector = spec.selector or spec.template.metadata.labels
        selects = read_by_engine.ReplicationControllerSpec(
            replicas=spec.replicas, selector=selector
        )
        read = read_by_engine.ReplicationController(metadata=controller.metadata, spec=selects)
        made = Made(objects=[read])
        if _key(controller) not in self._at_work:
            for index in range(_count(spec.replicas)):
                name = controller.metadata.name
                made.pods.append(self._pod(controller, spec.template, name, str(index)))
        return made

    def _stateful_set(self, stateful: StatefulSet) -> Made:
        spec = stateful.spec
        selects = read_by_engine.StatefulSetSpec(replicas=spec.replicas, selector=spec.selector)
        made = Made(objects=[read_by_engine.StatefulSet(metadata=stateful.metadata, spec=selects)])
        if _key(stateful) in self._at_work:
            return made
        revision = f"{stateful.metadata.name}-{template_hash(spec.template)}"
        for ordinal in range(spec.ordinals.start, spec.ordinals.start + _count(spec.replicas)):
            name = f"{stateful.metadata.name}-{ordinal}"
            labels = {
                "apps.kubernetes.io/pod-index": str(ordinal),
                "controller-revision-hash": revision,
                "statefulset.kubernetes.io/pod-name": name,
            }
            claims = _claims_of(stateful, name)
            pod = self._pod(stateful, spec.template, stateful.metadata.name, str(ordinal), labels)
            made.pods.append(replace(pod, spec=_with_claims(pod.spec, claims)))
            made.objects.extend(claims.values())
        return made

    def _daemons(self, daemons: DaemonSet) -> Iterator[Pod]:
        template = daemons.spec.template
        labels = {"controller-revision-hash": template_hash(template)}
        for node_name, spec in daemon_specs(template.spec, self._nodes):
            pinned = replace(template, spec=spec)
            yield self._pod(daemons, pinned, daemons.metadata.name, node_name, labels)

    def _job_pods(self, job: Job) -> Iterator[Pod]:
        spec = job.spec
        if spec.suspend or job.status.finished:
            return
        count = _count(spec.parallelism)
        if spec.completions is not None:
            count = min(count, spec.completions - job.status.succeeded)
        name, uid = job.metadata.name, job.metadata.uid
        labels = {
            "batch.kubernetes.io/controller-uid": uid,
            "batch.kubernetes.io/job-name": name,
            "controller-uid": uid,
            "job-name": name,
        }
        for index in range(count):
            if spec.completion_mode == "Indexed":
                labels["batch.kubernetes.io/job-completion-index"] = str(index)
            yield self._pod(job, spec.template, name, str(index), labels)

    def _pod(
        self,
        owner: Workload,
        template: PodTemplate,
        base: str,
        suffix: str,
        labels: dict[str, str] | None = None,
    ) -> Pod:
        """A pod of a template; a name that is taken gets the template's hash in it."""
        namespace = owner.metadata.namespace
        name = f"{base}-{suffix}"
        if (namespace, name) in self._taken:
            name = f"{base}-{template_hash(template)}-{suffix}"
        self._taken.add((namespace, name))
        metadata = ObjectMeta(
            name=name,
            namespace=namespace,
            labels={**(template.metadata.labels or {}), **(labels or {})},
            annotations=template.metadata.annotations,
            owner_references=(_reference(owner),),
        )
        return identified(Pod(metadata=metadata, spec=template.spec))


def template_hash(template: PodTemplate) -> str:
    """Tells templates apart. It is not the hash that the real controllers work out."""
    return sha256(msgspec.json.encode(template, order="sorted")).hexdigest()[:10]


def _replica_set(deployment: Deployment) -> ReplicaSet:
    """The ReplicaSet of a Deployment, whose template and selector carry the template's hash."""
    spec = deployment.spec
    mark = {TEMPLATE_HASH: template_hash(spec.template)}
    metadata = spec.template.metadata
    template = replace(
        spec.template, metadata=replace(metadata, labels={**(metadata.labels or {}), **mark})
    )
    selector = spec.selector or LabelSelector()
    name = f"{deployment.metadata.name}-{mark[TEMPLATE_HASH]}"
    return identified(
        ReplicaSet(
            metadata=ObjectMeta(
                name=name,
                namespace=deployment.metadata.namespace,
                owner_references=(_reference(deployment),),
            ),
            spec=replace(
                ReplicaSet().spec,
                replicas=spec.replicas,
                template=template,
                selector=replace(selector, match_labels={**(selector.match_labels or {}), **mark}),
            ),
        )
    )


def _owners(metadata: ObjectMeta) -> Iterator[Owner]:
    """The controller of an object; for a ReplicaSet also the Deployment that its name implies."""
    for owner in metadata.owner_references or ():
        if owner.controller:
            yield metadata.namespace, owner.kind, owner.name
            if owner.kind == "ReplicaSet" and "-" in owner.name:
                yield metadata.namespace, "Deployment", owner.name.rpartition("-")[0]


def _key(workload: Workload) -> Owner:
    return workload.metadata.namespace, workload.kind, workload.metadata.name


def _reference(owner: Workload) -> OwnerReference:
    return OwnerReference(
        api_version=owner.api_version,
        kind=owner.kind,
        name=owner.metadata.name,
        uid=owner.metadata.uid,
        controller=True,
    )


def _count(replicas: int | None) -> int:
    return 1 if replicas is None else max(replicas, 0)


def _claims_of(stateful: StatefulSet, pod_name: str) -> dict[str, PersistentVolumeClaim]:
    """Volume name -> the claim that a pod of the set has for it."""
    return {
        template.metadata.name: identified(
            PersistentVolumeClaim(
                metadata=ObjectMeta(
                    name=f"{template.metadata.name}-{pod_name}",
                    namespace=stateful.metadata.namespace,
                    labels=template.metadata.labels,
                    annotations=template.metadata.annotations,
                ),
                spec=template.spec,
            )
        )
        for template in stateful.spec.volume_claim_templates or ()
    }


def _with_claims(spec: PodSpec, claims: dict[str, PersistentVolumeClaim]) -> PodSpec:
    if not claims:
        return spec
    kept = [volume for volume in spec.volumes or () if volume.name not in claims]
    added = [
        Volume(
            name=name,
            persistent_volume_claim=PersistentVolumeClaimReference(claim_name=claim.metadata.name),
        )
        for name, claim in claims.items()
    ]
    return replace(spec, volumes=(*kept, *added))
