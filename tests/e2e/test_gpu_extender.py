"""A real `podium extender gpu` beside a real server: killed, restarted, stopped; no card twice."""

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from random import Random
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from support.apiserver.apiserver_process import serving
from support.gpu.card_judge import CardJudge
from support.gpu.extender_clusters import GPUCluster, equal_cards

from podium.client import KubeClient
from podium.client.connection import find_settings, transport_for
from podium.gpu.dialects import find_dialect

PODS, CLIENTS = 60, 16
NODES = tuple(f"node-{at}" for at in range(4))


class ExtenderProcess:
    """`podium extender gpu` on one port, however often it is started."""

    def __init__(self, kubeconfig: Path, *arguments: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.url = f"http://{self.address}"
        command = (sys.executable, "-m", "podium", "extender", "gpu", "--address", self.address)
        self._command = (*command, "--kubeconfig", str(kubeconfig), *arguments)
        self.start()

    def start(self) -> None:
        self.running = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.running.stdout is not None
        self.said = self.running.stdout.readline() + self.running.stdout.readline()
        assert "knows the cards" in self.said, self.running.communicate(timeout=30)

    def kill(self) -> None:
        self.running.kill()
        self.running.communicate(timeout=30)

    def stop(self) -> tuple[int, str]:
        self.running.send_signal(signal.SIGTERM)
        _, error = self.running.communicate(timeout=30)
        return self.running.returncode, error

    def get(self, path: str) -> str:
        with urlopen(f"{self.url}{path}", timeout=10) as answer:
            text: str = answer.read().decode()
            return text

    def ask(self, verb: str, body: Any) -> Any:
        """None if nobody answers."""
        request = Request(f"{self.url}/scheduler/{verb}", json.dumps(body).encode())
        try:
            with urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except HTTPError as refused:
            refused.close()
            return None
        except (OSError, HTTPException):
            return None


@contextmanager
def extender(kubeconfig: Path, *arguments: str) -> Iterator[ExtenderProcess]:
    started = ExtenderProcess(kubeconfig, *arguments)
    try:
        yield started
    finally:
        if started.running.poll() is None:
            started.kill()


async def schedule(cluster: GPUCluster, process: ExtenderProcess, name: str, seed: int) -> None:
    chances = Random(seed)
    cores = chances.choice((20, 50, 70))
    limits = {"tencent.com/vcuda-core": cores, "tencent.com/vcuda-memory": chances.randint(1, 4)}
    pod = await cluster.add_pod(name, limits)
    for _ in range(6):
        body = {"Pod": pod, "Nodes": None, "NodeNames": NODES}
        answer = await asyncio.to_thread(process.ask, "filter", body)
        if answer and answer["NodeNames"]:
            metadata = pod["metadata"]
            binding = {
                "PodName": name,
                "PodNamespace": "default",
                "PodUID": metadata["uid"],
                "Node": chances.choice(answer["NodeNames"]),
            }
            await asyncio.to_thread(process.ask, "bind", binding)
        fresh = await cluster.pod(name)
        if fresh is None or fresh["spec"].get("nodeName"):
            return
        await asyncio.sleep(0.2)


@pytest.mark.slow
def test_no_card_is_given_away_twice_while_the_process_is_killed(tmp_path: Path) -> None:
    async def main(kubeconfig: Path, process: ExtenderProcess) -> None:
        transport = transport_for(find_settings(str(kubeconfig)), user_agent="test")
        cluster = RealCluster(KubeClient(transport))
        for name in NODES:
            await cluster.add_node(name, equal_cards(2, 8))
        judge = CardJudge(cluster.client, cluster.dialect, cluster.now)
        judging = asyncio.create_task(judge.run())
        queue = [(f"pod-{at}", at) for at in range(PODS)]

        async def client() -> None:
            while queue:
                await schedule(cluster, process, *queue.pop())

        clients = [asyncio.create_task(client()) for _ in range(CLIENTS)]
        for left in (PODS // 2, PODS // 4):
            while len(queue) > left:
                await asyncio.sleep(0.02)
            await asyncio.to_thread(process.kill)
            await asyncio.to_thread(process.start)
        await asyncio.gather(*clients)
        for name in NODES:
            shown = json.loads(await asyncio.to_thread(process.get, f"/scheduler/inspect/{name}"))
            for device in shown["nodes"][0]["devs"]:
                assert device["usedCores"] <= 100
                assert device["usedGPU"] <= 8
        await _seen(judge)
        bound = [pod for pod in judge.pods.values() if pod.spec.node_name]
        assert judge.overbooked == []
        assert len(bound) >= len(NODES) * 2
        for pod in bound:
            assert cluster.dialect.decided_node(pod) == pod.spec.node_name
        judging.cancel()
        await asyncio.gather(judging, return_exceptions=True)
        await transport.close()

    with serving(tmp_path) as server, extender(server.kubeconfig) as process:
        asyncio.run(main(server.kubeconfig, process))
        assert process.get("/readyz") == "ok\n"
        assert re.search(r"podium_gpu_card_used_cores\{.*node=\"node-0\"", process.get("/metrics"))
        code, error = process.stop()
        assert (code, error) == (0, "podium: stopped\n")


async def _seen(judge: CardJudge) -> None:
    """Until the watch has told all pods."""
    async with asyncio.timeout(30):
        while len(judge.pods) < PODS:
            await asyncio.sleep(0.05)


class RealCluster(GPUCluster):
    def __init__(self, client: KubeClient) -> None:
        super().__init__(client, find_dialect("gpu-manager"))

    def now(self) -> float:
        return time.time()


@pytest.mark.slow
def test_the_process_waits_for_a_server_and_ends_when_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
    command = (sys.executable, "-m", "podium", "extender", "gpu", "--address", "127.0.0.1:0")
    old_flags = ("--logtostderr", "--nodeCacheCapable", "--pprofAddress", "127.0.0.1:3457")
    process = subprocess.Popen(
        (*command, "--master", nobody, *old_flags),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        with pytest.raises(HTTPError, match="503") as refused:
            urlopen(f"{found[0]}/readyz", timeout=10)
        refused.value.close()
        with urlopen(f"{found[0]}/healthz", timeout=10) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        assert process.returncode == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
