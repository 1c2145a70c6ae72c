"""A real `podium extender gpu` beside a real server: killed, restarted, stopped; no card twice."""

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from random import Random
from typing import Any, cast
from urllib.error import HTTPError
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

import pytest
from support.addons.gpu.card_judge import CardJudge
from support.addons.gpu.extender_clusters import GPUCluster, equal_cards
from support.addons.gpu.rough_days import FAILURES, RoughDay
from support.addons.gpu.rough_proxy import proxying
from support.apiserver.apiserver_process import serving
from support.waiting import PATIENCE_S, Deadline, look_again, slow_down, wait_in_loop

from podium.addons.gpu.dialects import find_dialect
from podium.client import KubeClient
from podium.client.connection import find_settings, transport_for

PODS, CLIENTS, NODES = 200, 16, 20
NAMES = tuple(f"node-{at}" for at in range(NODES))
GRACE_S = 30.0
"""Of real time: no machine pauses for so long between a decision and its binding."""
THREADS = CLIENTS + 4
"""Each client may wait in one until the extender is there again, which needs another to start."""
GIVE_UP_S = 30.0
"""How long a client of a rough day waits for an answer, which may have been lost."""
PACE = 0.05
"""Of virtual time: a rough day is twenty times as fast."""


class ExtenderProcess:
    """`podium extender gpu` on one port, however often it is started."""

    def __init__(self, master: str, log: Path, *arguments: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.url = f"http://{self.address}"
        command = (sys.executable, "-m", "podium", "extender", "gpu", "--address", self.address)
        self._command = (*command, *(("--master", master) if master else ()), *arguments)
        self._log = log
        self.running: subprocess.Popen[str] | None = None

    def start(self) -> None:
        with self._log.open("a") as log:
            self.running = subprocess.Popen(
                self._command, stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self.running.stdout is not None
        said = self.running.stdout.readline() + self.running.stdout.readline()
        assert "knows the cards" in said, self._log.read_text()

    def kill(self) -> None:
        if self.running is not None and self.running.poll() is None:
            self.running.kill()
        if self.running is not None:
            self.running.communicate(timeout=PATIENCE_S)

    def terminate(self) -> tuple[int, str]:
        """The exit code, and the last line that it said."""
        assert self.running is not None
        self.running.send_signal(signal.SIGTERM)
        self.running.communicate(timeout=PATIENCE_S)
        return self.running.returncode, self._log.read_text().splitlines()[-1]

    def get(self, path: str) -> str:
        with urlopen(f"{self.url}{path}", timeout=PATIENCE_S) as answer:
            text: str = answer.read().decode()
            return text

    def _ask(self, verb: str, body: Any) -> Any:
        """None if there is no answer. While nobody listens, as between a kill and a start, whose
        length is the machine's, this waits as a scheduler that backs off does."""
        url, headers = f"{self.url}/scheduler/{verb}", {"Content-Type": "application/json"}
        request = HttpRequest(url, json.dumps(body).encode(), headers)
        deadline = Deadline()
        while True:
            try:
                with urlopen(request, timeout=GIVE_UP_S) as answer:
                    return json.load(answer)
            except HTTPError as refused:
                refused.close()
                return None
            except (OSError, HTTPException) as problem:
                refused_at_all = isinstance(
                    getattr(problem, "reason", None), ConnectionRefusedError
                )
                if not refused_at_all or deadline.has_passed:
                    return None
            look_again()

    def try_to_bind(self, pod: Any, node: str, headers: dict[str, str]) -> int:
        """The status of the answer to a binding with these headers."""
        request = HttpRequest(
            f"{self.url}/scheduler/bind", json.dumps(_binding(pod, node)).encode(), headers
        )
        try:
            with urlopen(request, timeout=PATIENCE_S) as answer:
                return int(answer.status)
        except HTTPError as refused:
            refused.close()
            return refused.code

    # What a rough day asks of an extender.

    async def filter(self, pod: Any, *names: str) -> Any:
        body = {"Pod": pod, "Nodes": None, "NodeNames": list(names)}
        return await asyncio.to_thread(self._ask, "filter", body)

    async def bind(self, pod: Any, node: str) -> Any:
        return await asyncio.to_thread(self._ask, "bind", _binding(pod, node))


def _binding(pod: Any, node: str) -> dict[str, str]:
    metadata = pod["metadata"]
    of_pod = {"PodName": metadata["name"], "PodNamespace": "default"}
    return {**of_pod, "PodUID": metadata["uid"], "Node": node}


class RoughDayOfAProcess(RoughDay):
    """Callers of a process that is killed see that a connection ends."""

    process: ExtenderProcess

    async def start(self) -> None:
        self.extender = cast("Any", self.process)
        await asyncio.to_thread(self.process.start)

    async def kill(self) -> None:
        await asyncio.to_thread(self.process.kill)
        self.count_kill()
        await self.start()


def random_limits(chances: Random) -> list[dict[str, int]]:
    cores = chances.choice(([10], [30], [50, 20], [60], [100], [200], [90]))
    return [
        {"tencent.com/vcuda-core": each, "tencent.com/vcuda-memory": chances.randint(1, 6)}
        for each in cores
    ]


@pytest.mark.slow
def test_no_card_is_given_away_twice_on_a_rough_day_over_sockets(tmp_path: Path) -> None:
    """200 pods, 20 nodes, 16 clients: bindings fail, answers are lost, watches are cut, the
    extender is killed, pods are deleted while they are bound, agents refuse."""

    async def main(kubeconfig: Path) -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS))
        transport = transport_for(find_settings(str(kubeconfig)), user_agent="test")
        cluster = RealCluster(KubeClient(transport))
        await asyncio.gather(*(cluster.add_node(name, equal_cards(2, 12)) for name in NAMES))
        judge = CardJudge(cluster.client, cluster.dialect, cluster.now, GRACE_S)
        day = RoughDayOfAProcess(cluster, judge, 5, pause=lambda s: slow_down(PACE * s))
        async with proxying(day.rough(transport)) as url:
            log = tmp_path / "extender.log"
            day.process = ExtenderProcess(url, log, "--grace-period", f"{GRACE_S:g}s")
            beside = [asyncio.create_task(judge.run()), asyncio.create_task(day.work_as_agents())]
            try:
                await day.start()
                await live_a_rough_day(day)
                await assert_nothing_is_left_over(day)
                code, said = await asyncio.to_thread(day.process.terminate)
                assert (code, said) == (0, "podium: stopped")
            finally:
                await asyncio.to_thread(day.process.kill)
                for task in beside:
                    task.cancel()
                await asyncio.gather(*beside, return_exceptions=True)
        await transport.close()

    with serving(tmp_path) as server:
        asyncio.run(main(server.kubeconfig))


async def live_a_rough_day(day: RoughDayOfAProcess) -> None:
    chances = Random(5)
    queue = [(f"pod-{at}", random_limits(chances)) for at in range(PODS)]

    async def client() -> None:
        while queue:
            await day.schedule(*queue.pop(), list(NAMES))

    clients = [asyncio.create_task(client()) for _ in range(CLIENTS)]
    await wait_in_loop(lambda: len(queue) <= PODS * 2 // 3)
    await day.kill()
    await wait_in_loop(lambda: len(queue) <= PODS // 3)
    await day.kill()
    await asyncio.gather(*clients)
    day.calm_down()
    assert set(day.met) == set(FAILURES), day.met
    assert len(day.bound) > PODS // 4


async def assert_nothing_is_left_over(day: RoughDayOfAProcess) -> None:
    """In the end what the extender counts is what stands on pods that are bound, and nothing
    stands on others."""
    judge, dialect = day.judge, day.cluster.dialect
    async with asyncio.timeout(PATIENCE_S):
        while True:
            waiting = [pod for pod in judge.pods.values() if not pod.spec.node_name]
            written = [pod.name for pod in waiting if dialect.clear_decision(pod).annotations]
            pages = json.loads(await asyncio.to_thread(day.process.get, "/scheduler/inspect"))
            metrics = await asyncio.to_thread(day.process.get, "/metrics")
            reserved = re.search(r"^podium_gpu_reservations (\S+)$", metrics, re.MULTILINE)
            assert reserved is not None
            shown = {(node["name"], *each) for node in pages["nodes"] for each in _used(node)}
            if not written and float(reserved[1]) == 0 and shown == _held(judge):
                break
            await slow_down(0.2)
    assert judge.overbooked == []
    assert judge.versions > 2 * PODS


def _used(node: Any) -> list[tuple[int, int, int]]:
    """Cards of a page with the cores and the memory in use of them, where something is."""
    found = [(each["id"], each["usedCores"], each["usedGPU"]) for each in node["devs"]]
    return [each for each in found if any(each[1:])]


def _held(judge: CardJudge) -> set[tuple[str, int, int, int]]:
    """The same of all nodes by what stands on pods."""
    return {
        (name, card, cores, memory)
        for name in NAMES
        for card, (cores, memory, _) in judge.used(name).items()
    }


class RealCluster(GPUCluster):
    def __init__(self, client: KubeClient) -> None:
        super().__init__(client, find_dialect("gpu-manager"))

    def now(self) -> float:
        return time.time()


@pytest.mark.slow
def test_what_a_page_in_a_browser_sends_binds_nothing(tmp_path: Path) -> None:
    """The same binding is carried out for a scheduler."""

    async def main(kubeconfig: Path, process: ExtenderProcess) -> None:
        transport = transport_for(find_settings(str(kubeconfig)), user_agent="test")
        cluster = RealCluster(KubeClient(transport))
        await cluster.add_node("node-0", equal_cards(1, 12))
        cores = {"tencent.com/vcuda-core": 10, "tencent.com/vcuda-memory": 1}
        pod = await cluster.add_pod("victim", cores)
        try:
            await asyncio.to_thread(process.start)
            for headers in (
                {"Content-Type": "text/plain", "Origin": "http://evil.example"},
                {"Content-Type": "text/plain"},
                {"Content-Type": "application/json", "Host": "evil.example"},
                {"Content-Type": "application/json", "Origin": "http://evil.example"},
            ):
                code = await asyncio.to_thread(process.try_to_bind, pod, "node-0", headers)
                assert code in (403, 415, 421), headers
                assert not (await cluster.pod("victim"))["spec"].get("nodeName")
            assert await process.bind(pod, "node-0") == {"Error": ""}
            assert (await cluster.pod("victim"))["spec"]["nodeName"] == "node-0"
        finally:
            await asyncio.to_thread(process.kill)
        await transport.close()

    with serving(tmp_path) as server:
        kubeconfig = str(server.kubeconfig)
        process = ExtenderProcess("", tmp_path / "log", "--kubeconfig", kubeconfig)
        asyncio.run(main(server.kubeconfig, process))


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
            urlopen(f"{found[0]}/readyz", timeout=PATIENCE_S)
        refused.value.close()
        with urlopen(f"{found[0]}/healthz", timeout=PATIENCE_S) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
