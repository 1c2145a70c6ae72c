"""Extenders that bind: in place of the bind plugins, and what follows if they cannot."""

import asyncio
from typing import Any

import pytest
from support.scheduler.engine.scripted_extenders import Script, binding, extender, fails
from support.scheduler.framework.fake_plugins import pre_bind, reserve

from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.framework.asking import BindAnswer, BindCall, NobodyToAsk
from podium.scheduler.framework.points import Plugin, PreFlight
from podium.scheduler.framework.status import Code
from podium.testing import FakeApi, FakeCluster, make_node
from podium.testing import make_pod as pending

MANAGES = {"managedResources": [{"name": "a.com/x"}]}


def tried(
    script: Script, *extenders: dict[str, Any], plugins: tuple[type[Plugin], ...] = ()
) -> FakeCluster:
    """A pod that holds node n and is to be bound."""
    driver = FakeCluster(
        make_node("n"), pending("p"), ask=script, extenders=list(extenders), plugins=plugins
    )
    driver.run()
    assert driver.where() == {"p": "binding"}
    return driver


def test_an_extender_binds_in_place_of_the_plugins() -> None:
    script = Script()
    driver = FakeCluster(make_node("n"), pending("p"), ask=script, extenders=[binding()])
    driver.run()
    driver.bound("p")
    (call,) = script.calls
    assert isinstance(call, BindCall)
    assert (call.pod.metadata.name, call.node_name) == ("p", "n")
    assert driver.api.bound == {}
    assert driver.notes("Scheduled") == ["Successfully assigned default/p to n"]


def test_pre_bind_has_run_by_then() -> None:
    log: list[str] = []

    def bind(_: BindCall) -> BindAnswer:
        log.append("bind")
        return BindAnswer()

    prepares = pre_bind("Prepares", PreFlight(), log=log)
    driver = tried(Script(bind=bind), binding(), plugins=(prepares,))
    driver.run_binding("p")
    assert log == ["prebind Prepares", "bind"]


@pytest.mark.parametrize("other", [extender("http://1"), binding("http://1", **MANAGES)])
def test_only_an_interested_extender_with_a_verb_binds(other: dict[str, Any]) -> None:
    script = Script()
    driver = FakeCluster(make_node("n"), pending("p"), ask=script, extenders=[other])
    driver.run()
    driver.bound("p")
    assert script.calls == []
    assert driver.api.bound == {"default/p": "n"}


def test_an_error_fails_the_binding_with_its_text_alone() -> None:
    log: list[str] = []
    holds = reserve("Holds", None, log)
    driver = tried(Script(bind=fails("bind failed x")), binding(), plugins=(holds,))
    problem = driver.run_binding("p")
    assert problem is not None
    assert (problem.code, problem.message) == (Code.ERROR, "bind failed x")
    driver.finish("p", problem)
    assert driver.where() == {"p": "error backoff"}
    assert driver.notes() == ["bind failed x"]
    assert [patch.reason for patch in driver.patches] == ["SchedulerError"]
    assert log == ["reserve Holds n", "unreserve Holds n"]


def test_a_pod_that_turns_out_to_be_bound_is_not_queued_again() -> None:
    driver = tried(Script(bind=fails("lost")), binding())
    problem = driver.run_binding("p")
    driver.confirm("p", "n")
    driver.finish("p", problem)
    assert driver.where() == {"p": "n"}


def test_an_error_that_may_be_ignored_leaves_it_to_the_plugins() -> None:
    script = Script(bind=fails())
    driver = FakeCluster(
        make_node("n"), pending("p"), ask=script, extenders=[binding(ignorable=True)]
    )
    driver.run()
    driver.bound("p")
    assert driver.api.bound == {"default/p": "n"}
    lines = driver.engine.state.pod_log.lines("default/p")
    assert lines[-1].detail == "skipped extender http://a: boom"


def test_an_extender_that_says_it_has_bound_is_believed() -> None:
    driver = tried(Script(), binding())
    driver.finish("p", driver.run_binding("p"))
    held = driver.engine.cluster.placements["uid-default-p"]
    assert held.assumed
    driver.wait(3600)
    assert driver.engine.cluster.is_assumed("uid-default-p")


def test_a_driver_without_a_way_to_ask_is_told() -> None:
    found: Binding = tried(Script(), binding()).bindings["p"]
    with pytest.raises(NobodyToAsk, match="http://a has to bind"):
        asyncio.run(found.run(FakeApi()))
