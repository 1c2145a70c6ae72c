"""How many more fit: the same numbers that scheduling them one after the other gives."""

import random
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.offline.what_if.clusters import HOST, ZONE, anti_affinity, node, pod, simulation

from podium.kubernetes.controllers.daemon_pods import pod_of_daemon
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.offline.simulate.admission import assign_uid
from podium.offline.what_if.capacity import CapacityQuestion, count_rows
from podium.offline.what_if.capacity_answer import PodRoom, ReasonCount
from podium.offline.what_if.node_shapes import NodePurchase, NodeShape, cheapest_cover
from podium.offline.what_if.pod_templates import TemplatePod
from podium.offline.what_if.utilisation_limit import NO_LIMIT, parse_limit
from podium.scheduler.plugins.node_resources_fit import NodeResourcesFit


def no_daemons(_: Node) -> list[Pod]:
    return []


def scheduled(nodes: list[Node], running: list[Pod], more: Pod, most: int) -> dict[str, int]:
    """Copies of a pod by node, scheduled for real."""
    copies = [
        replace(more, metadata=replace(more.metadata, name=f"copy-{n}", uid=f"copy-{n}"))
        for n in range(most)
    ]
    report = simulation(nodes, running, copies).run()
    placed = [result.node for result in report.pods if result.placed]
    assert len(placed) < most
    return {each.metadata.name: placed.count(each.metadata.name) for each in nodes}


def asked(nodes: list[Node], running: list[Pod], more: Pod, until: str = "") -> PodRoom:
    engine = simulation(nodes, running, []).engine
    limit = parse_limit(until) if until else NO_LIMIT
    return CapacityQuestion(engine, limit=limit).alone(TemplatePod(more))


def by_node(room: PodRoom) -> dict[str, int]:
    return {each.name: each.fits for each in room.nodes}


def made_up_cluster(seed: int) -> tuple[list[Node], list[Pod], Pod]:
    rolls = random.Random(seed)
    taints = [("dedicated", "db", "NoSchedule")]
    nodes = [
        node(
            f"n{number}",
            zone=rolls.choice("ab"),
            cpu=rolls.choice(["1", "2500m", "4"]),
            pods=rolls.choice([2, 5, 10]),
            taints=taints if rolls.random() < 0.2 else (),
            unschedulable=rolls.random() < 0.1,
        )
        for number in range(6)
    ]
    running = [
        pod(
            f"r{number}",
            node=rolls.choice(nodes).metadata.name,
            cpu=rolls.choice(["100m", "700m"]),
            labels={"app": rolls.choice(["web", "db"])},
            affinity=anti_affinity(HOST, "web") if rolls.random() < 0.2 else None,
            port=80 if rolls.random() < 0.2 else 0,
        )
        for number in range(8)
    ]
    more = pod(
        "more",
        cpu=rolls.choice(["250m", "900m", "3"]),
        labels={"app": "web"},
        tolerations=[{"operator": "Exists"}] if rolls.random() < 0.5 else None,
        nodeSelector={ZONE: "a"} if rolls.random() < 0.3 else None,
        port=80 if rolls.random() < 0.3 else 0,
    )
    return nodes, running, more


@pytest.mark.parametrize("seed", range(12))
def test_counting_all_nodes_at_once_gives_what_scheduling_gives(seed: int) -> None:
    nodes, running, more = made_up_cluster(seed)
    engine = simulation(nodes, running, []).engine
    assert count_rows(engine, engine.cluster.infos.of(more)) is not None

    quick = CapacityQuestion(engine).alone(TemplatePod(more))
    slow = CapacityQuestion(engine, schedules=True).alone(TemplatePod(more))

    assert by_node(quick) == scheduled(nodes, running, more, 70)
    assert quick == slow


@pytest.mark.parametrize(
    "rules",
    [
        {"affinity": anti_affinity(HOST, "web")},
        {"affinity": anti_affinity(ZONE, "web")},
        {
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": ZONE,
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": {"app": "web"}},
                }
            ]
        },
    ],
)
def test_pods_that_look_at_other_nodes_are_scheduled_one_by_one(rules: dict[str, Any]) -> None:
    nodes = [node("n1", "a"), node("n2", "b"), node("n3", "b", cpu="1")]
    more = pod("more", cpu="500m", labels={"app": "web"}, **rules)
    engine = simulation(nodes, [], []).engine
    assert count_rows(engine, engine.cluster.infos.of(more)) is None

    room = asked(nodes, [], more)

    assert room.fits == sum(scheduled(nodes, [], more, 40).values())


def test_the_next_copy_is_told_what_the_scheduler_would_tell_it() -> None:
    room = asked([node("n1"), node("n2", cpu="1")], [], pod("more", cpu="1"))

    assert room.fits == 5
    assert room.message == "0/2 nodes are available: 2 Insufficient cpu."
    assert room.reasons == (ReasonCount("Insufficient cpu", 2),)


def test_nothing_is_preempted_for_a_copy() -> None:
    weak = pod("weak", node="n1", cpu="4", priority=0)

    room = asked([node("n1")], [weak], pod("strong", cpu="1", priority=1000))

    assert room.fits == 0
    assert room.message == "0/1 nodes are available: 1 Insufficient cpu."


def test_together_pods_take_turns_and_leave_the_cluster_as_it_was() -> None:
    engine = simulation([node("n1"), node("n2")], [], []).engine
    question = CapacityQuestion(engine)
    small, large = TemplatePod(pod("s", cpu="1")), TemplatePod(pod("l", cpu="2"))

    first, second = question.together([small, large])

    assert (first.fits, second.fits) == (4, 2)
    assert question.alone(small).fits == 8
    assert question.alone(large).fits == 4
    assert not engine.cluster.placements


def test_a_limit_of_utilisation_is_never_passed() -> None:
    nodes = [node("n1"), node("n2")]

    room = asked(nodes, [], pod("more", cpu="1", memory="1Gi"), until="90%")
    assert (room.fits, room.stopped_by) == (7, "cpu")
    room = asked(nodes, [], pod("more", cpu="1", memory="1Gi"), until="memory=25%")
    assert (room.fits, room.stopped_by) == (4, "memory")
    room = asked(nodes, [], pod("more", cpu="1"), until="100%")
    assert (room.fits, room.stopped_by) == (8, "cpu")


def test_a_pod_with_a_gate_is_never_tried() -> None:
    room = asked([node("n1")], [], pod("more", schedulingGates=[{"name": "quota"}]))

    assert room.fits == 0
    assert "quota" in (room.message or "")


# --- what to add ------------------------------------------------------------------------------


def shape(name: str, cpu: str, price: str | None) -> NodeShape:
    return NodeShape(node(name, cpu=cpu, pods=110), None if price is None else Fraction(price))


@given(
    st.integers(0, 30),
    st.lists(st.tuples(st.integers(1, 7), st.integers(1, 9).map(Fraction)), min_size=1, max_size=3),
)
@settings(max_examples=60, deadline=None)
def test_a_cover_is_the_cheapest_of_all(missing: int, items: list[tuple[int, Fraction]]) -> None:
    bought = cheapest_cover(missing, items)

    def cost(counts: Any) -> Fraction:
        return sum((n * price for n, (_, price) in zip(counts, items, strict=True)), Fraction(0))

    covers = (
        counts
        for counts in product(*(range(-(-missing // room) + 1) for room, _ in items))
        if sum(n * room for n, (room, _) in zip(counts, items, strict=True)) >= missing
    )
    assert sum(n * room for n, (room, _) in zip(bought, items, strict=True)) >= missing
    assert cost(bought) == min(map(cost, covers))


@pytest.mark.parametrize(
    ("prices", "nodes"),
    [
        (("0.1", "0.35"), {"small": 1, "large": 1}),
        (("0.1", "0.6"), {"small": 6}),
        ((None, None), {"small": 1, "large": 1}),
    ],
)
def test_the_cheapest_mix_makes_the_wanted_number_fit(
    prices: tuple[str | None, str | None], nodes: dict[str, int]
) -> None:
    engine = simulation([node("n1")], [], []).engine
    shapes = [shape("small", "4", prices[0]), shape("large", "16", prices[1])]
    buying = NodePurchase(engine, CapacityQuestion(engine), no_daemons)

    mix = buying.find(TemplatePod(pod("more", cpu="1500m")), 2 + 12, shapes)

    assert mix is not None
    assert mix.nodes == nodes
    assert mix.fits >= 14
    assert mix.proven


def test_daemons_take_their_part_of_new_nodes_first() -> None:
    pinned = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    terms = {"nodeSelectorTerms": [{"matchFields": [pinned]}]}
    agent = pod(
        "agent",
        cpu="1500m",
        affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}},
    )
    engine = simulation([node("n1", cpu="1")], [], []).engine
    template, shapes = TemplatePod(pod("more", cpu="1500m")), [shape("small", "4", None)]

    def agents_on(new: Node) -> list[Pod]:
        return [assign_uid(pod_of_daemon(agent, new))]

    without = NodePurchase(engine, CapacityQuestion(engine), no_daemons).find(template, 4, shapes)
    with_agent = NodePurchase(engine, CapacityQuestion(engine), agents_on).find(template, 4, shapes)

    assert without is not None
    assert with_agent is not None
    assert (without.nodes, with_agent.nodes) == ({"small": 2}, {"small": 4})


def test_shapes_that_take_none_of_the_pods_are_no_answer() -> None:
    engine = simulation([node("n1")], [], []).engine
    buying = NodePurchase(engine, CapacityQuestion(engine), no_daemons)

    assert buying.find(TemplatePod(pod("big", cpu="9")), 1, [shape("s", "4", "1")]) is None


def test_many_nodes_take_no_more_questions_than_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    filter_rows = NodeResourcesFit.filter

    def count(plugin: NodeResourcesFit, cycle: Any, rows: Any) -> Any:
        asked.append(len(rows))
        return filter_rows(plugin, cycle, rows)

    nodes = [node(f"n{number}", pods=110) for number in range(300)]
    engine = simulation(nodes).engine
    monkeypatch.setattr(NodeResourcesFit, "filter", count)

    room = CapacityQuestion(engine).alone(TemplatePod(pod("more", cpu="100m")))

    assert room.fits == 300 * 40
    assert len(asked) <= 9  # halves of 110, and one look at the end
