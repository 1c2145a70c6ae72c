"""What a server serves."""

from typing import Any

from support.live.scripted_server import ScriptedServer, refusal, reply
from support.live.virtual_loop import run_virtually

from podium.client import KubeClient, ResourceType
from podium.client.kube_client import Served, discover
from podium.client.resources import DEPLOYMENTS, PODS


def listed(name: str, kind: str, *verbs: str, namespaced: bool = True) -> dict[str, Any]:
    return {"name": name, "kind": kind, "namespaced": namespaced, "verbs": list(verbs)}


def group(name: str, *versions: str, preferred: str = "") -> dict[str, Any]:
    served = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    chosen = next((each for each in served if each["version"] == preferred), None)
    return {"name": name, "versions": served, **({"preferredVersion": chosen} if chosen else {})}


def test_kinds_come_in_the_version_that_the_server_prefers_or_in_the_first_that_has_them() -> None:
    toys = listed("toys", "Toy", "get")
    server = ScriptedServer(
        reply({"groups": [group("apps", "v1beta1", "v1", preferred="v1"), group("broken", "v1")]}),
        reply({"resources": [listed("pods", "Pod", "list", "watch"), listed("pods/log", "Pod")]}),
        reply({"resources": [listed("deployments", "Deployment", "delete")]}),
        reply({"resources": [listed("deployments", "Deployment", "get"), toys]}),
        refusal(503, "ServiceUnavailable"),
    )
    found = run_virtually(discover(KubeClient(server)))
    assert found == [
        Served(PODS, frozenset({"list", "watch"})),
        Served(DEPLOYMENTS, frozenset({"delete"})),
        Served(ResourceType("apps", "v1beta1", "toys", "Toy"), frozenset({"get"})),
    ]
    assert [request.path for request in server.requests] == [
        "/apis",
        "/api/v1",
        "/apis/apps/v1",
        "/apis/apps/v1beta1",
        "/apis/broken/v1",
    ]
