"""What a simulation admits is what the embedded API server admits, and in the same words."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.apiserver.api_calls import Api
from support.apiserver.schema_values import objects_of
from support.apiserver.smallest_objects import smallest
from support.offline.simulate.simulator_and_server import GATES, GIZMOS, admit, post, store
from support.scheduler.engine.call_profile import Call, recording

from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.resources.table import served_resources
from podium.kubernetes.schema import schema_of
from podium.offline.simulate.admission import served_kinds
from podium.offline.simulate.inputs import READ_KINDS

Json = dict[str, Any]
SERVED = {
    kind: found[0]
    for api_version, kind in READ_KINDS
    if (found := served_kinds(GATES).find(api_version, kind)) is not None
}
PODS = SERVED["Pod"]
OTHERS = {
    f"{each.kind} {each.api_version}": each
    for each in served_resources(GATES)
    if {"create", "get"} <= {*each.verbs} and SERVED.get(each.kind) != each
}
"""Kinds that scheduling does not read. A server refuses some of their objects all the same."""
EVERY = {**SERVED, **OTHERS}
PURE = tuple(
    f"kubernetes/{each}/" for each in ("admission", "defaulting", "strategy", "validation")
)


@pytest.fixture(scope="module")
def api() -> Api:
    return Api()


def pod(name: str = "p", *, container: Json | None = None, **spec: Any) -> Json:
    containers = [{"name": "main", "image": "app", **(container or {})}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": containers, **spec},
    }


def spread(**more: Any) -> Json:
    selector = {"matchLabels": {"app": "a"}}
    return {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector,
        **more,
    }


def requesting(requests: Json, limits: Json | None = None) -> Json:
    resources = {"requests": requests, "limits": requests if limits is None else limits}
    return {"resources": resources}


def near(**term: Any) -> Json:
    required = [{"topologyKey": "zone", "labelSelector": {}, **term}]
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


PORTS = [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 81, "hostPort": 8080}]
MALFORMED: dict[str, Json] = {
    "an operator whose gate is closed": pod(
        tolerations=[{"key": "tier", "operator": "Gt", "value": "3"}]
    ),
    "seconds of a toleration that expels nobody": pod(
        tolerations=[
            {"key": "a", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 3}
        ]
    ),
    "a toleration's key with a space": pod(tolerations=[{"key": "a b", "operator": "Exists"}]),
    "no domains": pod(topologySpreadConstraints=[spread(minDomains=0)]),
    "domains of a preference": pod(
        topologySpreadConstraints=[spread(minDomains=2, whenUnsatisfiable="ScheduleAnyway")]
    ),
    "an unknown policy": pod(topologySpreadConstraints=[spread(nodeAffinityPolicy="Maybe")]),
    "a constraint twice": pod(topologySpreadConstraints=[spread(), spread()]),
    "label keys without a selector": pod(
        topologySpreadConstraints=[spread(labelSelector=None, matchLabelKeys=["app"])]
    ),
    "a namespace that cannot be": pod(affinity=near(namespaces=["A_B"])),
    "a host port twice": pod(container={"ports": PORTS}),
    "two containers of one name": pod(
        containers=[{"name": "c", "image": "i"}, {"name": "c", "image": "i"}]
    ),
    "an extended resource with another limit": pod(
        container=requesting({"example.com/gpu": "1"}, {"example.com/gpu": "2"})
    ),
    "half a GPU": pod(container=requesting({"nvidia.com/gpu": "500m"})),
    "a resource that is none": pod(container=requesting({"cpus": "1"})),
    "a gate twice": pod(schedulingGates=[{"name": "g"}, {"name": "g"}]),
    "a claim twice": pod(
        resourceClaims=[
            {"name": "r", "resourceClaimName": "a"},
            {"name": "r", "resourceClaimName": "b"},
        ]
    ),
    "a volume without a claim's name": pod(volumes=[{"name": "v", "persistentVolumeClaim": {}}]),
    "a request beyond its limit": pod(container=requesting({"cpu": "2"}, {"cpu": "1"})),
    "gates of a pod that has a node": pod(nodeName="n1", schedulingGates=[{"name": "g"}]),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_pod_is_refused_in_the_servers_words(api: Api, name: str) -> None:
    refused = post(api, PODS, MALFORMED[name])

    assert refused.causes
    assert admit(MALFORMED[name]) == refused


@pytest.mark.parametrize("kind", EVERY)
def test_the_smallest_object_of_a_kind_is_stored_as_the_server_stores_it(
    api: Api, kind: str
) -> None:
    written = whole(EVERY[kind], {})
    stored = post(api, EVERY[kind], written)

    assert stored.stored is not None, stored
    assert admit(written) == stored


NUMBERS: dict[str, Json] = {
    "ResourceQuota": {"spec": {"hard": {"pods": 3, "requests.cpu": 1.5, "limits.memory": 2**31}}},
    "LimitRange": {"spec": {"limits": [{"type": "Container", "default": {"cpu": 2}}]}},
    "RuntimeClass": {"overhead": {"podFixed": {"cpu": 1, "memory": 2**20}}},
    "Pod": {"spec": {"containers": [{"name": "c", "image": "i", **requesting({"cpu": 1})}]}},
    "PersistentVolume": {"spec": {"capacity": {"storage": 2**30}}},
    "PersistentVolumeClaim": {"spec": {"resources": {"requests": {"storage": 2**30}}}},
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_amounts_may_be_written_as_numbers(api: Api, kind: str) -> None:
    written = whole(SERVED[kind], NUMBERS[kind])
    stored = post(api, SERVED[kind], written)

    assert stored.stored is not None, stored
    assert admit(written) == stored


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
@pytest.mark.parametrize("kind", SERVED)
def test_any_object_is_refused_or_stored_as_by_the_server(
    api: Api, kind: str, data: st.DataObject
) -> None:
    compare(api, SERVED[kind], data)


@settings(
    max_examples=settings().max_examples // 4,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
@pytest.mark.parametrize("kind", OTHERS)
def test_any_object_that_scheduling_does_not_read_is_so_too(
    api: Api, kind: str, data: st.DataObject
) -> None:
    compare(api, OTHERS[kind], data)


def compare(api: Api, resource: ApiResource, data: st.DataObject) -> None:
    """Some object of a resource, on the server and offline."""
    schema = schema_of(resource.group, resource.version, resource.kind)
    names = [name for name in schema.root.fields if name not in ("metadata", "status")]
    written = whole(resource, data.draw(objects_of(schema, *names)))
    answered, offline = post(api, resource, written), admit(written)

    assert offline.is_refused == answered.is_refused, (written, answered, offline)
    if answered.stored is not None:
        assert offline.stored == answered.stored
    elif answered.causes:
        assert offline.causes == answered.causes


def whole(resource: ApiResource, changes: Json) -> Json:
    """A sound object with some fields changed, which may make it unsound."""
    base = GIZMOS if resource.kind == "CustomResourceDefinition" else smallest(resource)
    if resource.api_version == "v1" and resource.kind == "Event":
        base = merged(base, {"involvedObject": {"namespace": "default"}})
    named = {"apiVersion": resource.api_version, "kind": resource.kind}
    return {**merged(base, changes), **named}


def merged(base: Any, changes: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(changes, dict):
        return changes
    both = {name: merged(base[name], changes[name]) for name in base.keys() & changes.keys()}
    return {**base, **changes, **both}


# --- what the rest of the cluster has to say --------------------------------------------------

LIMITS: Json = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "small", "namespace": "default"},
    "spec": {
        "limits": [
            {"type": "Container", "defaultRequest": {"cpu": "250m"}, "default": {"cpu": "2"}},
            {"type": "Pod", "max": {"memory": "4Gi", "cpu": "3"}},
        ]
    },
}
KATA: Json = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "kata"},
    "handler": "kata",
    "overhead": {"podFixed": {"cpu": "250m"}},
    "scheduling": {
        "nodeSelector": {"runtime": "kata"},
        "tolerations": [{"key": "kata", "operator": "Exists", "effect": "NoSchedule"}],
    },
}
URGENT: Json = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "urgent"},
    "value": 1000,
    "preemptionPolicy": "Never",
}
QUOTA: Json = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "tight", "namespace": "default"},
    "spec": {"hard": {"limits.memory": "2Gi", "pods": "3"}},
}
BESIDE = (LIMITS, KATA, URGENT, QUOTA)
MEMORY = requesting({"memory": "1Gi"})
ADMITTED: dict[str, Json] = {
    "plain": pod(container=MEMORY),
    "of a runtime class": pod(container=MEMORY, runtimeClassName="kata"),
    "of a priority class": pod(container=MEMORY, priorityClassName="urgent"),
    "with label keys": pod(
        container=MEMORY, topologySpreadConstraints=[spread(matchLabelKeys=["hash"])]
    )
    | {"metadata": {"name": "p", "labels": {"app": "a", "hash": "x"}}},
    "on the host's network": pod(
        container={**MEMORY, "ports": [{"containerPort": 80}]}, hostNetwork=True
    ),
    "without a limit that the quota counts": pod(),
    "beyond the quota": pod(container=requesting({"memory": "3Gi"})),
    "beyond the limit range": pod(container=requesting({"memory": "5Gi"})),
    "against its runtime class": pod(
        container=MEMORY, runtimeClassName="kata", nodeSelector={"runtime": "runc"}
    ),
    "of a class that is not there": pod(container=MEMORY, priorityClassName="none"),
    "of a runtime that is not there": pod(container=MEMORY, runtimeClassName="none"),
    "with a priority of its own": pod(container=MEMORY, priority=7),
}


@pytest.mark.parametrize("name", ADMITTED)
def test_limits_runtimes_priorities_and_quotas_give_the_pod_that_the_server_stores(
    name: str,
) -> None:
    api, written = Api(), ADMITTED[name]
    for each in BESIDE:
        assert not post(api, SERVED[each["kind"]], each, dry_run=False).is_refused
    answered = post(api, PODS, written)

    assert admit(written, BESIDE) == answered


def test_a_pod_passes_the_same_functions_in_a_simulation_and_on_the_server() -> None:
    written = ADMITTED["with label keys"]
    api = Api()
    for each in (LIMITS, KATA, URGENT):
        assert not post(api, SERVED[each["kind"]], each, dry_run=False).is_refused
    post(api, PODS, written)  # what is worked out once is there
    with recording() as calls:
        post(api, PODS, written)
    on_server = admission_of(calls)
    with recording() as calls:
        store(written, (LIMITS, KATA, URGENT, written))

    assert len(on_server) > 50
    assert admission_of(calls) == on_server


def admission_of(calls: list[Call]) -> list[str]:
    """The functions of the last admission, in the order in which they were called first."""
    names = [call.function for call in calls]
    begun = len(names) - 1 - names[::-1].index("admit_new")
    own = [
        f"{call.file}:{call.function}"
        for call in calls[begun:]
        if call.file.startswith(PURE) and call.function not in ("_do_nothing", "_no_problems")
    ]
    return list(dict.fromkeys(own))
