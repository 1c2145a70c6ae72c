"""A cycle that waits for extenders: what happens meanwhile, and what if the wait is given up."""

from collections.abc import Callable
from typing import Any

import pytest
from support.scheduler.engine.scripted_extenders import Script, filtering, leaves, scores, scoring
from support.scheduler.framework.fake_plugins import permit

from podium.kubernetes.kinds.meta import KubeStruct
from podium.scheduler.engine.scheduler import Attempt
from podium.scheduler.framework.asking import (
    Answers,
    Asking,
    Calls,
    FilterAnswer,
    FilterCall,
    PrioritizeAnswer,
    WrongAnswers,
)
from podium.scheduler.framework.points import PermitResult
from podium.scheduler.framework.status import Code, Status, error
from podium.testing import FakeCluster, make_node
from podium.testing import make_pod as pending


class Meanwhile:
    """Answers as a script does, after letting something happen."""

    def __init__(self, script: Script, *happens: Callable[[], object]) -> None:
        self._script = script
        self._happens = list(happens)

    def __call__(self, calls: Calls) -> Answers:
        if self._happens:
            self._happens.pop(0)()
        return self._script(calls)


def driver_of(*objects: KubeStruct, **more: Any) -> FakeCluster:
    return FakeCluster(*objects, **{"extenders": [filtering()], **more})


def tried(driver: FakeCluster, script: Script, *happens: Callable[[], object]) -> Attempt:
    driver.ask = Meanwhile(script, *happens)
    attempt = driver.attempt()
    assert attempt is not None
    return attempt


# events


def test_a_node_that_goes_meanwhile_is_still_there_for_the_cycle() -> None:
    driver = driver_of(make_node("a"), make_node("b"), pending("p"))
    script = Script(filter=leaves("a"))
    attempt = tried(driver, script, lambda: driver.engine.intake.node_deleted("a"))
    assert attempt.decision.bound == "a"
    assert not driver.engine.cluster.nodes.is_present("a")


def test_a_node_that_comes_meanwhile_is_for_the_next_cycle() -> None:
    script = Script()
    driver = driver_of(make_node("a"), pending("p"), pending("q"))
    tried(driver, script, lambda: driver.put(make_node("b")))
    tried(driver, script)
    assert script.nodes("filter") == [("a",), ("a", "b")]


def test_many_nodes_may_come_and_go_meanwhile() -> None:
    driver = driver_of(make_node("a"), make_node("b"), pending("p"), extenders=[scoring()])
    script = Script(prioritize=scores(b=1))

    def upheaval() -> None:
        driver.engine.intake.node_deleted("b")
        driver.put(*(make_node(f"n{number}") for number in range(200)))

    assert tried(driver, script, upheaval).decision.bound == "b"
    assert driver.engine.cluster.nodes.present_count == 201


def test_a_pod_that_arrives_meanwhile_is_tried_next() -> None:
    driver = driver_of(make_node("a"), pending("p"))
    tried(driver, Script(), lambda: driver.put(pending("q")))
    assert driver.where() == {"p": "binding", "q": "active"}


def test_an_event_that_may_help_wakes_the_pod_it_came_too_late_for() -> None:
    driver = driver_of(make_node("a"), pending("p"))
    tried(driver, Script(filter=leaves()), lambda: driver.put(make_node("b")))
    assert driver.where() == {"p": "backoff"}


def test_the_pod_itself_may_go_meanwhile() -> None:
    driver = driver_of(make_node("a"), pending("p"), pending("q"))
    tried(driver, Script(filter=leaves()), lambda: driver.delete("p"))
    assert driver.where() == {"q": "active"}


def test_a_pod_that_goes_while_it_gets_a_node_gives_it_back() -> None:
    driver = driver_of(make_node("a"), pending("p"))
    tried(driver, Script(), lambda: driver.delete("p"))
    assert driver.where() == {}
    driver.finish("p", error("gone"))
    assert driver.engine.cluster.placements == {}


def test_bindings_that_end_meanwhile_take_effect_afterwards() -> None:
    one = {"cpu": "4", "memory": "8Gi", "pods": 1}
    driver = driver_of(make_node("a", allocatable=one), make_node("b"), pending("p"))
    tried(driver, Script(filter=leaves("a")))
    driver.put(pending("q"))
    script = Script()
    tried(driver, script, lambda: driver.finish("p", error("no")))
    assert script.nodes("filter") == [("b",)]
    assert driver.where() == {"p": "error backoff", "q": "binding"}


def test_time_that_passes_meanwhile_takes_effect_afterwards() -> None:
    waits = permit("Waits", PermitResult(Status(Code.WAIT), 5.0))
    driver = driver_of(make_node("a"), pending("p"), plugins=[waits])
    tried(driver, Script())
    driver.put(pending("q"))

    def wait() -> None:
        driver.clock.advance(10.0)
        driver.engine.tick()
        assert "uid-default-p" in driver.engine.cluster.placements

    tried(driver, Script(), wait)
    assert driver.where()["p"] != "permit"


def test_what_breaks_when_events_are_let_in_is_told_and_stops_no_other_event() -> None:
    driver = driver_of(make_node("a"), pending("p"), validate=False)

    def told() -> None:
        driver.engine.intake.pod_put(None)  # type: ignore[arg-type]
        driver.put(make_node("b"))

    with pytest.raises(ExceptionGroup) as caught:
        tried(driver, Script(), told)
    assert [type(problem) for problem in caught.value.exceptions] == [AttributeError]
    driver.collect()
    assert driver.where() == {"p": "binding"}
    assert driver.engine.cluster.nodes.is_present("b")


# one cycle at a time


def started(driver: FakeCluster) -> tuple[Asking[Attempt | None], Calls]:
    cycle = driver.engine.schedule_in_steps()
    return cycle, next(cycle)


def test_a_driver_may_take_the_steps_itself() -> None:
    driver = driver_of(make_node("a"), make_node("b"), pending("p"))
    cycle, (call,) = started(driver)
    assert isinstance(call, FilterCall)
    with pytest.raises(StopIteration) as end:
        cycle.send((FilterAnswer(("b",)),))
    assert end.value.value.decision.bound == "b"


def test_there_is_one_cycle_at_a_time() -> None:
    driver = driver_of(make_node("a"), pending("p"), pending("q"))
    cycle, _ = started(driver)
    with pytest.raises(RuntimeError, match="a scheduling cycle is under way"):
        driver.engine.schedule_next(Script())
    cycle.close()


def test_an_engine_without_extenders_has_cycles_without_stops() -> None:
    driver = FakeCluster(make_node("a"), pending("p"))
    cycle = driver.engine.schedule_in_steps()
    with pytest.raises(StopIteration) as end:
        next(cycle)
    assert end.value.value.decision.bound == "a"


# giving up


def test_a_cycle_that_is_closed_puts_its_pod_back_without_a_word() -> None:
    driver = driver_of(make_node("a"), pending("p"))
    cycle, _ = started(driver)
    driver.put(make_node("b"))
    cycle.close()
    driver.collect()
    assert driver.where() == {"p": "error backoff"}
    assert (driver.events, driver.patches) == ([], [])
    assert driver.engine.cluster.nodes.is_present("b")


def test_answers_of_the_wrong_kind_are_the_drivers_bug_and_fail_the_pod_alone() -> None:
    driver = driver_of(make_node("a"), pending("p"), validate=False)
    attempt = tried(driver, Script(filter=PrioritizeAnswer()))
    assert attempt.crash
    text = "calls that want FilterAnswer were answered with PrioritizeAnswer"
    assert text in (attempt.decision.message or "")
    assert driver.where() == {"p": "error backoff"}


def test_too_few_answers_are_noticed() -> None:
    driver = driver_of(make_node("a"), pending("p"))
    driver.ask = lambda _: ()
    with pytest.raises(WrongAnswers, match="answered with nothing"):
        driver.attempt()


def test_a_driver_that_breaks_while_it_asks_fails_the_pod_alone() -> None:
    driver = driver_of(make_node("a"), pending("p"), validate=False)

    def breaks(_: Calls) -> Answers:
        raise OSError("no network")

    driver.ask = breaks
    attempt = driver.attempt()
    assert attempt is not None
    assert "no network" in (attempt.decision.message or "")
    assert driver.where() == {"p": "error backoff"}


# single steps


def test_single_steps_take_somebody_to_ask_too() -> None:
    engine = driver_of(make_node("a")).engine
    attempt = engine.schedule(engine.cluster.infos.of(pending("p")), Script())
    assert attempt.decision.bound == "a"
