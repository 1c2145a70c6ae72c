"""Members of a PreBind group wait at the same time where the driver's handle can do that."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from support.scheduler.framework.fake_plugins import make_engine

from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.handle import ApiHandle
from podium.scheduler.framework.points import Plugin, PreBindPlugin, PreFlight
from podium.scheduler.framework.status import Status, unschedulable
from podium.testing import FakeApi, make_node, make_pod

Work = Coroutine[Any, Any, Status | None]


class ConcurrentApi(FakeApi):
    """Binds in memory; runs work on asyncio's loop, all at once."""

    async def first_failure(self, work: Sequence[Work]) -> Status | None:
        tasks = [asyncio.ensure_future(one) for one in work]
        try:
            for done in asyncio.as_completed(tasks):
                failure = await done
                if failure is not None:
                    return failure
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return None


class Meeting:
    """Two plugins that each wait until the other has come."""

    def __init__(self) -> None:
        self.came: list[str] = []
        self.left: list[str] = []
        self.full = asyncio.Event()

    def plugin(self, title: str, answer: Status | None = None) -> type[PreBindPlugin]:
        meeting = self

        class Guest(PreBindPlugin):
            name = title

            def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> PreFlight:
                return PreFlight(parallel=True)

            async def pre_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
                if answer is not None:
                    return answer
                meeting.came.append(title)
                if len(meeting.came) == 2:
                    meeting.full.set()
                await meeting.full.wait()
                meeting.left.append(title)
                return None

        return Guest


def binding_of(*plugins: type[Plugin]) -> Binding:
    engine = make_engine(*plugins, nodes=[make_node("a")])
    binding = engine.schedule(engine.cluster.infos.of(make_pod("p"))).binding
    assert binding is not None
    assert binding.prepare() is None
    return binding


def test_members_of_a_group_run_at_the_same_time() -> None:
    meeting, api = Meeting(), ConcurrentApi()
    binding = binding_of(meeting.plugin("A"), meeting.plugin("B"))

    assert asyncio.run(binding.run(api)) is None
    assert sorted(meeting.left) == ["A", "B"]
    assert api.bound == {"default/p": "a"}


def test_the_first_failure_ends_the_others_and_nothing_is_bound() -> None:
    meeting, api = Meeting(), ConcurrentApi()
    refuses = meeting.plugin("B", unschedulable("no"))
    binding = binding_of(meeting.plugin("A"), refuses)

    status = asyncio.run(binding.run(api))

    assert status is not None
    assert status.reasons == ("no",)
    assert status.plugin == "B"
    assert (meeting.came, meeting.left) == (["A"], [])
    assert api.bound == {}
