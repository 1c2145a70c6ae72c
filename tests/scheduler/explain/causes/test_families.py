"""What single families of causes say where the corpus has no example."""

import msgspec
import pytest
from support.scheduler.engine.group_driver import GANGS, make_group
from support.scheduler.explain.caused import causes_of, make_engine
from support.scheduler.plugins.device_builders import make_slice

from podium.kubernetes.kinds.devices import DeviceClass
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import ExplainedPod, Scenario, Simulation
from podium.scheduler.config.load import load_configuration
from podium.scheduler.explain.causes import find_waiting_cause
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.explanations.finding import (
    amount_text,
    counted_values,
    join_words,
    sentence,
)
from podium.scheduler.framework.points import FilterPlugin, PreFilterPlugin
from podium.scheduler.plugins import in_tree_registry
from podium.testing import FakeCluster, make_node, make_pod

ZONE = "topology.kubernetes.io/zone"


def test_every_filter_of_the_tree_has_words_of_its_own() -> None:
    known = in_tree_registry()
    assert not [
        name
        for name in known
        if issubclass(plugin := known.get(name), FilterPlugin)
        and plugin.explain_rejections is FilterPlugin.explain_rejections
    ]


def test_shared_devices_of_an_extended_resource_are_counted() -> None:
    selector = {"cel": {"expression": 'device.driver == "gpu.example.com"'}}
    device_class = msgspec.convert(
        {
            "metadata": {"name": "gpu"},
            "spec": {"extendedResourceName": "example.com/gpu", "selectors": [selector]},
        },
        DeviceClass,
    )
    engine = make_engine(
        make_node("a"),
        make_node("b"),
        device_class,
        make_slice("a", ["gpu-0", "gpu-1"], node="a"),
        gates={"DRAExtendedResource": True},
    )
    (cause,) = causes_of(engine, make_pod("p", requests={"example.com/gpu": "3"}))
    assert cause.code == "too-few-devices"
    assert cause.sentence == (
        "The pod asks for 3 example.com/gpu, which DeviceClass gpu serves;"
        " the best candidate (a) has 2 free devices of 2."
    )


def test_a_label_rule_of_an_old_configuration_is_named() -> None:
    profile = {
        "schedulerName": "default-scheduler",
        "plugins": {"filter": {"enabled": [{"name": "NodeLabel"}]}},
        "pluginConfig": [
            {"name": "NodeLabel", "args": {"presentLabels": ["rack"], "absentLabels": ["retired"]}}
        ],
    }
    engine = make_engine(
        make_node("a"),
        apiVersion="kubescheduler.config.k8s.io/v1beta1",
        profiles=[profile],
    )
    (cause,) = causes_of(engine, make_pod("p"))
    assert cause.sentence == (
        "The scheduler's NodeLabel rule wants label rack and no label retired; node a does not."
    )


def test_a_node_without_the_topology_label_is_told_beside_those_that_have_it() -> None:
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    web = {"app": "web"}
    engine = make_engine(
        make_node("bare"),
        make_node("a", labels={ZONE: "a"}, allocatable={"cpu": "1", "pods": 110}),
        make_node("b", labels={ZONE: "b"}),
        make_pod("web-b", labels=web, node="b"),
    )
    pod = make_pod("p", labels=web, requests={"cpu": "2"}, topologySpreadConstraints=[constraint])
    told = {cause.code: cause.sentence for cause in causes_of(engine, pod)}
    assert told["topology-key-missing"] == (
        f"2 nodes have 2 cpu or more; 1 of them has no label {ZONE}, over which it is to spread"
        " with app=web."
    )
    assert "there are b 1, a 0" in told["topology-spread"]


def test_an_incomplete_gang_is_told_with_its_numbers() -> None:
    group = make_group("crew", min_count=2)
    engine = make_engine(make_node("a"), group, gates=GANGS)
    pod = make_pod("p", schedulingGroup={"podGroupName": "crew"})
    waiting = find_waiting_cause(engine, pod)
    assert waiting is not None
    assert waiting.sentence == "PodGroup default/crew is a gang of at least 2 pods; there are 0."


def test_a_pod_that_nothing_holds_back_is_not_waiting() -> None:
    assert find_waiting_cause(make_engine(make_node("a")), make_pod("p")) is None


@pytest.mark.parametrize(
    ("resource", "number", "text"),
    [
        ("cpu", 1500, "1.5"),
        ("cpu", 96_000, "96"),
        ("cpu", 1, "0.001"),
        ("memory", 6 << 30, "6Gi"),
        ("memory", 1000, "1,000"),
        ("example.com/gpu", 4, "4"),
    ],
)
def test_amounts_are_told_as_people_say_them(resource: str, number: int, text: str) -> None:
    assert amount_text(resource, number) == text


def test_amounts_beside_one_another_look_as_different_as_they_are() -> None:
    engine = make_engine(make_node("a", allocatable={"memory": "4Gi", "pods": 110}))
    (cause,) = causes_of(engine, make_pod("p", requests={"memory": str((4 << 30) + 1)}))
    assert cause.sentence == (
        "The pod asks for 4,294,967,297 memory; the largest node (a) has 4,294,967,296."
    )


def test_values_are_counted_together_where_they_are_equally_many() -> None:
    assert counted_values([("a", 100), ("b", 100)]) == "a, b, 100 each"
    assert counted_values([("a", 100), ("b", 1)]) == "a on 100 nodes, b on 1"
    assert counted_values([("a", 2)]) == "a on 2 nodes"
    assert counted_values([(f"n{n}", 1) for n in range(9)]) == "9 values, such as n0, n1, n2"


def test_a_sentence_has_a_capital_and_one_full_stop() -> None:
    assert sentence(["", "one node", "it is full."]) == "One node; it is full."
    assert join_words(["a", "b", "c"], "or") == "a, b or c"


def test_members_of_a_gang_that_does_not_fit_are_told_what_the_gang_lacks() -> None:
    group = make_group("crew", min_count=2)
    members = tuple(
        make_pod(name, requests={"cpu": "3"}, schedulingGroup={"podGroupName": "crew"})
        for name in ("first", "second")
    )
    simulation = Simulation(
        Scenario((make_node("a"),), (), members, (group,)),
        load_configuration(None, gates=FeatureGates(GANGS)),
        in_tree_registry(),
        gates=FeatureGates(GANGS),
        watch=["default/first", "default/second"],
    )
    report = simulation.run()
    first, second = (
        ExplainedPod.of(report, key, runs_on="", alone=False).causes[0]
        for key in ("default/first", "default/second")
    )
    assert first.code == "pod-group-unschedulable"
    assert second.sentence == (
        "The pod asks for 3 cpu; the best candidate (a) lacks 2 cpu (1 of 4 free)."
        " Members of PodGroup default/crew tried before it count as placed."
    )
    assert {result.causes[0].key for result in report.pods} == {first.key}


class OnlyThere(PreFilterPlugin):
    name = "OnlyThere"

    def pre_filter(self, cycle: Cycle) -> frozenset[str]:
        return frozenset((cycle.pod.pod.metadata.name,))


def test_nodes_that_a_plugin_of_a_user_chose_narrow_the_choice() -> None:
    cluster = FakeCluster(
        make_node("small", allocatable={"cpu": "1", "pods": 110}),
        *(make_node(f"n{n}") for n in range(9)),
        plugins=[OnlyThere],
    )
    chosen, nowhere = (
        causes_of(cluster.engine, make_pod(name, requests={"cpu": "2"}))[0]
        for name in ("small", "nowhere")
    )
    assert chosen.sentence == (
        "1 node (small) is chosen by OnlyThere; the pod asks for 2 cpu;"
        " the largest of them (small) has 1, the largest of all (n0) 4."
    )
    assert nowhere.sentence == (
        "Plugin OnlyThere chose nowhere for the pod, and there is no such node."
    )
