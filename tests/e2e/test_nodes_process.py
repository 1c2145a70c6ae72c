"""`podium apiserver` and `podium nodes` as processes, with a scheduler and kubectl."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.apiserver.apiserver_process import RunningServer, serving
from support.live.scheduler_at_work import scheduling
from support.simulated.simulated_clusters import template, workload
from support.suite.requirements import KUBECTL
from support.waiting import PATIENCE_S, PATIENTLY

from podium.client import KubeClient, Selection
from podium.client.connection import find_settings, transport_for
from podium.client.reflector import events
from podium.client.resources import DEPLOYMENTS, JOBS, NODES, PODS, ResourceType

pytestmark = pytest.mark.slow


@contextmanager
def nodes(server: RunningServer, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """`podium nodes`, ready; whatever is left of it afterwards is killed."""
    command = [sys.executable, "-m", "podium", "nodes", *arguments]
    process = subprocess.Popen(
        [*command, "--kubeconfig", str(server.kubeconfig)],
        env={**os.environ, "PYTHONWARNINGS": "default"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "nodes" in line, process.communicate(timeout=PATIENCE_S)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=PATIENCE_S)


@asynccontextmanager
async def connected(server: RunningServer) -> AsyncIterator[KubeClient]:
    settings = find_settings(str(server.kubeconfig))
    transport = transport_for(settings, user_agent="tests")
    try:
        async with asyncio.timeout(PATIENCE_S):
            yield KubeClient(transport)
    finally:
        await transport.close()


async def seen(client: KubeClient, resource: ResourceType, holds: Callable[[Any], bool]) -> Any:
    """Watch until an object is as wanted."""
    async with client.watch(resource, Selection(), ()) as stream:
        async for batch in events(stream.pieces):
            for event in batch:
                obj = msgspec.json.decode(event.object)
                if event.type != "DELETED" and holds(obj):
                    return obj
    raise AssertionError("the watch ended")


def has_condition(name: str) -> Callable[[Any], bool]:
    def holds(obj: Any) -> bool:
        conditions = obj.get("status", {}).get("conditions", ())
        return any(each["type"] == name and each["status"] == "True" for each in conditions)

    return holds


def test_a_cluster_of_processes_lives_over_tls_and_stops_cleanly(tmp_path: Path) -> None:
    async def scenario(server: RunningServer) -> None:
        async with connected(server) as client, scheduling(client):
            await seen(client, NODES, has_condition("Ready"))
            await client.create(DEPLOYMENTS, workload("web", 5), "default")
            run = {"podium.dev/run-seconds": "30"}
            job = {"template": template("sum", run, restartPolicy="Never"), "completions": 2}
            await client.create(JOBS, {"metadata": {"name": "sum"}, "spec": job}, "default")
            up = await seen(
                client, DEPLOYMENTS, lambda d: d.get("status", {}).get("availableReplicas") == 5
            )
            assert up["status"]["readyReplicas"] == 5
            done = await seen(client, JOBS, has_condition("Complete"))
            assert done["status"]["succeeded"] == 2
            placed = (await client.list(PODS)).items
            names = {json.loads(bytes(each))["spec"]["nodeName"] for each in placed}
            assert names <= {"worker-0", "worker-1"}

    template_file = tmp_path / "worker.yaml"
    template_file.write_text(
        "apiVersion: v1\nkind: Node\nmetadata: {name: worker}\n"
        'status: {capacity: {cpu: "16", memory: 64Gi, pods: "110"}}\n'
    )
    with serving(tmp_path) as server:
        arguments = ("2", "--template", str(template_file), "--speed", "10", "--cleanup")
        with nodes(server, *arguments) as process:
            asyncio.run(scenario(server))
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, err) == (0, "podium: stopped\n")
        status, left = server.ask("GET", "/api/v1/nodes")
        assert (status, left["items"]) == (200, [])


@KUBECTL.skip_unless(shutil.which("kubectl"))
def test_kubectl_sees_a_living_cluster(tmp_path: Path) -> None:
    def kubectl(*arguments: str) -> str:
        done = subprocess.run(
            ["kubectl", "--kubeconfig", str(tmp_path / "kubeconfig"), *arguments],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    async def with_scheduler(server: RunningServer) -> None:
        async with connected(server) as client, scheduling(client):
            await asyncio.to_thread(commands)

    def commands() -> None:
        kubectl("wait", "--for=condition=Ready", "node", "--all", PATIENTLY)
        kubectl("create", "deployment", "web", "--image=nginx", "--replicas=3")
        told = kubectl("rollout", "status", "deployment/web", PATIENTLY)
        assert "successfully rolled out" in told
        kubectl("set", "image", "deployment/web", "nginx=nginx:2")
        kubectl("rollout", "status", "deployment/web", PATIENTLY)
        kubectl("rollout", "undo", "deployment/web")
        kubectl("rollout", "status", "deployment/web", PATIENTLY)
        assert "3/3" in kubectl("get", "deployment", "web")
        kubectl("drain", "node-0", PATIENTLY, "--ignore-daemonsets")
        assert "SchedulingDisabled" in kubectl("get", "node", "node-0")
        pods = kubectl("get", "pods", "-o", "wide", "--field-selector=spec.nodeName=node-0")
        assert "web-" not in pods
        kubectl("delete", "deployment", "web", "--cascade=foreground", PATIENTLY)
        kubectl("create", "namespace", "shop")
        kubectl("create", "configmap", "c", "-n", "shop")
        kubectl("delete", "namespace", "shop", PATIENTLY)

    with serving(tmp_path) as server, nodes(server, "3", "--speed", "10"):
        asyncio.run(with_scheduler(server))
