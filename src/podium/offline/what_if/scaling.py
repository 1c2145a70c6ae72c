"""Another number of pods of one workload: who comes, and who goes.

New pods are copies of one that is there. Those that go are the ones that their controller would
remove first: the highest ordinals of a stateful set, and of others the least missed
(`podium.kubernetes.controllers.pods`).
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from podium.golang.errors import InputError
from podium.kubernetes.controllers.pods import Pod as ControlledPod
from podium.kubernetes.controllers.pods import least_missed
from podium.kubernetes.controllers.workloads import DaemonSet, Job, Workload
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.pod_references import deployments_of, owner_of, read_reference
from podium.offline.simulate.scenario import Scenario
from podium.offline.what_if.changes import Scale
from podium.offline.what_if.pod_templates import Copies, PodTemplate


def pods_of_workload(scenario: Scenario, pods: Iterable[Pod], reference: str) -> list[Pod]:
    """The pods of `deploy/web` or `shop/sts/db`. Raises InputError if there are none, or if two
    namespaces have such a workload."""
    kind, namespace, name = read_reference(reference)
    deployments = deployments_of(scenario)
    found = [
        pod
        for pod in pods
        if owner_of(pod, kind, deployments) == name
        and (not namespace or pod.metadata.namespace == namespace)
    ]
    namespaces = sorted({pod.metadata.namespace for pod in found})
    if not found:
        raise InputError(f"{reference} has no pods to make more of", remedy="deploy/web=50")
    if len(namespaces) > 1:
        raise InputError(
            f"{reference} is in namespaces {', '.join(namespaces)}",
            remedy=f"write {namespaces[0]}/{reference}",
        )
    return found


def workload_wanting(scenario: Scenario, change: Scale, namespace: str) -> Iterator[Workload]:
    """The workload itself, as it is after the change, if the input has it."""
    kind, _, name = read_reference(change.workload)
    for workload in scenario.workloads:
        if (workload.kind, workload.namespace, workload.name) != (kind, namespace, name):
            continue
        if not isinstance(workload, DaemonSet | Job):
            yield replace(workload, spec=replace(workload.spec, replicas=change.replicas))


def pods_to_remove(pods: Sequence[Pod], replicas: int) -> list[Pod]:
    """Those of a workload's pods that are too many, in the order in which they go."""
    too_many = len(pods) - replicas
    if too_many <= 0:
        return []
    owner = pods[0].metadata.controller
    if owner is not None and owner.kind == "StatefulSet":
        return sorted(pods, key=_ordinal, reverse=True)[:too_many]
    by_key = {pod.metadata.key: pod for pod in sorted(pods, key=lambda pod: pod.metadata.key)}
    controlled = [
        msgspec.convert(msgspec.to_builtins(pod), ControlledPod, strict=False)
        for pod in by_key.values()
    ]
    return [by_key[pod.metadata.key] for pod in least_missed(controlled)[:too_many]]


def pods_to_add(
    pods: Sequence[Pod], change: Scale, objects: Iterable[KubeObject], gates: FeatureGates
) -> tuple[list[Pod], list[KubeObject]]:
    """New pods, and the claims that are made for them."""
    first = min(pods, key=_ordinal)
    copies = Copies(PodTemplate(first), objects, gates)
    made: list[Pod] = []
    claims: list[KubeObject] = []
    for number in range(change.replicas - len(pods)):
        pod, own = copies.make(number)
        made.append(pod)
        claims += own
    return made, claims


def _ordinal(pod: Pod) -> tuple[int, str]:
    number = pod.metadata.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0, pod.metadata.name
