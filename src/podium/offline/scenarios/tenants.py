"""Tenants: whose workloads arrive when, as one sequence of events for all of them.

Every tenant has streams of chance of its own, for when something arrives, for what it is and for
how long it runs, so that a change of one of them leaves the others as they were.

Workloads of tenants: what one arrival brings, as pods that are read once and copied. A manifest
goes through admission and controllers once (`podium.offline.simulate.scenario`); every arrival then
gets copies that differ in name and UID. All arrivals of a workload have labels, owner and template
in common, as if somebody scaled one controller: that is what keeps the engine quick. A gang has a
PodGroup of its own for each arrival.
"""

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from msgspec.structs import replace

from podium.golang.documents import SourceDocument, read_documents
from podium.golang.errors import ObjectError, closest, did_you_mean
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import KubeObject, ObjectMeta, OwnerReference
from podium.kubernetes.kinds.pod import Pod, PodSchedulingGroup
from podium.kubernetes.kinds.pod_groups import (
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
)
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.labels import value_problems
from podium.kubernetes.rules.nodes import is_daemon
from podium.kubernetes.validation.resource_amounts import may_be_overcommitted
from podium.net.files.bounded_files import MAX_CLUSTER_BYTES, read_input
from podium.offline.scenarios.arrivals import Arrivals, find_beside
from podium.offline.scenarios.file_format import WrittenWorkload, choose_one, parse_number
from podium.offline.scenarios.run_times import RandomStream, RunTime, read_run_time
from podium.offline.simulate.admission import assign_uid, uid_for
from podium.offline.simulate.pod_claims import PodClaimMaker
from podium.offline.simulate.scenario import read_inline_scenario
from podium.offline.simulate.timed_events import ObjectPut, PodArrival, TimedEvent
from podium.scheduler.cluster.catalog import object_key

_KINDS = ("requests", "pod", "manifests", "file")


@dataclass(frozen=True, slots=True)
class WorkloadShape:
    """`key` is `tenant/workload`; `objects` have to be in the cluster from the beginning."""

    key: str
    weight: float
    pods: Sequence[Pod]
    objects: Sequence[KubeObject]
    run_time: RunTime | None
    is_gang: bool = False
    claims: PodClaimMaker | None = None

    def arrive(self, number: int, at: float, run_time_s: float | None) -> Iterator[TimedEvent]:
        """The events of one arrival, numbered among those of the workload."""
        group = self._make_group(number) if self.is_gang else None
        if group is not None:
            yield ObjectPut(at, group)
        for prototype in self.pods:
            metadata = prototype.metadata
            name = f"{metadata.name}-{number}"
            uid = uid_for("Pod", metadata.namespace, name)
            pod = replace(prototype, metadata=replace(metadata, name=name, uid=uid))
            if group is not None:
                member = PodSchedulingGroup(pod_group_name=group.metadata.name)
                pod = replace(pod, spec=replace(pod.spec, scheduling_group=member))
            if self.claims is not None:
                pod, made = self.claims.make(pod)
                for obj in made:
                    yield ObjectPut(at, obj)
            yield PodArrival(at, pod, run_time_s, self.key)

    def _make_group(self, number: int) -> PodGroup:
        first = self.pods[0]
        name = f"{self.key.rpartition('/')[2]}-{number}"
        gang = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=len(self.pods)))
        return assign_uid(
            PodGroup(
                metadata=ObjectMeta(name=name, namespace=first.metadata.namespace),
                spec=PodGroupSpec(scheduling_policy=gang, priority=first.spec.priority),
            )
        )


def read_workload(
    written: WrittenWorkload,
    path: str,
    *,
    tenant: str,
    namespace: str,
    source: str,
    beside: str,
    objects: Sequence[KubeObject],
    gates: FeatureGates,
) -> WorkloadShape:
    """`objects` are the cluster's, among them the classes that pods name. Raises ObjectError, and
    InputError for what is wrong with manifests."""
    if not written.name or value_problems(written.name):
        raise ObjectError(f"{path}.name", "is missing" if not written.name else "is no label value")
    if not 1 <= written.replicas <= 10_000:
        raise ObjectError(f"{path}.replicas", "must be from 1 to 10000")
    kind = choose_one(written, _KINDS, path)
    documents = _documents(written, kind, path, source, beside)
    found = read_inline_scenario(documents, gates=gates, namespace=namespace, stored=objects)
    pods = list(found.pending)
    if not pods or found.nodes or found.running:
        raise ObjectError(
            f"{path}.{kind}", "brings no pods" if not pods else "brings more than pods to place"
        )
    if any(is_daemon(pod) for pod in pods):
        raise ObjectError(
            f"{path}.{kind}", "has a DaemonSet", "put it among the objects of the cluster's files"
        )
    if kind in ("requests", "pod"):
        pods = _replicas(pods[0], written)
    elif written.replicas != 1:
        raise ObjectError(f"{path}.replicas", f"goes with requests and pod, not with {kind}")
    there = {id(obj) for obj in objects}
    added = [obj for obj in found.objects if isinstance(obj, KubeObject) and id(obj) not in there]
    makes_claims = any(pod.spec.resource_claims or _has_ephemeral(pod) for pod in pods)
    return WorkloadShape(
        f"{tenant}/{written.name}",
        parse_number(written.weight, f"{path}.weight"),
        pods,
        [obj for obj in added if not _is_own_claim(obj)],
        read_run_time(written.run_time, f"{path}.runTime"),
        written.gang,
        PodClaimMaker([*objects, *added], gates) if makes_claims else None,
    )


def _documents(
    written: WrittenWorkload, kind: str, path: str, source: str, beside: str
) -> list[SourceDocument]:
    if kind == "file":
        name = find_beside(written.file, beside)
        return read_documents(read_input(name, MAX_CLUSTER_BYTES), name)
    if kind == "manifests":
        return [
            SourceDocument(source, 1, 1, raw, item=f"{path}.manifests[{at}]")
            for at, raw in enumerate(written.manifests or ())
        ]
    pod: JsonObject = dict(written.pod or {})
    if written.requests is not None:
        # What nodes cannot give away twice wants a limit too.
        limits = {
            name: amount
            for name, amount in written.requests.items()
            if not may_be_overcommitted(name)
        }
        resources = {"requests": written.requests, "limits": limits}
        pod["spec"] = {"containers": [{"name": "main", "image": "none", "resources": resources}]}
    metadata = dict(pod.get("metadata") or {})
    metadata["name"] = written.name
    metadata["labels"] = {"app": written.name, **(metadata.get("labels") or {})}
    pod = {"apiVersion": "v1", "kind": "Pod", **pod, "metadata": metadata}
    return [SourceDocument(source, 1, 1, pod, item=f"{path}.{kind}")]


def _replicas(pod: Pod, written: WrittenWorkload) -> list[Pod]:
    """As many as an arrival has, of a controller unless they are bare."""
    metadata = pod.metadata
    if not written.bare and metadata.controller is None:
        uid = uid_for("ReplicaSet", metadata.namespace, written.name)
        owner = OwnerReference(
            api_version="apps/v1", kind="ReplicaSet", name=written.name, uid=uid, controller=True
        )
        metadata = replace(metadata, owner_references=(owner,))
    if written.replicas == 1:
        return [replace(pod, metadata=metadata)]
    return [
        replace(pod, metadata=replace(metadata, name=f"{metadata.name}-{index}"))
        for index in range(written.replicas)
    ]


def _has_ephemeral(pod: Pod) -> bool:
    return any(volume.ephemeral is not None for volume in pod.spec.volumes or ())


def _is_own_claim(obj: KubeObject) -> bool:
    """Whether a claim was made for one pod, as each copy has its own made."""
    return any(owner.kind == "Pod" for owner in obj.metadata.owner_references or ())


@dataclass(frozen=True, slots=True)
class Tenant:
    name: str
    arrivals: Arrivals
    workloads: Sequence[WorkloadShape]
    run_time: RunTime | None = None

    def events(self, seed: int, until_s: float, scale: float) -> Iterator[TimedEvent]:
        """What this tenant brings before a time."""
        choice = RandomStream(seed, self.name, "workloads")
        lengths = RandomStream(seed, self.name, "run times")
        by_name = {shape.key.rpartition("/")[2]: shape for shape in self.workloads}
        weights = [shape.weight for shape in self.workloads]
        # One after the other, as `_choose` counts down; `sum` rounds otherwise from Python 3.12 on.
        total = reduce(add, weights)
        arrived: Counter[str] = Counter()
        for arrival in self.arrivals.draw(RandomStream(seed, self.name, "arrivals"), scale):
            if arrival.at >= until_s:
                return
            shape = self.workloads[0]
            if arrival.workload:
                shape = by_name[arrival.workload]
            elif len(weights) > 1:
                shape = self._choose(choice.draw() * total)
            run_time_s = arrival.run_time_s
            draw = shape.run_time or self.run_time
            if run_time_s is None and draw is not None:
                run_time_s = round(draw(lengths), 6)
            yield from shape.arrive(arrived[shape.key], round(arrival.at, 6), run_time_s)
            arrived[shape.key] += 1

    def pod_names(self) -> Iterator[str]:
        """What pods of this tenant are called, without the number of their arrival."""
        for shape in self.workloads:
            for pod in shape.pods:
                yield object_key(pod.metadata)

    def require_known_workloads(self, path: str) -> None:
        """Raises ObjectError if a trace names a workload that the tenant does not have."""
        known = {shape.key.rpartition("/")[2] for shape in self.workloads}
        for name in sorted(self.arrivals.named_workloads - known):
            guess = did_you_mean(closest(name, sorted(known)))
            raise ObjectError(path, f"there is no workload {name}", guess)

    def _choose(self, at: float) -> WorkloadShape:
        for shape in self.workloads:
            at -= shape.weight
            if at < 0:
                return shape
        return self.workloads[-1]


def merge_events(
    tenants: Sequence[Tenant], seed: int, until_s: float, scale: float = 1.0
) -> Iterator[TimedEvent]:
    """All tenants' events in the order of their times, made as they are requested."""
    return heapq.merge(
        *(tenant.events(seed, until_s, scale) for tenant in tenants), key=lambda event: event.at
    )
