"""Taints that expel: at once, after a while, or never."""

from typing import Any

import pytest
from support.simulated.controller_objects import (
    creations,
    moment,
    node,
    pod,
    shown,
    timestamp,
    written_status,
)

from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.taint_eviction import Departure, TaintEviction, decide
from podium.kubernetes.kinds.node import Taint
from podium.simulated.informers import Informers

AWAY = Taint(key="away", effect="NoExecute")
BROKEN = Taint(key="broken", effect="NoExecute")
HARMLESS = Taint(key="closed", effect="NoSchedule")


def tolerating(*tolerations: dict[str, Any], **more: Any) -> Pod:
    return pod("web", spec={"tolerations": list(tolerations)}, **more)


def for_a_while(key: str, seconds: int | None) -> dict[str, Any]:
    bound = {} if seconds is None else {"tolerationSeconds": seconds}
    return {"key": key, "operator": "Exists", "effect": "NoExecute", **bound}


def test_a_taint_that_is_not_tolerated_expels_at_once() -> None:
    plan, fixed = decide(tolerating(), (AWAY,), None, moment())
    assert shown(plan) == ["+events web.*", "~pods/status web", "-pods web"]
    assert fixed is None
    (condition,) = written_status(plan, "pods")["conditions"]
    assert (condition["type"], condition["reason"]) == (
        "DisruptionTarget",
        "DeletionByTaintManager",
    )
    assert creations(plan)[0]["message"] == "Marking for deletion Pod ns/web"


def test_taints_that_only_refuse_new_pods_expel_nobody() -> None:
    plan, fixed = decide(tolerating(), (HARMLESS,), None, moment())
    assert (shown(plan), fixed) == ([], None)


def test_the_shortest_toleration_decides() -> None:
    web = tolerating(for_a_while("away", 300), for_a_while("broken", 60))
    plan, fixed = decide(web, (AWAY, BROKEN), None, moment(10))
    assert (shown(plan), plan.again_after_s) == ([], 60)
    assert fixed == Departure("uid-web", 70)


def test_the_first_toleration_that_covers_a_taint_counts() -> None:
    web = tolerating(for_a_while("away", None), for_a_while("away", 5))
    plan, fixed = decide(web, (AWAY,), None, moment())
    assert (shown(plan), fixed) == ([], None)


@pytest.mark.parametrize("seconds", [0, -5])
def test_no_time_is_no_tolerance(seconds: int) -> None:
    plan, _ = decide(tolerating(for_a_while("away", seconds)), (AWAY,), None, moment())
    assert "-pods web" in shown(plan)


def test_a_departure_that_is_fixed_is_not_moved() -> None:
    fixed = Departure("uid-web", 100)
    web = tolerating(for_a_while("away", 600))
    plan, kept = decide(web, (AWAY,), fixed, moment(40))
    assert (plan.again_after_s, kept) == (60, fixed)
    plan, kept = decide(web, (AWAY,), fixed, moment(100))
    assert "-pods web" in shown(plan)
    assert kept is None


def test_a_departure_is_cancelled_when_the_taint_goes() -> None:
    plan, kept = decide(tolerating(), (), Departure("uid-web", 100), moment(40))
    assert shown(plan) == ["+events web.*"]
    assert kept is None


def test_a_pod_on_its_way_out_is_left_alone() -> None:
    going = tolerating(deletionTimestamp=timestamp())
    plan, _ = decide(going, (AWAY,), None, moment())
    assert shown(plan) == []


def test_changes_of_taints_wake_the_pods_on_the_node() -> None:
    informers = Informers()
    controller = TaintEviction(informers)
    woken: list[tuple[str, str]] = []
    controller.watch(woken.append)
    informers.pods.put(tolerating(for_a_while("away", 30)))
    taints = {"taints": [{"key": "away", "effect": "NoExecute"}]}
    informers.nodes.put(node())
    woken.clear()
    informers.nodes.put(node(spec=taints, metadata={"resourceVersion": "2"}))
    assert woken == [("ns", "web")]
    assert controller.plan(("ns", "web"), moment(0)).again_after_s == 30
    gone = informers.nodes.get("", "n1")
    assert gone is not None
    informers.nodes.drop(gone)
    assert controller.plan(("ns", "web"), moment(10)).again_after_s == 20
    assert "-pods web" in shown(controller.plan(("ns", "web"), moment(30)))
