"""What the page asks beside the scheduler at work."""

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from support.live.scripted_server import refusal, reply

from podium.client import KubeClient
from podium.client.transport import Reply, Request, Stream
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.explain.proposals.shell import Kubectl
from podium.testing import FakeCluster, make_node, make_pod
from podium.web.analysis import Analyses

TAINT = ("dedicated", "db", "NoSchedule")
LABELS = {"app": "web", "pod-template-hash": "5d9c"}


class Deployments:
    """A server that knows one Deployment, or answers with a status."""

    def __init__(self, strategy: str, status: int = 200) -> None:
        self.asked: list[str] = []
        self._strategy = strategy
        self._status = status

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        self.asked.append(request.path)
        if self._status != 200:
            return refusal(self._status, "Forbidden", "no")
        if "deployments" not in request.path:
            return reply({"metadata": {"resourceVersion": "1"}, "items": []})
        containers = [{"name": "main", "image": "app", "resources": {"requests": {"cpu": "3"}}}]
        spec = {
            "replicas": 2,
            "strategy": {"type": self._strategy},
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": containers},
            },
        }
        found = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec}
        return reply({**found, "metadata": {"name": "web", "namespace": "default"}})

    def stream(self, request: Request, *, timeout_s: float) -> AbstractAsyncContextManager[Stream]:
        raise NotImplementedError

    async def close(self) -> None:
        pass


def member(name: str, **more: Any) -> Pod:
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "web-5d9c",
        "uid": "u",
        "controller": True,
    }
    return make_pod(
        name, labels=LABELS, metadata={"ownerReferences": [owner]}, requests={"cpu": "3"}, **more
    )


def commands_for_a_waiting_pod(server: Deployments | None) -> str:
    """What the first proposal runs, where one of two pods of a Deployment has no node."""
    cluster = FakeCluster(
        make_node("a", allocatable={"cpu": "4", "pods": 110}),
        make_node("b", allocatable={"cpu": "4", "pods": 110}, taints=[TAINT]),
        member("web-1", node="a"),
    )
    cluster.put(member("web-2"))
    cluster.attempt()
    client = KubeClient(server) if server is not None else None
    analyses = Analyses(lambda: 0.0, Kubectl())
    found = asyncio.run(analyses.document(cluster.engine, "default/web-2", client))
    first = found.proposals[0]
    assert first.sentence == "tolerate dedicated=db:NoSchedule"
    return " ".join(first.commands)


def test_proposals_go_by_the_strategy_that_the_deployment_has() -> None:
    """A Recreate Deployment takes no maxUnavailable, and needs none."""
    server = Deployments("Recreate")
    assert "maxUnavailable" not in commands_for_a_waiting_pod(server)
    assert server.asked[0] == "/apis/apps/v1/namespaces/default/deployments/web"


@pytest.mark.parametrize("server", [None, Deployments("Recreate", status=403)])
def test_a_deployment_that_cannot_be_read_is_taken_to_have_the_default_strategy(
    server: Deployments | None,
) -> None:
    assert "maxUnavailable" in commands_for_a_waiting_pod(server)
