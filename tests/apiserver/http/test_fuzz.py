"""Whatever is sent, the answer is a status that means something, and never a bug.

Objects that would be fine are changed in random places and sent to random paths in random ways.
An exception that is no refusal would come out of the service and fail the test.
"""

import copy
import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.apiserver.api_calls import APPLY, JSON_PATCH, MERGE, PODS, STRATEGIC, Api, pod

from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.resources.table import builtin_resources

JUNK: list[Any] = [
    None, 0, -1, 1.5, 1e300, 2**70, -(2**63), True, "", "x", "é\u0000", "1Gi", "..", "=", "a" * 300,
    "2026-01-01T00:00:00Z", [], {}, [None], [[]], {"a": None}, {"": ""}, "delete", "replace",
]  # fmt: skip
KEYS = [
    "", "$patch", "$retainKeys", "$setElementOrder/containers", "kind", "apiVersion", "metadata",
    "spec", "status", "labels", "finalizers", "managedFields", "name", "unknown", "preconditions",
]  # fmt: skip
SELECTOR = {"matchLabels": {"app": "x"}}
TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": pod("t")["spec"]}
SPECS: dict[str, Any] = {
    "Pod": pod("t", tolerations=[{"key": "k", "operator": "Exists"}], nodeSelector={"a": "b"})[
        "spec"
    ],
    "Node": {"taints": [{"key": "k", "effect": "NoSchedule"}], "unschedulable": True},
    "Deployment": {"replicas": 1, "selector": SELECTOR, "template": TEMPLATE},
    "StatefulSet": {"serviceName": "s", "selector": SELECTOR, "template": TEMPLATE},
    "Job": {"template": {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}},
    "PodDisruptionBudget": {"minAvailable": "50%", "selector": SELECTOR},
    "Service": {"ports": [{"port": 80, "targetPort": "http"}], "selector": {"app": "x"}},
    "PersistentVolumeClaim": {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    },
    "Lease": {"holderIdentity": "me", "leaseDurationSeconds": 15},
}
CONTENT_TYPES = ["application/json", "application/yaml", MERGE, JSON_PATCH, STRATEGIC, APPLY]
ACCEPTS = [
    "application/json",
    "application/yaml",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/vnd.kubernetes.protobuf",
]
QUERIES = [
    "", "dryRun=All", "fieldManager=x", "fieldManager=x&force=true", "fieldValidation=Strict",
    "limit=2", "resourceVersion=0", "labelSelector=a%3Db", "fieldSelector=metadata.name%3Da",
    "pretty=true", "propagationPolicy=Foreground", "gracePeriodSeconds=0", "continue=abc",
]  # fmt: skip


class Mischief:
    """Changes values here and there, the same way for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def on(self, value: Any) -> Any:
        choose = self.random
        if choose.random() < 0.05:
            return choose.choice(JUNK)
        if isinstance(value, dict):
            changed = {
                (choose.choice(KEYS) if choose.random() < 0.02 else key): self.on(item)
                for key, item in value.items()
                if choose.random() > 0.03
            }
            if choose.random() < 0.1:
                changed[choose.choice(KEYS)] = choose.choice(JUNK)
            return changed
        if isinstance(value, list):
            items = [self.on(item) for item in value]
            return items + items[:1] if choose.random() < 0.1 else items
        return value

    def request(self, resource: ApiResource) -> dict[str, Any]:
        choose = self.random
        root = f"/apis/{resource.group}/v1" if resource.group else "/api/v1"
        place = "/namespaces/default" if resource.namespaced else ""
        path = f"{root}{place}/{resource.plural}"
        method = choose.choice(["GET", "POST", "PUT", "PATCH", "DELETE"])
        if method != "POST":
            path += choose.choice(["/a", "/a", "/a/status", "/a/scale", "/a/finalize", ""])
        elif choose.random() < 0.2:
            path += choose.choice(["/a/binding", "/a/eviction"])
        obj = {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": {"name": "a", "labels": {"app": "x"}, "annotations": {"k": "v"}},
            "spec": copy.deepcopy(SPECS.get(resource.kind, {"a": "b"})),
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        }
        body: Any = self.on(obj)
        if choose.random() < 0.1:
            body = [self.on({"op": "replace", "path": "/spec/x", "value": 1, "from": "/spec"})]
        if choose.random() < 0.05:
            body = json.dumps(body).encode()[: choose.randrange(300)]
        plain = choose.random() < 0.7
        content_type = "application/json" if plain else choose.choice(CONTENT_TYPES)
        if method == "PATCH":
            content_type = choose.choice(CONTENT_TYPES[2:])
        return {
            "method": method,
            "path": f"{path}?{choose.choice(QUERIES)}",
            "body": None if method == "GET" else body,
            "content_type": content_type,
            "accept": choose.choice(ACCEPTS) if choose.random() < 0.3 else ACCEPTS[0],
        }


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_no_request_finds_a_bug(seed: int) -> None:
    api = Api()
    mischief = Mischief(seed)
    api.create_pod("a", nodeName="n")
    for _ in range(60):
        resource = mischief.random.choice(builtin_resources())
        answer = api.ask(**mischief.request(resource))
        assert (
            answer.status < 500
            or answer.content_type != "application/json"
            or (answer.body.get("reason") != "InternalError")
        )


@pytest.fixture(scope="module")
def api() -> Api:
    """One server for requests that change nothing: none of their paths leads to an object."""
    return Api()


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "BREW"]),
    st.text(alphabet="/abpisv1%2F.~?&=", max_size=30),
)
def test_any_path_is_answered(api: Api, method: str, path: str) -> None:
    answer = api.ask(method, f"/{path}")

    assert answer.status in (200, 400, 404, 405, 415)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="abcw=&;%0123456789AF+", max_size=40))
def test_any_query_is_answered(api: Api, query: str) -> None:
    answer = api.ask("GET", f"{PODS}?{query}")

    assert answer.status in (200, 400, 422, 504)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="*/;,=qasvgjon. 01", max_size=40))
def test_any_accept_header_is_answered(api: Api, accept: str) -> None:
    assert api.ask("GET", PODS, accept=accept).status in (200, 406)
