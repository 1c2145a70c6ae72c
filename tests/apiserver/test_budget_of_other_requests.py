"""Patches, subresources, custom resources, selectors: all keep to the budget of `test_budget`."""

import tracemalloc
from typing import Any

import pytest
from support.apiserver.api_calls import APPLY, JSON_PATCH, MERGE, STRATEGIC, good
from support.apiserver.hostile_values import CUSTOM
from support.apiserver.metered_server import Meter
from support.apiserver.populated_server import collection
from support.suite.slow_cases import few_of

from podium.apiserver import protobuf
from podium.bench import hostile_bodies
from podium.bench.hostile_bodies import ITEMS, SIZE

CONFIG_MAP = "/api/v1/namespaces/ns/configmaps/a"
PODS = "/api/v1/namespaces/ns/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/ns/deployments"
QUEUES = collection(CUSTOM)


@pytest.mark.parametrize("what", few_of(hostile_bodies.METADATA, 4))
def test_bodies_of_subresources_are_read_within_the_budget(what: str) -> None:
    meter = Meter()
    metadata = {"name": "a", "namespace": "ns", **hostile_bodies.METADATA[what]}
    target = {"kind": "Node", "name": "a"}

    meter.ask("bind", "POST", f"{PODS}/a/binding", {"metadata": metadata, "target": target})
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}
    meter.ask("bind by name", "POST", "/api/v1/namespaces/ns/bindings", binding)
    meter.ask("evict", "POST", f"{PODS}/a/eviction?dryRun=All", {"metadata": metadata})
    options = {"preconditions": {"uid": "x" * 2_000_000}}
    meter.ask(
        "evict another",
        "POST",
        f"{PODS}/a/eviction",
        {"metadata": {"name": "a"}, "deleteOptions": options},
    )
    scale = {"metadata": metadata, "spec": {"replicas": 1}}
    meter.ask("scale", "PUT", f"{DEPLOYMENTS}/a/scale", scale)
    for content_type in (MERGE, STRATEGIC):
        meter.ask(content_type, "PATCH", f"{DEPLOYMENTS}/a/scale", scale, content_type=content_type)

    assert meter.beyond_budget() == {}


def queue(spec: dict[str, Any], name: str = "new") -> dict[str, Any]:
    return {
        "apiVersion": CUSTOM.api_version,
        "kind": CUSTOM.kind,
        "metadata": {"name": name},
        "spec": spec,
    }


@pytest.mark.parametrize("what", few_of(["keyed items", "fields to prune"], 2))
def test_custom_resources_are_created_and_applied_within_the_budget(what: str) -> None:
    meter = Meter()
    spec = hostile_bodies.QUEUE_SPECS[what]
    applied = f"{QUEUES}/applied?fieldManager=m&force=true"

    meter.ask("create", "POST", QUEUES, queue(spec))
    meter.ask("apply", "PATCH", applied, queue(spec, "applied"), content_type=APPLY)
    meter.ask("apply again", "PATCH", applied, queue({}, "applied"), content_type=APPLY)

    assert meter.beyond_budget() == {}


@pytest.mark.slow
@pytest.mark.parametrize("what", hostile_bodies.QUEUE_SPECS)
def test_custom_resources_are_served_within_the_budget(what: str) -> None:
    meter = Meter()
    spec = hostile_bodies.QUEUE_SPECS[what]
    fewer = {key: value[1:] if isinstance(value, list) else value for key, value in spec.items()}
    applied = f"{QUEUES}/applied?fieldManager=m&force=true"

    for validation in ("Strict", "Ignore"):
        path = f"{QUEUES}?fieldValidation={validation}"
        meter.ask(f"create, {validation}", "POST", path, queue(spec, validation.lower()))
    meter.ask("merge", "PATCH", f"{QUEUES}/a?dryRun=All", {"spec": spec}, content_type=MERGE)
    version = good(meter.api.ask("GET", f"{QUEUES}/a"))["metadata"]["resourceVersion"]
    changed = queue(spec, "a")
    changed["metadata"]["resourceVersion"] = version
    meter.ask("replace", "PUT", f"{QUEUES}/a", changed)
    replaced = [{"op": "add", "path": "/spec", "value": spec}]
    meter.ask("patch", "PATCH", f"{QUEUES}/a", replaced, content_type=JSON_PATCH)
    meter.ask("apply", "PATCH", applied, queue(spec, "applied"), content_type=APPLY)
    meter.ask("apply again", "PATCH", applied, queue(fewer, "applied"), content_type=APPLY)
    conflicting = applied.replace("=m&force=true", "=n")
    body = queue({**spec, "replicas": 7}, "applied")
    meter.ask("apply in conflict", "PATCH", conflicting, body, content_type=APPLY)
    meter.ask("give up", "PATCH", applied, queue({}, "applied"), content_type=APPLY)
    meter.ask("list", "GET", QUEUES)

    assert meter.beyond_budget() == {}


@pytest.mark.parametrize("what", few_of(hostile_bodies.JSON_PATCHES, 3))
def test_ten_thousand_operations_stay_within_the_budget(what: str) -> None:
    meter = Meter()

    operations = hostile_bodies.JSON_PATCHES[what]
    meter.ask(what, "PATCH", CONFIG_MAP, operations, content_type=JSON_PATCH)

    assert meter.beyond_budget() == {}


@pytest.mark.parametrize("what", few_of(hostile_bodies.STRATEGIC_MERGES, 4))
def test_directives_over_long_lists_stay_within_the_budget(what: str) -> None:
    meter = Meter()
    for pod in (hostile_bodies.POD_WITH_VOLUMES, hostile_bodies.POD_WITH_FINALIZERS):
        meter.ask("create", "POST", PODS, pod)

    for name in ("v", "f"):
        meter.ask(
            f"patch {name}",
            "PATCH",
            f"{PODS}/{name}",
            hostile_bodies.STRATEGIC_MERGES[what],
            content_type=STRATEGIC,
        )

    assert meter.beyond_budget() == {}


@pytest.mark.parametrize("what", few_of(hostile_bodies.QUERIES, 3))
def test_queries_of_a_mebibyte_are_read_within_the_budget(what: str) -> None:
    meter = Meter()
    query = hostile_bodies.QUERIES[what][: 1 << 20]

    meter.ask("list", "GET", f"{PODS}?{query}")
    meter.ask("delete all", "DELETE", f"/api/v1/namespaces/ns/secrets?dryRun=All&{query}")

    assert meter.beyond_budget() == {}


@pytest.mark.parametrize("what", few_of(hostile_bodies.PROTOBUF, 3))
def test_protobuf_is_read_or_refused_within_the_budget(what: str) -> None:
    meter = Meter()

    body = hostile_bodies.PROTOBUF[what]
    meter.ask(what, "POST", PODS, body, content_type=protobuf.MEDIA_TYPE)

    assert meter.beyond_budget() == {}


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (
            "labelSelector=" + ",".join(["a"] * 1001),
            "exceeded max number of requirements (1000)",
        ),
        (
            "labelSelector=a in (" + ",".join(["a"] * 50_001) + ")",
            "exceeded max number of tokens (100000)",
        ),
        (
            "fieldSelector=" + ",".join(["metadata.name!%3Dx"] * 1001),
            "exceeded max number of terms (1000)",
        ),
    ],
    ids=["requirements", "tokens", "terms"],
)
def test_selectors_that_ask_too_much_of_every_object_are_refused(query: str, why: str) -> None:
    refused = Meter().ask("list", "GET", f"{PODS}?{query}")

    assert refused.status == 400
    assert why in refused.message


def test_a_role_that_gathers_by_many_selectors_is_kept_within_the_budget() -> None:
    meter = Meter()
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    selectors: list[dict[str, Any]] = [
        {"matchLabels": {f"k{number}": "v"}} for number in range(ITEMS // 2)
    ]
    for what, chosen in (("distinct", selectors), ("equal", [{}] * ITEMS)):
        rule: dict[str, Any] = {"clusterRoleSelectors": chosen}
        role = {"metadata": {"name": what}, "aggregationRule": rule}
        meter.ask(f"create, {what}", "POST", roles, role)
    gathered = {"metadata": {"name": "gathered", "labels": {"k7": "v"}}}
    meter.ask("create one that is gathered", "POST", roles, gathered)

    assert meter.beyond_budget() == {}


@pytest.mark.parametrize("part", few_of(["a.", "a/", "a-", "a_"], 4))
def test_a_name_of_a_million_parts_takes_no_more_memory_than_a_few_copies(part: str) -> None:
    meter = Meter()
    name = part * (SIZE // len(part) - 1000) + "a"
    containers = [{"name": "c", "image": name}]
    pods = [
        {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        {"metadata": {"name": "p"}, "spec": {"containers": containers}},
        {"metadata": {"name": "p", "labels": {f"{name}/a": ""}}, "spec": {"containers": []}},
    ]
    tracemalloc.start()
    try:
        for pod in pods:
            meter.api.ask("POST", PODS, pod)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak_bytes < 100 << 20
