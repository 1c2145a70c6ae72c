"""Patches, subresources, custom resources, selectors: all keep to the budget of `test_budget`."""

from resource import RUSAGE_SELF, getrusage
from typing import Any

import pytest
from support.apiserver.api_calls import APPLY, JSON_PATCH, MERGE, STRATEGIC, good
from support.apiserver.hostile_values import CUSTOM
from support.apiserver.metered_server import Meter, count_better_of_two
from support.apiserver.populated_server import collection

from podium.apiserver import protobuf
from podium.apiserver.http.messages import MAX_BODY_BYTES
from podium.apiserver.protobuf.envelope import enveloped
from podium.apiserver.protobuf.wire import bytes_field

MANY = 70_000
ITEMS = 24_000
OPERATIONS = 9_990
CONFIG_MAP = "/api/v1/namespaces/ns/configmaps/a"
PODS = "/api/v1/namespaces/ns/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/ns/deployments"
QUEUES = collection(CUSTOM)
LABELS = {f"k{number}": "v" for number in range(MANY)}
OWNERS = [
    {"apiVersion": "v1", "kind": "K", "name": f"n{number}", "uid": f"u{number}"}
    for number in range(9_000)
]
HARD_METADATA: dict[str, dict[str, Any]] = {
    "labels": {"labels": LABELS},
    "annotations": {"annotations": LABELS},
    "finalizers": {"finalizers": [f"a/f{number}" for number in range(MANY)]},
    "owners": {"ownerReferences": OWNERS},
}


@pytest.mark.parametrize("what", HARD_METADATA)
@count_better_of_two
def test_bodies_of_subresources_are_read_within_the_budget(what: str) -> None:
    meter = Meter()
    metadata = {"name": "a", "namespace": "ns", **HARD_METADATA[what]}
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


HARD_QUEUES: dict[str, dict[str, Any]] = {
    "keyed items": {"items": [{"key": f"k{number}"} for number in range(ITEMS)]},
    "equal items": {"items": [{"key": "k"}] * ITEMS},
    "items without keys": {"items": [{}] * ITEMS},
    "items of another type": {"items": ["x"] * MANY},
    "fields to prune": {f"x{number}": 1 for number in range(MANY)},
    "fields to prune in items": {
        "items": [{"key": f"k{number}", "x": 1, "y": 2} for number in range(ITEMS)]
    },
    "unknown fields to keep": {"open": {f"x{number}": number for number in range(MANY)}},
    "lists to keep": {"open": {"x": [[number] for number in range(ITEMS)]}},
    "a long text": {"name": "a" * 2_900_000},
    "a text that does not match": {"name": "a" * 2_900_000 + "!"},
}


@pytest.mark.parametrize("what", HARD_QUEUES)
@count_better_of_two
def test_custom_resources_are_served_within_the_budget(what: str) -> None:
    meter = Meter()
    spec = HARD_QUEUES[what]
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


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {"list": ["x"] * 100}
    for _ in range(depth):
        value = {"a": value}
    return value


DEEP = "/data" + "/a" * 150
HARD_OPERATIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "add in front": (["x"] * 40_000, {"op": "add", "path": "/data/l/0", "value": "y"}),
    "remove in front": (["x"] * 40_000, {"op": "remove", "path": "/data/l/0"}),
    "test in front": (["x"] * 40_000, {"op": "test", "path": "/data/l/0", "value": "x"}),
    "test a long list": (["x"] * 40_000, {"op": "test", "path": "/data/l/39999", "value": "x"}),
    "move to the end": (["x"] * 40_000, {"op": "move", "from": "/data/l/0", "path": "/data/l/-"}),
    "move to the front": (
        ["x"] * 40_000,
        {"op": "move", "from": "/data/l/39999", "path": "/data/l/0"},
    ),
    "copy to the front": (
        ["x"] * 40_000,
        {"op": "copy", "from": "/data/l/39999", "path": "/data/l/0"},
    ),
    "add deep down": (nested(150), {"op": "add", "path": f"/data/l{'/a' * 150}/b", "value": 1}),
    "move deep down": (
        nested(150),
        {"op": "move", "from": f"/data/l{'/a' * 150}/list", "path": f"/data/l{'/a' * 150}/list"},
    ),
    "test deep down": (
        nested(150),
        {"op": "test", "path": f"/data/l{'/a' * 100}", "value": nested(50)},
    ),
}


@pytest.mark.parametrize("what", HARD_OPERATIONS)
@count_better_of_two
def test_ten_thousand_operations_stay_within_the_budget(what: str) -> None:
    meter = Meter()
    content, operation = HARD_OPERATIONS[what]
    size = len(str(operation)) + 20
    operations: list[dict[str, Any]] = [
        {"op": "add", "path": "/data", "value": {"l": content}},
        *[operation] * min(OPERATIONS, 2_500_000 // size),
    ]

    meter.ask(what, "PATCH", CONFIG_MAP, operations, content_type=JSON_PATCH)

    assert meter.beyond_budget() == {}


@count_better_of_two
def test_tests_of_long_lists_stay_within_the_budget() -> None:
    meter = Meter()
    same = [{"op": "test", "path": "/data", "value": None}] * OPERATIONS
    operations: list[dict[str, Any]] = [
        {"op": "add", "path": "/data", "value": {"l": ["x"] * 30_000}},
        *same[:1000],
    ]

    meter.ask("test", "PATCH", CONFIG_MAP, operations, content_type=JSON_PATCH)

    assert meter.beyond_budget() == {}


NAMES = [f"n{number}" for number in range(ITEMS)]
FINALIZERS = [f"a/{name}" for name in NAMES]
HARD_DIRECTIVES: dict[str, dict[str, Any]] = {
    "an order of objects": {
        "spec": {
            "$setElementOrder/volumes": [{"name": name} for name in reversed(NAMES)],
            "volumes": [{"name": "v"}],
        }
    },
    "an order of texts": {
        "metadata": {
            "$setElementOrder/finalizers": FINALIZERS[::-1],
            "finalizers": FINALIZERS[:1],
        }
    },
    "texts to delete": {"metadata": {"$deleteFromPrimitiveList/finalizers": FINALIZERS[::-1]}},
    "objects to delete": {
        "spec": {"volumes": [{"name": name, "$patch": "delete"} for name in reversed(NAMES)]}
    },
    "keys to retain": {"spec": {"volumes": [{"name": "n0", "$retainKeys": ["name", *NAMES]}]}},
    "keys to retain in each": {
        "spec": {
            "volumes": [{"name": name, "$retainKeys": ["name"]} for name in NAMES[: ITEMS // 2]]
        }
    },
    "a list to replace": {"spec": {"volumes": [{"$patch": "replace"}, {"name": "v"}]}},
}


@pytest.mark.parametrize("what", HARD_DIRECTIVES)
@count_better_of_two
def test_directives_over_long_lists_stay_within_the_budget(what: str) -> None:
    meter = Meter()
    volumes = [{"name": name} for name in NAMES]
    spec = {"containers": [{"name": "c", "image": "i"}], "volumes": volumes}
    meter.ask("create", "POST", PODS, {"metadata": {"name": "v"}, "spec": spec})
    meter.ask(
        "create",
        "POST",
        PODS,
        {
            "metadata": {"name": "f", "finalizers": FINALIZERS},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    )

    for name in ("v", "f"):
        meter.ask(
            f"patch {name}",
            "PATCH",
            f"{PODS}/{name}",
            HARD_DIRECTIVES[what],
            content_type=STRATEGIC,
        )

    assert meter.beyond_budget() == {}


HARD_SELECTORS = {
    "labels": "labelSelector=" + ",".join(f"k{n}%3Dv{n}" for n in range(70_000)),
    "values": "labelSelector=k in (" + ",".join(f"v{n}" for n in range(120_000)) + ")",
    "values that are not": "labelSelector=k notin (" + ",".join("v" for n in range(400_000)) + ")",
    "not": "labelSelector=" + "!" * 1_000_000,
    "open": "labelSelector=" + "(" * 1_000_000,
    "long": "labelSelector=" + "a" * 1_000_000,
    "fields": "fieldSelector=" + ",".join("metadata.name!%3Dx" for _ in range(55_000)),
    "escapes": "fieldSelector=" + "\\" * 1_000_000,
    "percent": "labelSelector=" + "%61" * 340_000,
    "many parameters": "&".join(f"p{n}=1" for n in range(110_000)),
    "the same parameter": "&".join("labelSelector=a" for n in range(60_000)),
}


@pytest.mark.parametrize("what", HARD_SELECTORS)
@count_better_of_two
def test_queries_of_a_mebibyte_are_read_within_the_budget(what: str) -> None:
    meter = Meter()
    query = HARD_SELECTORS[what][: 1 << 20]

    meter.ask("list", "GET", f"{PODS}?{query}")
    meter.ask("delete all", "DELETE", f"/api/v1/namespaces/ns/secrets?dryRun=All&{query}")

    assert meter.beyond_budget() == {}


SIZE = MAX_BODY_BYTES - 200


def pod_message(spec: bytes) -> bytes:
    return enveloped("v1", "Pod", bytes_field(1, bytes_field(1, b"p")) + bytes_field(2, spec))


HARD_MESSAGES = {
    "empty containers": pod_message(bytes_field(2, b"") * (SIZE // 2)),
    "empty variables": pod_message(bytes_field(2, bytes_field(7, b"") * (SIZE // 2 - 10))),
    "the same number": pod_message(b"\x20\x01" * (SIZE // 2)),
    "unknown fields": pod_message(b"\x88\x7d\x01" * (SIZE // 3)),
    "empty entries": enveloped("v1", "ConfigMap", bytes_field(2, b"") * (SIZE // 2)),
    "envelopes": b"k8s\x00" + bytes_field(1, b"") * (SIZE // 2),
    "messages": b"k8s\x00" + bytes_field(2, b"") * (SIZE // 2),
}


@pytest.mark.parametrize("what", HARD_MESSAGES)
@count_better_of_two
def test_protobuf_is_read_or_refused_within_the_budget(what: str) -> None:
    meter = Meter()

    body = HARD_MESSAGES[what]
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


@count_better_of_two
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


@pytest.mark.parametrize("part", ["a.", "a/", "a-", "a_"])
def test_a_name_of_a_million_parts_takes_no_more_memory_than_a_few_copies(part: str) -> None:
    meter = Meter()
    name = part * (SIZE // len(part) - 1000) + "a"
    containers = [{"name": "c", "image": name}]
    pods = [
        {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        {"metadata": {"name": "p"}, "spec": {"containers": containers}},
        {"metadata": {"name": "p", "labels": {f"{name}/a": ""}}, "spec": {"containers": []}},
    ]
    before = getrusage(RUSAGE_SELF).ru_maxrss

    for number, pod in enumerate(pods):
        meter.ask(f"create {number}", "POST", PODS, pod)

    assert getrusage(RUSAGE_SELF).ru_maxrss - before < 100 << 10
    assert meter.beyond_budget() == {}
