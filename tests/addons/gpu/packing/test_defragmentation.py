"""Moves that free whole cards, or let pods fit that wait."""

from random import Random
from typing import Any

import msgspec
import pytest
from support.addons.gpu.hami_cluster import HAMI, NOW, OWNER, node, on, pod

from podium.addons.gpu.cards.allocations import Allocation, CardShare, card_uses
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.packing.defragmentation import Defragmenter
from podium.addons.gpu.packing.moves import MOVING_ANNOTATION, Defragmentation, MoveTable
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget


def plan(
    nodes: list[Node],
    pods: list[Pod],
    *budgets: PodDisruptionBudget,
    free: int | None = None,
    max_moves: int = 10,
) -> Defragmentation:
    return Defragmenter(MoveTable(HAMI, nodes, pods, NOW), budgets).plan(free, max_moves)


def moves(found: Defragmentation) -> list[tuple[str, str, str]]:
    return [(move.pod.name, move.source.node, move.target.node) for move in found.moves]


A, B = node("a"), node("b")


def test_a_card_is_freed_by_moving_its_pods_beside_others() -> None:
    found = plan([A, B], [on(pod("x", 30), A, 0), on(pod("y", 40), B, 0)])
    assert moves(found) == [("x", "a", "b")]
    assert (found.idle_before, found.idle_after) == (2, 3)
    (step,) = found.steps
    assert step.frees is not None
    assert (step.frees.node, step.frees.cards) == ("a", (0,))


def test_nothing_is_moved_that_frees_nothing() -> None:
    assert plan([A, B], [on(pod("x", 60), A, 0), on(pod("y", 60), B, 0)]).steps == ()
    assert plan([A], []).steps == ()


def test_a_pod_that_waits_is_helped_with_the_fewest_moves() -> None:
    busy = [on(pod("p", 30), A, 0), on(pod("q", 30), A, 1), on(pod("r", 30), B, 0)]
    found = plan([A, B], [*busy, pod("whole", 100, cards=2)])
    assert moves(found) == [("r", "b", "a")]
    (step,) = found.steps
    assert step.places is not None
    assert (step.places[0].name, step.places[1].node, step.places[1].cards) == (
        "whole",
        "b",
        (0, 1),
    )


def test_a_pod_that_fits_needs_no_moves() -> None:
    (step,) = plan([A], [pod("w", 30)]).steps
    assert (step.moves, step.places is not None) == ((), True)


def test_a_pod_that_no_moves_help_is_told() -> None:
    found = plan([A], [pod("large", 100, cards=3)])
    assert [each.name for each in found.unplaced] == ["large"]
    assert found.steps == ()


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"ownerReferences": []}, "nothing would make it anew"),
        ({"ownerReferences": [{**OWNER, "kind": "DaemonSet"}]}, "its DaemonSet keeps it"),
        ({"annotations": {MOVING_ANNOTATION: "forbidden"}}, MOVING_ANNOTATION),
        (
            {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}},
            "safe-to-evict",
        ),
        ({"deletionTimestamp": "2027-01-15T08:00:00Z"}, "on its way out"),
    ],
)
def test_a_pod_that_must_not_be_moved_stays_and_is_told(changed: dict[str, Any], why: str) -> None:
    kept = on(pod("x", 30, metadata=changed), A, 0)
    found = plan([A, B], [kept, on(pod("y", 90), B, 0)])
    assert moves(found) == []
    assert any(why in reason for _, reason in found.kept)


def test_critical_pods_and_pods_without_confirmation_stay() -> None:
    critical = on(pod("x", 30, priority=2_000_000_000), A, 0)
    pending = on(pod("y", 30), B, 0)
    said = {**(pending.metadata.annotations or {}), "hami.io/bind-phase": "allocating"}
    waits = msgspec.structs.replace(
        pending, metadata=msgspec.structs.replace(pending.metadata, annotations=said)
    )
    found = plan([A, B], [critical, waits])
    assert [reason for _, reason in found.kept] == [
        "it is critical",
        "its agent has not given it its cards yet",
    ]


def test_more_important_pods_are_not_moved_for_one_that_waits() -> None:
    for priority, helped in ((5, False), (0, True)):
        busy = [on(pod("x", 30, priority=priority), A, 0), on(pod("y", 30, priority=9), B, 0)]
        found = plan([node("a", 1), node("b", 1)], [*busy, pod("whole", 100, priority=1)])
        assert bool(found.steps) is helped


def test_the_most_important_pod_that_waits_is_helped_first() -> None:
    waiting = [pod("less", 100, priority=1), pod("more", 100, priority=2)]
    found = plan([node("a", 1)], waiting)
    assert [each.name for each in found.unplaced] == ["less"]


def budget(app: str, allowed: int) -> PodDisruptionBudget:
    return msgspec.convert(
        {
            "metadata": {"name": app, "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": app}}},
            "status": {"disruptionsAllowed": allowed},
        },
        PodDisruptionBudget,
    )


def test_disruption_budgets_are_respected_over_all_steps() -> None:
    nodes = [node("a", 1), node("b", 1), node("c", 1)]
    pods = [on(pod("x1", 20), nodes[0], 0), on(pod("x2", 20), nodes[1], 0)]
    pods.append(on(pod("y", 50), nodes[2], 0))
    unmoved = budget("y", 0)
    assert len(plan(nodes, pods, unmoved, budget("x", 2)).moves) == 2
    assert len(plan(nodes, pods, unmoved, budget("x", 1)).moves) == 1
    assert len(plan(nodes, pods, unmoved, budget("x", 0)).moves) == 0


def test_no_more_pods_are_moved_than_allowed_and_no_more_cards_freed_than_wanted() -> None:
    nodes = [node("a", 1), node("b", 1), node("c", 1)]
    pods = [on(pod(f"x{at}", 30), each, 0) for at, each in enumerate(nodes)]
    assert len(plan(nodes, pods).moves) == 2
    assert len(plan(nodes, pods, max_moves=1).moves) == 1
    assert len(plan(nodes, pods, max_moves=0).moves) == 0
    assert len(plan(nodes, pods, free=1).moves) == 1


def test_pods_go_only_where_their_selectors_and_tolerations_let_them() -> None:
    tainted = node("b", taints=[{"key": "k", "effect": "NoSchedule"}])
    beside = on(pod("y", 30, metadata={"annotations": {MOVING_ANNOTATION: "forbidden"}}), B, 0)
    assert moves(plan([A, tainted], [on(pod("x", 30), A, 0), beside])) == []
    bound = pod("x", 30, nodeSelector={"name": "a"})
    assert moves(plan([A, B], [on(bound, A, 0), beside])) == []
    assert moves(plan([A, node("b", unschedulable=True)], [on(pod("x", 30), A, 0), beside])) == []
    assert moves(plan([A, B], [on(pod("x", 30), A, 0), beside])) == [("x", "a", "b")]


@pytest.mark.parametrize("seed", range(30))
def test_plans_hold_when_they_are_carried_out(seed: int) -> None:
    """Whatever the fleet: after all moves no card holds more than it has, and as many are idle as
    the plan says."""
    random = Random(seed)
    nodes = [node(f"n{at}", random.randint(1, 4)) for at in range(4)]
    tables = CardTable()
    for row, each in enumerate(nodes):
        tables.put_node(row, HAMI.node_cards(each, NOW))
    pods: dict[str, Pod] = {}
    for number in range(14):
        row = random.randrange(4)
        card = random.choice(tables.nodes[row].cards).index
        cores = random.choice((10, 20, 30, 50))
        charged = tables.charged[row].get(card)
        if charged is not None and charged.cores + cores > 100:
            continue
        made = on(pod(f"p{number}", cores), nodes[row], card)
        pods[made.name] = made
        use = Allocation(containers=((CardShare(card, cores, cores * 100),),))
        tables.charge(row, card_uses(use))
    waiting = [pod("w", 100, cards=random.randint(1, 2))] if seed % 2 else []
    found = plan(nodes, [*pods.values(), *waiting])
    assert len({move.pod.name for move in found.moves}) == len(found.moves)
    used: dict[tuple[str, int], int] = {}

    def take(name: str, card: int, cores: int) -> None:
        used[name, card] = used.get((name, card), 0) + cores

    for placed in pods.values():
        decision = HAMI.decision(placed, HAMI.node_cards(node(placed.spec.node_name, 4), NOW))
        assert decision is not None
        for card, use_of in card_uses(decision.allocation).items():
            take(placed.spec.node_name, card, use_of.cores)
    for step in found.steps:
        for move in step.moves:
            request = HAMI.pod_request(move.pod)
            assert request is not None
            (wanted,) = request.containers
            assert wanted is not None
            for card in move.source.cards:
                take(move.source.node, card, -wanted.cores)
            for card in move.target.cards:
                take(move.target.node, card, wanted.cores)
        if step.places is not None:
            for card in step.places[1].cards:
                take(step.places[1].node, card, 100)
    assert all(0 <= cores <= 100 for cores in used.values())
    busy = sum(cores > 0 for cores in used.values())
    assert tables.exists.sum() - busy == found.idle_after
