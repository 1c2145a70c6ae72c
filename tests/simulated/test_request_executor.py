"""Plans become requests, and answers become knowledge."""

import asyncio
import json
from typing import Any

import pytest
from support.live.scripted_server import ScriptedServer, make_object, refusal, reply
from support.live.virtual_loop import run_virtually, sleep_virtually
from support.simulated.controller_objects import pod, timestamp

from podium.client import KubeClient, Unreachable
from podium.client.api_errors import Conflict, Forbidden
from podium.client.resources import PODS
from podium.kubernetes.controllers.controller import (
    NOTHING,
    Action,
    CreateAction,
    PatchAction,
    Plan,
    delete,
    status_patch,
)
from podium.kubernetes.rules.timestamps import Moment
from podium.simulated.clock import ClusterClock
from podium.simulated.control import Planned, make_control_loop
from podium.simulated.informers import Informers
from podium.simulated.request_executor import RequestExecutor


def written(name: str, number: int, **metadata: Any) -> dict[str, Any]:
    obj = make_object(name, number)
    obj["metadata"] |= {"uid": f"uid-{name}", **metadata}
    return obj


async def execute(informers: Informers, plan: Plan, *answers: Any) -> ScriptedServer:
    server = ScriptedServer(*answers)
    await RequestExecutor(KubeClient(server), informers).execute(plan.actions)
    return server


def test_what_was_written_is_known_at_once() -> None:
    async def main() -> None:
        informers = Informers()
        create = CreateAction(PODS, "ns", {"metadata": {"generateName": "a-"}})
        await execute(informers, Plan([create]), reply(written("a-1", 5)))
        found = informers.pods.get("ns", "a-1")
        assert found is None, "the store is made when it is first asked for"
        await execute(informers, Plan([create]), reply(written("a-2", 6)))
        assert informers.pods.get("ns", "a-2") is not None
        change = status_patch(PODS, pod("a-2"), {"phase": "Running"})
        answer = {**written("a-2", 7), "status": {"phase": "Running"}}
        server = await execute(informers, Plan([change]), reply(answer))
        assert server.requests[0].path.endswith("/pods/a-2/status")
        assert server.requests[0].content_type == "application/strategic-merge-patch+json"
        known = informers.pods.get("ns", "a-2")
        assert known is not None
        assert known.status.phase == "Running"

    run_virtually(main())


def test_a_deletion_names_the_very_object_and_its_end_is_known_at_once() -> None:
    async def main() -> None:
        informers = Informers()
        for answer in (
            reply({"kind": "Status", "status": "Success"}),
            reply(written("web", 9, deletionTimestamp=timestamp(), deletionGracePeriodSeconds=0)),
            refusal(404, "NotFound"),
            refusal(409, "Conflict"),
        ):
            informers = Informers()
            informers.pods.put(pod("web"))
            server = await execute(informers, Plan([delete(PODS, pod("web"))]), answer)
            body = json.loads(server.requests[0].body)
            assert body["preconditions"] == {"uid": "uid-web"}
            assert len(informers.pods) == 0
        graceful = written("web", 9, deletionTimestamp=timestamp(), deletionGracePeriodSeconds=30)
        held = written("web", 9, deletionTimestamp=timestamp(), finalizers=["f"])
        for staying in (graceful, held):
            informers = Informers()
            informers.pods.put(pod("web"))
            await execute(informers, Plan([delete(PODS, pod("web"))]), reply(staying))
            known = informers.pods.get("ns", "web")
            assert known is not None
            assert known.metadata.is_terminating

    run_virtually(main())


def test_changing_what_is_gone_is_no_problem_and_other_refusals_are() -> None:
    async def main() -> None:
        informers = Informers()
        change = PatchAction(PODS, "ns", "web", {})
        await execute(informers, Plan([change]), refusal(404, "NotFound"))
        with pytest.raises(Conflict):
            await execute(informers, Plan([change]), refusal(409, "Conflict"))

    run_virtually(main())


def test_one_refusal_in_a_batch_does_not_stop_the_others_but_what_comes_after() -> None:
    async def main() -> None:
        server = ScriptedServer(refusal(403, "Forbidden"), reply(written("b", 2)))
        changes: list[Action] = [PatchAction(PODS, "ns", name, {}) for name in ("a", "b")]
        plan = [*changes, delete(PODS, pod("c"))]
        with pytest.raises(Forbidden):
            await RequestExecutor(KubeClient(server), Informers()).execute(plan)
        assert [request.method for request in server.requests] == ["PATCH", "PATCH"]

    run_virtually(main())


def test_creations_start_slowly_and_stop_with_the_batch_that_was_refused() -> None:
    async def main() -> None:
        answers = [reply(written(f"a-{number}", number)) for number in range(3)]
        refused = [refusal(403, "Forbidden")] * 4
        server = ScriptedServer(*answers, *refused)
        create = CreateAction(PODS, "ns", {"metadata": {"generateName": "a-"}})
        with pytest.raises(Forbidden):
            await RequestExecutor(KubeClient(server), Informers()).execute([create] * 500)
        assert len(server.requests) == 1 + 2 + 4

    run_virtually(main())


class Counting:
    """A controller that fails as often as it is told to."""

    name = "counting"

    def __init__(self, *problems: Exception | None) -> None:
        self.problems = list(problems)
        self.looked_at: list[tuple[str, float]] = []

    def watch(self, wake: Any) -> None:
        wake("a")
        wake("b")

    def plan(self, key: str, at: Moment) -> Plan:
        self.looked_at.append((key, round(at.now_s, 3)))
        problem = self.problems.pop(0) if self.problems else None
        if problem is not None:
            raise problem
        return NOTHING if len(self.looked_at) > 5 else Plan([], 10.0)


@pytest.mark.parametrize("problem", [Unreachable("down"), RuntimeError("a bug")])
def test_a_key_that_fails_comes_again_and_the_others_go_on(problem: Exception) -> None:
    async def main() -> None:
        clock = ClusterClock(speed=10, wall=lambda: 0)
        controller = Counting(problem)
        executor = RequestExecutor(KubeClient(ScriptedServer()), Informers())
        loop = make_control_loop(Planned(controller, executor, clock), clock, workers=1)
        running = asyncio.ensure_future(loop.run())
        await sleep_virtually(1.5)
        running.cancel()
        assert [key for key, _ in controller.looked_at[:3]] == ["a", "b", "a"]
        times = [at for key, at in controller.looked_at if key == "b"]
        assert times[1] - times[0] == pytest.approx(10, abs=0.01)

    run_virtually(main())
