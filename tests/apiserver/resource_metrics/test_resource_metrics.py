"""`metrics.k8s.io`: what simulated pods use, as `kubectl top` asks for it."""

from typing import Any

import pytest
from support.apiserver.api_calls import PODS, Api, pod

from podium.apiserver.resource_metrics import CPU_USAGE, MEMORY_USAGE

GROUP = "/apis/metrics.k8s.io"
NODES = f"{GROUP}/v1beta1/nodes"
POD_METRICS = f"{GROUP}/v1beta1/namespaces/default/pods"


@pytest.fixture
def api() -> Api:
    made = Api()
    made.service.serve_metrics()
    for name in ("a", "b"):
        node = {"metadata": {"name": name, "labels": {"pool": name}}}
        made.create("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", **node})
    return made


def running(
    api: Api, name: str, requests: list[dict[str, str]], node: str = "a", **annotations: str
) -> None:
    containers = [
        {"name": f"c{number}", "image": "i", "resources": {"requests": each}}
        for number, each in enumerate(requests)
    ]
    made = pod(name, labels={"app": name}, containers=containers, nodeName=node)
    made["metadata"]["annotations"] = annotations
    api.create(PODS, made)
    api.patch(f"{PODS}/{name}/status", {"status": {"phase": "Running"}})


def usage_of(answer: dict[str, Any]) -> dict[str, Any]:
    return {item["metadata"]["name"]: item["usage"] for item in answer["items"]}


def containers_of(metrics: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(c["name"], c["usage"]["cpu"], c["usage"]["memory"]) for c in metrics["containers"]]


def test_a_running_pod_uses_what_its_containers_request(api: Api) -> None:
    running(api, "web", [{"cpu": "250m", "memory": "1Gi"}, {}])
    found = api.get(f"{POD_METRICS}/web")
    assert containers_of(found) == [
        ("c0", "250000000n", "1048576Ki"),
        ("c1", "10000000n", "32768Ki"),
    ]
    assert found["kind"] == "PodMetrics"
    assert found["timestamp"] == "2026-01-01T00:00:00Z"
    assert found["window"] == "15s"


def test_an_annotation_says_what_a_pod_uses_instead(api: Api) -> None:
    running(api, "web", [{"cpu": "1"}, {}], **{CPU_USAGE: "300m", MEMORY_USAGE: "2Mi"})
    assert containers_of(api.get(f"{POD_METRICS}/web")) == [
        ("c0", "150000000n", "1024Ki"),
        ("c1", "150000000n", "1024Ki"),
    ]


def test_an_annotation_that_is_no_quantity_is_passed_over(api: Api) -> None:
    running(api, "web", [{"cpu": "1", "memory": "1Ki"}], **{CPU_USAGE: "much"})
    assert containers_of(api.get(f"{POD_METRICS}/web")) == [("c0", "1000000000n", "1Ki")]


def test_a_node_uses_what_its_pods_use_or_what_its_annotation_says(api: Api) -> None:
    running(api, "one", [{"cpu": "1", "memory": "1Mi"}])
    running(api, "two", [{"cpu": "500m", "memory": "1Mi"}])
    nothing = {"cpu": "0n", "memory": "0Ki"}
    used = {"cpu": "1500000000n", "memory": "2048Ki"}
    assert usage_of(api.get(NODES)) == {"a": used, "b": nothing}
    hot = {"metadata": {"annotations": {CPU_USAGE: "3"}}}
    api.patch("/api/v1/nodes/b", hot)
    assert api.get(f"{NODES}/b")["usage"] == {"cpu": "3000000000n", "memory": "0Ki"}


def test_what_changes_is_looked_at_again(api: Api) -> None:
    running(api, "one", [{"cpu": "1", "memory": "0"}])
    assert api.get(f"{NODES}/a")["usage"]["cpu"] == "1000000000n"
    api.patch(f"{PODS}/one/status", {"status": {"phase": "Succeeded"}})
    assert api.get(f"{NODES}/a")["usage"]["cpu"] == "0n"


def test_pods_that_do_not_run_have_no_metrics(api: Api) -> None:
    api.create(PODS, pod("waiting"))
    assert api.get(POD_METRICS)["items"] == []
    refused = api.ask("GET", f"{POD_METRICS}/waiting")
    assert refused.status == 404
    assert refused.message == 'pods.metrics.k8s.io "waiting" not found'


def test_lists_can_be_narrowed(api: Api) -> None:
    running(api, "one", [{}])
    running(api, "two", [{}])
    some = api.get(f"{POD_METRICS}?labelSelector=app%3Dtwo")["items"]
    assert [each["metadata"]["name"] for each in some] == ["two"]
    assert [*usage_of(api.get(f"{NODES}?labelSelector=pool%3Db"))] == ["b"]
    everywhere = api.get(f"{GROUP}/v1beta1/pods?fieldSelector=metadata.name%3Done")["items"]
    assert [each["metadata"]["name"] for each in everywhere] == ["one"]
    assert api.get(f"{GROUP}/v1beta1/namespaces/other/pods")["items"] == []


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", f"{NODES}/nobody", 404),
        ("GET", f"{GROUP}/v1beta1/things", 404),
        ("GET", f"{GROUP}/v1beta1/namespaces/default/nodes", 404),
        ("GET", f"{GROUP}/v1beta1/pods/web", 404),
        ("GET", f"{GROUP}/v1/nodes", 404),
        ("POST", NODES, 405),
        ("DELETE", f"{NODES}/a", 405),
        ("GET", f"{NODES}?watch=1", 405),
        ("GET", f"{NODES}?labelSelector=!!", 400),
    ],
)
def test_what_is_not_there_is_refused(api: Api, method: str, path: str, code: int) -> None:
    assert api.ask(method, path, {} if method == "POST" else None).status == code


def test_the_group_is_discovered_where_it_is_served_and_nowhere_else(api: Api) -> None:
    assert api.get(GROUP)["preferredVersion"]["groupVersion"] == "metrics.k8s.io/v1beta1"
    listed = api.get(f"{GROUP}/v1beta1")["resources"]
    assert [(each["name"], each["kind"]) for each in listed] == [
        ("nodes", "NodeMetrics"),
        ("pods", "PodMetrics"),
    ]
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    groups = [each["metadata"]["name"] for each in api.get("/apis", accept=accept)["items"]]
    assert groups[-1] == "metrics.k8s.io"
    other = Api()
    assert other.ask("GET", GROUP).status == 404
    assert other.ask("GET", NODES).status == 404


def test_whoever_may_not_list_nodes_metrics_is_refused(api: Api) -> None:
    answer = api.ask("GET", NODES, impersonate_user="somebody")
    assert answer.status == 403
    assert 'resource "nodes" in API group "metrics.k8s.io"' in answer.message
