"""Workloads that have fewer pods than they are to have, because the API server does not take more.

Such pods wait for no node, so that no scheduler can say why they are missing. A ReplicaSet has a
condition with the server's refusal. Other controllers tell of it in Events alone, which nobody
reads for this: what the server would say to one more pod is asked of the cluster's own quotas,
limits and classes.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Final, NamedTuple

from podium.golang.errors import InputError, ObjectError
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.workloads import (
    DaemonSet,
    Deployment,
    Job,
    Replicated,
    Workload,
)
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod import Pod, as_pending
from podium.kubernetes.kinds.workloads import ReplicaSet, StatefulSet
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.scenario import Scenario, admission_of
from podium.scheduler.explain.proposals.admitting import as_json

_FAILURE: Final = "ReplicaFailure"
_EVENTS: Final = "the Events of its controller say whether any were refused"
_NONE_WAITS: Final = "none of its pods waits for a node"


class PodsRefusedError(InputError):
    """A workload has fewer pods than it is to have, because they cannot be created, and none that
    waits for a node."""


def refuse_missing(
    scenario: Scenario,
    gates: FeatureGates,
    kind: str,
    name: str,
    only: str,
    owned: Mapping[str, Sequence[Pod]],
) -> None:
    """Raises PodsRefusedError for a workload with fewer pods than it wants, all of them on nodes;
    `owned` are its pods by namespace, `only` is the namespace that is meant, if one is."""
    for obj in _named(scenario, kind, name, only):
        pods = owned.get(obj.namespace, ())
        wanted = _count_wanted(obj)
        if not 0 < len(pods) < wanted:
            continue
        has = f"{_name(obj)} wants {_count_pods(wanted)} and has {len(pods)}"
        refusal = _ask_server(scenario, gates, obj, as_json(as_pending(pods[0])))
        if refusal:
            raise PodsRefusedError(f"{has}: {refusal}", remedy=_NONE_WAITS)
        raise PodsRefusedError(f"{has}, with a node", remedy=_EVENTS)
    for replicas in scenario.objects:
        if not isinstance(replicas, ReplicaSet) or only not in ("", replicas.namespace):
            continue
        above = replicas.metadata.controller
        own = above.name if above is not None and kind == "Deployment" else replicas.name
        if own != name or kind not in ("Deployment", "ReplicaSet"):
            continue
        refusal = _told_refusal(replicas)
        if refusal:
            wants = f"wants {_count_pods(replicas.spec.replicas)}"
            has = f"{wants} and has {len(owned.get(replicas.namespace, ()))}"
            where = f"{replicas.namespace}/{kind.lower()}/{name}"
            raise PodsRefusedError(f"{where} {has}: {refusal}", remedy=_NONE_WAITS)


def refuse_without_pods(
    scenario: Scenario, gates: FeatureGates, kind: str, name: str, within: str
) -> None:
    """Raises PodsRefusedError for a workload that is there and has no pods."""
    for obj in _named(scenario, kind, name, within):
        template = getattr(obj.spec, "template", None) if isinstance(obj, Workload) else None
        if template is not None and template.spec and _wants_any(obj):
            body = {"metadata": dict(template.metadata), "spec": template.spec}
            refusal = _ask_server(scenario, gates, obj, body)
            if refusal:
                raise PodsRefusedError(f"{_name(obj)} has no pods: {refusal}", remedy=_NONE_WAITS)
        raise PodsRefusedError(f"{_name(obj)} has no pods", remedy=_EVENTS)


class MissingPods(NamedTuple):
    """A workload, and why the API server takes no more pods of it."""

    kind: str
    namespace: str
    name: str
    refusal: str


def list_missing(scenario: Scenario, gates: FeatureGates) -> Iterator[MissingPods]:
    """The workloads of a cluster that have fewer pods than they are to have because the API server
    refuses more. Those that files would add are expanded instead, which says so itself."""
    owned: dict[tuple[str, str, str], list[Pod]] = {}
    for pod in (*scenario.running, *scenario.pending):
        owner = pod.metadata.controller
        if owner is not None:
            owned.setdefault((owner.kind, pod.metadata.namespace, owner.name), []).append(pod)
    for obj in (*scenario.workloads, *scenario.objects):
        if not isinstance(obj, KubeObject) or not obj.metadata.resource_version:
            continue
        if isinstance(obj, ReplicaSet):
            above = obj.metadata.controller or obj
            refusal = _told_refusal(obj)
            if refusal:
                yield MissingPods(above.kind, obj.namespace, above.name, refusal)
            continue
        pods = owned.get((obj.kind, obj.namespace, obj.name), [])
        if 0 < len(pods) < _count_wanted(obj):
            refusal = _ask_server(scenario, gates, obj, as_json(as_pending(pods[0])))
            if refusal:
                yield MissingPods(obj.kind, obj.namespace, obj.name, refusal)


def _told_refusal(replicas: ReplicaSet) -> str:
    """Why the API server creates no more pods of a ReplicaSet; "" if it does."""
    for condition in replicas.status.conditions or ():
        if condition.type == _FAILURE and condition.status == "True":
            return condition.message or "its pods cannot be created"
    return ""


def _named(scenario: Scenario, kind: str, name: str, within: str) -> Iterator[KubeObject]:
    for obj in (*scenario.workloads, *scenario.objects):
        if not isinstance(obj, KubeObject) or within not in ("", obj.namespace):
            continue
        if (obj.kind, obj.name) == (kind, name):
            yield obj


def _count_wanted(obj: KubeObject) -> int:
    """0 for kinds that say it otherwise, or where nobody knows."""
    match obj:
        case DaemonSet():
            return obj.status.desired_number_scheduled
        case StatefulSet():
            return 1 if obj.spec.replicas is None else obj.spec.replicas
        case Job() if not obj.spec.suspend:
            parallel = 1 if obj.spec.parallelism is None else obj.spec.parallelism
            left = obj.spec.completions
            return parallel if left is None else min(parallel, left - obj.status.succeeded)
        case _:
            return 0


def _wants_any(obj: KubeObject) -> bool:
    if isinstance(obj, Replicated | Deployment):
        return obj.spec.replicas != 0
    return _count_wanted(obj) > 0


def _ask_server(scenario: Scenario, gates: FeatureGates, obj: KubeObject, like: JsonObject) -> str:
    """What the API server says to one more pod; "" if it would take it."""
    server = admission_of(scenario, gates)
    metadata = {**like["metadata"], "namespace": obj.namespace, "name": f"{obj.name}-new"}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": like["spec"]}
    with server.roll_back_on_exit():
        try:
            server.create_in_part(deepcopy(body), Pod)
        except ObjectError as refusal:
            return str(refusal)
    return ""


def _name(obj: KubeObject) -> str:
    return f"{obj.namespace}/{obj.kind.lower()}/{obj.name}"


def _count_pods(number: int | None) -> str:
    return "1 pod" if number == 1 else f"{number} pods"
