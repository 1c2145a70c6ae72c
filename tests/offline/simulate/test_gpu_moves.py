"""Plans of moves between GPUs hold what the scheduler itself makes of them."""

from typing import Any

import msgspec
from support.addons.gpu.asked_scheduler import asked_scheduler, checked_plan
from support.addons.gpu.hami_cluster import NOW, node, on, pod

from podium.addons.gpu.packing.moves import Defragmentation, MoveAnswer
from podium.kubernetes.kinds.node import Node


def places(found: Defragmentation) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(move.pod.name, move.target.node, move.target.cards) for move in found.moves]


def with_status(of: Node, **allocatable: str) -> Node:
    status = msgspec.structs.replace(
        of.status, allocatable={**(of.status.allocatable or {}), **allocatable}
    )
    return msgspec.structs.replace(of, status=status)


A, B, C = node("a", 1), node("b", 1), node("c", 1)


def test_a_move_goes_where_the_scheduler_puts_the_pod() -> None:
    found = checked_plan([A, B], [on(pod("x", 30), A, 0), on(pod("y", 40), B, 0)], NOW)
    assert found.checked
    assert places(found) == [("x", "b", (0,))]
    assert found.moves[0].proposed is None
    assert found.refused == ()


def cpu(amount: str) -> dict[str, Any]:
    """Containers that ask for a processor too."""
    limits = {"nvidia.com/gpu": "1", "nvidia.com/gpucores": "30", "nvidia.com/gpumem": "3000"}
    resources = {"limits": limits, "requests": {**limits, "cpu": amount}}
    return {"containers": [{"name": "c", "resources": resources}]}


def test_a_move_is_amended_if_the_scheduler_has_reasons_that_cards_do_not_tell() -> None:
    """The fullest card is on a node without a processor to spare."""
    full = with_status(B, cpu="1")
    pods = [on(pod("x", 30, **cpu("2")), A, 0), on(pod("y", 60), full, 0), on(pod("z", 50), C, 0)]
    found = checked_plan([A, full, C], pods, NOW, free=1)
    (move,) = found.moves
    assert places(found) == [("x", "c", (0,))]
    assert move.proposed is not None
    assert (move.proposed.node, found.idle_after) == ("b", 1)


def test_a_step_is_given_up_if_its_pod_would_find_no_place() -> None:
    full = with_status(B, cpu="1")
    found = checked_plan(
        [A, full], [on(pod("x", 30, **cpu("2")), A, 0), on(pod("y", 60), full, 0)], NOW, free=1
    )
    # Alone on its card again, where it was, it frees nothing; y could go beside it.
    assert places(found) == [("y", "a", (0,))]
    (refused,) = found.refused
    assert refused.step.moves[0].pod.name == "x"
    assert refused.why == "no card more would be idle: default/x to a/0"


def test_a_pod_that_only_the_scheduler_keeps_from_its_node_is_not_helped() -> None:
    small = with_status(A, cpu="1")
    waits = pod("w", 30, **cpu("2"))
    found = checked_plan([small], [waits], NOW)
    assert [each.name for each in found.unplaced] == ["w"]
    assert "Insufficient cpu" in found.refused[0].why


def test_of_equal_nodes_the_pod_is_taken_to_go_back_to_its_own() -> None:
    pods = [on(pod("x", 30), B, 0), pod("w", 100, cards=2)]
    scheduler = asked_scheduler([A, B], pods, NOW)
    scheduler.place_waiting(pods[1:])
    answer = scheduler.evict(pods[:1])
    assert (answer.placed["default/x"].node, answer.placed["default/x"].equal_nodes) == ("b", 2)


def test_pods_that_fit_as_it_is_need_no_move_and_have_the_schedulers_place() -> None:
    found = checked_plan([A, B], [on(pod("x", 30), A, 0), pod("w", 30)], NOW)
    (step,) = found.steps
    assert step.moves == ()
    assert step.places is not None
    assert (step.places[1].node, step.places[1].cards) == ("a", (0,))


def test_moves_that_are_not_needed_any_more_are_left_out() -> None:
    """One pod of the node stays more important than the other; moving one is enough."""
    nodes = [node("a", 2), node("b", 2)]
    pods = [on(pod("x", 30), nodes[0], 0), on(pod("y", 30), nodes[1], 0), pod("w", 100, cards=2)]
    found = checked_plan(nodes, pods, NOW)
    assert len(found.moves) == 1
    assert found.unplaced == ()


def test_what_was_tried_is_taken_back() -> None:
    pods = [on(pod("x", 30), A, 0), on(pod("y", 40), B, 0), pod("w", 100)]
    scheduler = asked_scheduler([A, B], pods, NOW)
    assert scheduler.place_waiting(pods[2:]) == {}

    def answer() -> MoveAnswer:
        found = scheduler.evict(pods[:1], "default/w")
        scheduler.take_back()
        return found

    first = answer()
    assert first.placed.keys() == {"default/w", "default/x"}
    assert (first.placed["default/w"].node, first.placed["default/x"].node) == ("a", "b")
    assert answer() == first


def test_pods_of_other_schedulers_are_left_to_them() -> None:
    moving = {"annotations": {"podium.dev/gpu-moving": "forbidden"}}
    pods = [on(pod("x", 30), A, 0), on(pod("y", 40, metadata=moving), B, 0)]
    assert places(checked_plan([A, B], pods, NOW)) == [("x", "b", (0,))]
    pods[0] = on(pod("x", 30, schedulerName="other"), A, 0)
    found = checked_plan([A, B], pods, NOW)
    assert found.moves == []
    assert "no profile is named 'other'" in found.refused[0].why
