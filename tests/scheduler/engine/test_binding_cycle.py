"""The binding cycle: pre-flight, PreBind in groups, Bind, PostBind."""

import asyncio

import pytest
from support.scheduler.framework.fake_plugins import binder, make_engine, pre_bind

from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.binding_cycle import NO_BINDER, Binding
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.handle import ApiHandle
from podium.scheduler.framework.points import Plugin, PostBindPlugin, PreFlight
from podium.scheduler.framework.status import SKIP, Code, Status, error, unresolvable, unschedulable
from podium.testing import FakeApi, make_node, make_pod

ALONE, TOGETHER = PreFlight(), PreFlight(parallel=True)
IDLE_ALONE, IDLE_TOGETHER = PreFlight(SKIP), PreFlight(SKIP, parallel=True)


class MemoryApi(FakeApi):
    """An API server that only remembers what was bound."""

    def __init__(self, problem: Exception | None = None) -> None:
        super().__init__()
        self.problem = problem

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        if self.problem is not None:
            raise self.problem
        await super().bind(pod, node_name)


def binding_of(*plugins: type[Plugin]) -> Binding:
    engine = make_engine(*plugins, nodes=[make_node("a")])
    binding = engine.schedule(engine.cluster.infos.of(make_pod("p"))).binding
    assert binding is not None
    return binding


def run(binding: Binding, api: MemoryApi | None = None) -> Status | None:
    problem = binding.prepare()
    return problem or asyncio.run(binding.run(api or MemoryApi()))


def groups(*flights: PreFlight) -> list[list[str]]:
    binding = binding_of(*(pre_bind(f"P{i}", flight) for i, flight in enumerate(flights)))
    assert binding.prepare() is None
    return [[plugin.name for plugin in group] for group in binding.groups]


def test_a_pod_without_work_to_do_is_just_bound() -> None:
    api = MemoryApi()
    assert run(binding_of(), api) is None
    assert api.bound == {"default/p": "a"}


@pytest.mark.parametrize(
    ("flights", "expected"),
    [
        ((ALONE, ALONE), [["P0"], ["P1"]]),
        ((TOGETHER, TOGETHER), [["P0", "P1"]]),
        ((TOGETHER, IDLE_TOGETHER, TOGETHER), [["P0", "P2"]]),
        ((TOGETHER, IDLE_ALONE, TOGETHER), [["P0"], ["P2"]]),
        ((TOGETHER, ALONE, TOGETHER, TOGETHER), [["P0"], ["P1"], ["P2", "P3"]]),
        ((ALONE, TOGETHER, TOGETHER), [["P0"], ["P1", "P2"]]),
        ((IDLE_TOGETHER, TOGETHER, IDLE_TOGETHER), [["P1"]]),
        ((IDLE_ALONE, TOGETHER, TOGETHER), [["P1", "P2"]]),
        ((IDLE_ALONE, IDLE_TOGETHER), []),
        ((PreFlight(Status(Code.SUCCESS)),), [["P0"]]),
    ],
)
def test_neighbours_that_allow_it_share_a_group(
    flights: tuple[PreFlight, ...], expected: list[list[str]]
) -> None:
    assert groups(*flights) == expected


def test_plugins_without_work_are_not_called() -> None:
    log: list[str] = []
    binding = binding_of(
        pre_bind("A", IDLE_ALONE, log=log),
        pre_bind("B", ALONE, log=log),
        binder("Bind", None, log),
    )
    assert run(binding) is None
    assert log == ["prebind B", "bind Bind"]


@pytest.mark.parametrize("flight", [PreFlight(error("boom")), ValueError("boom")])
def test_an_error_of_the_pre_flight_ends_the_cycle(flight: PreFlight | Exception) -> None:
    problem = run(binding_of(pre_bind("A", flight)))
    assert problem == Status(Code.ERROR, ('running PreBindPreFlight "A": boom',), "A")


@pytest.mark.parametrize("code", [Code.UNSCHEDULABLE, Code.UNRESOLVABLE, Code.PENDING, Code.WAIT])
def test_a_pre_flight_can_only_succeed_skip_or_fail(code: Code) -> None:
    problem = run(binding_of(pre_bind("A", PreFlight(Status(code, ("x",))))))
    assert problem is not None
    assert problem.code is Code.ERROR
    assert problem.message == (
        f'PreBindPreFlight A returned "{code.label}", which is unsupported. It is supposed to '
        "return Success, Skip, or Error status"
    )


@pytest.mark.parametrize(
    "answer", [error("boom"), ValueError("boom"), Status(Code.SKIP, ("boom",))]
)
def test_a_pre_bind_that_breaks_ends_the_cycle(answer: Status | Exception) -> None:
    log: list[str] = []
    binding = binding_of(
        pre_bind("A", ALONE, answer, log), pre_bind("B", ALONE, None, log), binder("X", None, log)
    )
    assert run(binding) == Status(Code.ERROR, ('running PreBind plugin "A": boom',), "A")
    assert log == ["prebind A"]


def test_a_rejection_by_pre_bind_is_kept_as_it_is() -> None:
    problem = run(binding_of(pre_bind("A", ALONE, unschedulable("not here"))))
    assert problem == Status(Code.UNSCHEDULABLE, ("not here",), "A")


def test_a_binder_that_skips_leaves_it_to_the_next() -> None:
    log: list[str] = []
    binding = binding_of(binder("A", SKIP, log), binder("B", None, log), binder("C", None, log))
    assert run(binding) is None
    assert log == ["bind A", "bind B"]


def test_it_is_a_failure_when_every_binder_skips() -> None:
    log: list[str] = []
    problem = run(binding_of(binder("A", SKIP, log), binder("B", SKIP, log)))
    assert problem is not None
    assert (problem.code, problem.message) == (Code.ERROR, NO_BINDER)


def test_a_binder_that_breaks_ends_the_cycle_with_its_text() -> None:
    log: list[str] = []
    problem = run(binding_of(binder("A", error("boom"), log), binder("B", None, log)))
    assert problem == Status(Code.ERROR, ('running Bind plugin "A": boom',), "A")
    assert log == ["bind A"]
    refused = run(binding_of(binder("A", unresolvable("no"), log)))
    assert refused == Status(Code.UNRESOLVABLE, ("no",), "A")


def test_an_api_server_that_refuses_is_an_error_of_the_binder() -> None:
    problem = run(binding_of(), MemoryApi(ConnectionError("api down")))
    assert problem == Status(Code.ERROR, ('running Bind plugin "Binder": api down',), "Binder")


class After(PostBindPlugin):
    name = "After"
    called: list[str] = []
    problem: Exception | None = None

    async def post_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> None:
        self.called.append(f"{self.name} {node_name}")
        if self.problem is not None:
            raise self.problem


def test_post_bind_plugins_hear_of_every_bound_pod() -> None:
    class First(After):
        name = "First"
        called: list[str] = []

    class Last(First):
        name = "Last"

    assert run(binding_of(First, Last)) is None
    assert First.called == ["First a", "Last a"]
    First.called.clear()
    log: list[str] = []
    assert run(binding_of(First, binder("A", error("boom"), log))) is not None
    assert First.called == []


def test_a_post_bind_that_breaks_does_not_unbind_the_pod() -> None:
    class Clumsy(After):
        name = "Clumsy"
        called: list[str] = []
        problem = ValueError("boom")

    class Next(After):
        name = "Next"
        called: list[str] = []

    binding = binding_of(Clumsy, Next)
    assert run(binding) is None
    assert Next.called == ["Next a"]
    assert binding.problems == ['running PostBind plugin "Clumsy": boom']


def test_a_binding_can_be_cancelled_until_bind_and_the_first_cause_stays() -> None:
    log: list[str] = []
    binding = binding_of(pre_bind("A", ALONE, log=log), binder("X", None, log))
    assert binding.prepare() is None
    assert binding.cancel("preempted by DefaultPreemption")
    assert binding.cancel("again")
    problem = asyncio.run(binding.run(MemoryApi()))
    assert problem == error("preempted by DefaultPreemption")
    assert log == []


def test_a_bound_pod_can_no_longer_be_cancelled() -> None:
    binding = binding_of(pre_bind("A", ALONE))
    assert run(binding) is None
    assert not binding.cancel("too late")


def test_a_pod_without_pre_bind_work_is_never_in_a_place_to_be_cancelled() -> None:
    binding = binding_of(pre_bind("A", IDLE_ALONE))
    assert binding.prepare() is None
    assert not binding.cancel("preempted")


def test_without_the_gate_nobody_is_asked_for_work_and_all_run_one_by_one() -> None:
    log: list[str] = []
    binding = binding_of(
        pre_bind("A", IDLE_TOGETHER, log=log),
        pre_bind("B", ValueError("not asked"), log=log),
        pre_bind("C", TOGETHER, log=log),
    )
    binding.expected = False
    assert binding.prepare() is None
    assert [[plugin.name for plugin in group] for group in binding.groups] == [["A"], ["B"], ["C"]]
    assert asyncio.run(binding.run(MemoryApi())) is None
    assert log == ["prebind A", "prebind B", "prebind C"]
