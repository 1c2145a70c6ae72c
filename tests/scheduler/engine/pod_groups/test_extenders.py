"""Pod groups where extenders have a say: about every member, and about what the group preempts."""

from typing import Any

from support.scheduler.engine.group_driver import (
    GANGS,
    PREEMPTING,
    GroupDriver,
    make_group,
    member,
    node,
    running,
)
from support.scheduler.engine.scripted_extenders import (
    Script,
    fails,
    filtering,
    in_turn,
    leaves,
    preempting,
)

from podium.scheduler.framework.asking import FilterAnswer, FilterCall


def gang(script: Script, **more: Any) -> GroupDriver:
    return GroupDriver(
        node("a"),
        node("b"),
        make_group(min_count=2),
        member("p"),
        member("q"),
        ask=script,
        **{"extenders": [filtering()], **more},
    )


def test_every_member_of_a_group_is_asked_about() -> None:
    script = Script(filter=leaves("b"))
    driver = gang(script)
    driver.run()
    assert driver.where() == {"p": "binding", "q": "binding"}
    assert {binding.node_name for binding in driver.bindings.values()} == {"b"}
    assert len(script.calls) == 2


def test_an_error_about_one_member_fails_the_group() -> None:
    driver = gang(Script(filter=in_turn(leaves("a"), fails())))
    driver.run()
    assert {message for _, message in driver.told().values()} == {
        "boom",
        "failed to schedule other pod from a pod group: boom",
    }


def test_a_group_whose_cycle_is_closed_is_put_back_as_it_was() -> None:
    driver = gang(Script())
    cycle = driver.engine.schedule_in_steps()
    next(cycle)
    cycle.send((FilterAnswer(("a",)),))
    cycle.close()
    driver.collect()
    assert driver.where() == {"p": "error backoff", "q": "error backoff"}
    assert driver.engine.cluster.placements == {}


def test_extenders_have_a_say_in_what_a_group_preempts() -> None:
    def only_b(call: FilterCall) -> FilterAnswer:
        return FilterAnswer(tuple(name for name in call.nodes if name == "b"))

    driver = GroupDriver(
        node("a", 1),
        node("b", 2),
        running("x", "a"),
        running("y", "b"),
        running("z", "b"),
        make_group(min_count=2, priority=10),
        gates=PREEMPTING,
        ask=Script(filter=only_b),
        extenders=[filtering()],
    )
    driver.put(member("p", priority=10), member("q", priority=10))
    driver.run()
    (request,) = driver.group_preemptions
    assert sorted(e.victim.pod.metadata.name for e in request.evict) == ["y", "z"]


def test_members_that_preempt_by_themselves_ask_extenders() -> None:
    script = Script()
    driver = GroupDriver(
        node("a", 1),
        running("x", "a"),
        make_group(),
        member("p", priority=10),
        ask=script,
        extenders=[preempting()],
        gates=GANGS,
    )
    driver.run()
    assert script.asked == ["http://a preempt"]
    assert [request.node_name for request in driver.preemptions] == ["a"]
