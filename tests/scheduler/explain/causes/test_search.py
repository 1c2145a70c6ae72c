"""Which cause comes first, and what is told of nodes that several things rule out."""

from support.scheduler.engine.scripted_extenders import Script, filtering, leaves
from support.scheduler.explain.caused import causes_of, make_engine

from podium.testing import make_node, make_pod

GPU = ("gpu", "", "NoSchedule")
OLD = ("old", "yes", "NoExecute")


def test_a_pod_that_fits_has_no_cause() -> None:
    assert causes_of(make_engine(make_node("a")), make_pod("p")) == ()


def test_without_nodes_that_is_the_cause() -> None:
    (cause,) = causes_of(make_engine(), make_pod("p"))
    assert (cause.code, cause.sentence) == ("no-nodes", "There are no nodes.")


def test_the_cause_that_keeps_most_nodes_from_fitting_comes_first() -> None:
    engine = make_engine(
        *(make_node(f"tainted-{n}", taints=[GPU]) for n in range(2)),
        *(make_node(f"cordoned-{n}", unschedulable=True) for n in range(3)),
    )
    causes = causes_of(engine, make_pod("p"))
    assert [cause.code for cause in causes] == ["node-unschedulable", "untolerated-taint"]
    assert (
        causes[1].sentence == "2 nodes have taint gpu:NoSchedule; with that toleration 2 would fit."
    )
    assert causes[1].nodes == ("tainted-0", "tainted-1")


def test_nodes_with_the_fewest_obstacles_speak_first() -> None:
    engine = make_engine(
        *(make_node(f"far-{n}", taints=[GPU], unschedulable=True) for n in range(5)),
        make_node("near", taints=[OLD]),
    )
    causes = causes_of(engine, make_pod("p"))
    assert [cause.subject for cause in causes] == ["old=yes:NoExecute"]


def test_a_cordon_and_the_taint_that_comes_with_it_are_one_cause() -> None:
    taint = ("node.kubernetes.io/unschedulable", "", "NoSchedule")
    engine = make_engine(make_node("a", unschedulable=True, taints=[taint]))
    (cause,) = causes_of(engine, make_pod("p"))
    assert cause.code == "node-unschedulable"
    assert cause.sentence == "Node a is cordoned (unschedulable); uncordoned, 1 node would fit."


def test_a_taint_and_a_shortage_on_the_same_nodes_are_told_together() -> None:
    running = make_pod("runs", node="a", requests={"cpu": "2"})
    engine = make_engine(make_node("a", taints=[GPU]), running)
    (cause,) = causes_of(engine, make_pod("p", requests={"cpu": "3"}))
    assert cause.sentence == (
        "Node a has taint gpu:NoSchedule; besides, the pod asks for 3 cpu;"
        " the best candidate (a) lacks 1 cpu (2 of 4 free)."
    )
    assert cause.subject == "gpu:NoSchedule; cpu"
    assert cause.facts["wouldFit"] == 0


def test_all_taints_of_a_node_are_told_at_once() -> None:
    engine = make_engine(make_node("a", taints=[GPU, OLD]))
    (cause,) = causes_of(engine, make_pod("p"))
    assert cause.sentence == (
        "Node a has taints gpu:NoSchedule and old=yes:NoExecute; with those tolerations"
        " 1 node would fit."
    )


def test_nodes_that_are_too_small_do_not_hide_what_stops_the_others() -> None:
    engine = make_engine(
        *(make_node(f"small-{n}", allocatable={"cpu": "1", "pods": 110}) for n in range(9)),
        make_node("large", unschedulable=True),
    )
    (cause,) = causes_of(engine, make_pod("p", requests={"cpu": "2"}))
    assert cause.sentence == (
        "1 node (large) has 2 cpu or more; it is cordoned (unschedulable);"
        " uncordoned, 1 node would fit."
    )


def test_what_the_pod_selects_comes_before_what_stops_it() -> None:
    engine = make_engine(
        make_node("red", labels={"colour": "red"}, allocatable={"cpu": "1", "pods": 110}),
        *(make_node(f"blue-{n}", labels={"colour": "blue"}) for n in range(9)),
    )
    (cause,) = causes_of(
        engine, make_pod("p", requests={"cpu": "2"}, nodeSelector={"colour": "red"})
    )
    assert cause.sentence == (
        "1 node (red) matches colour=red; the pod asks for 2 cpu; the largest of them (red) has 1,"
        " the largest of all (blue-0) 4."
    )


def test_extenders_that_drop_every_node_are_the_cause_with_their_words() -> None:
    engine = make_engine(*(make_node(name) for name in "abc"), extenders=[filtering()])
    answer = leaves(failed={"a": "too loud", "b": "too loud", "c": "too far"})
    causes = causes_of(engine, make_pod("p"), Script(filter=answer))
    assert [cause.sentence for cause in causes] == [
        '2 nodes pass all filters and an extender takes them away: "too loud".',
        '1 node passes all filters and an extender takes it away: "too far".',
    ]


def test_the_counterfactual_is_the_engines_answer() -> None:
    nodes = [make_node(f"n{n}", taints=[GPU]) for n in range(4)]
    engine = make_engine(*nodes, make_pod("full", node="n0", requests={"cpu": "4"}))
    causes = causes_of(engine, make_pod("p", requests={"cpu": "1"}))
    assert causes[0].facts["wouldFit"] == 3
    assert causes[0].sentence.endswith("with that toleration 3 would fit.")


def test_few_causes_are_worked_out_however_many_there_are() -> None:
    engine = make_engine(
        *(make_node(f"n{n}", taints=[(f"team-{n}", "", "NoSchedule")]) for n in range(40))
    )
    assert len(causes_of(engine, make_pod("p"))) == 5
