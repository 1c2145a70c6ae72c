"""PodTopologySpread at its extension points: which constraints hold, errors, events."""

from typing import Any

import msgspec
import pytest
from support.scheduler.plugins.spread_clusters import HOSTNAME, ZONE, example_cluster, spread

from podium.kubernetes.kinds.pod import TopologySpreadConstraint
from podium.kubernetes.kinds.workloads import Service
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import PodTopologySpreadArgs
from podium.scheduler.framework.cycle import StateMissing
from podium.scheduler.framework.events import Action, Hint, Resource
from podium.scheduler.framework.status import SKIP, error
from podium.scheduler.plugins.pod_topology_spread import PodTopologySpread
from podium.testing import (
    cycle_for,
    filter_answers,
    make_cluster,
    make_handle,
    make_node,
    make_pod,
    present_rows,
    score_answers,
)

A = {"app": "a"}


def plugin_for(cluster: Cluster, *defaults: dict[str, Any], **gates: bool) -> PodTopologySpread:
    """With default constraints: a plugin that was configured with a list."""
    args = PodTopologySpreadArgs()
    if defaults:
        args = PodTopologySpreadArgs(
            defaulting_type="List",
            default_constraints=tuple(
                msgspec.convert(default, TopologySpreadConstraint) for default in defaults
            ),
        )
    return PodTopologySpread(args, make_handle(cluster, **gates))


def put_service(cluster: Cluster) -> None:
    raw = {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": A}}
    cluster.catalog.put(msgspec.convert(raw, Service))


def passing(plugin: PodTopologySpread, cluster: Cluster, **pod: Any) -> set[str]:
    answers = filter_answers(plugin, make_pod("p", labels=A, **pod), cluster)
    return {name for name, status in answers.items() if status is None}


def test_a_pod_without_constraints_is_neither_filtered_nor_scored() -> None:
    cluster = example_cluster()
    plugin, cycle = plugin_for(cluster), cycle_for(make_pod("p", labels=A), cluster)
    assert plugin.pre_filter(cycle) is SKIP
    assert plugin.pre_score(cycle, present_rows(cluster)) is SKIP


def test_default_constraints_hold_for_pods_of_a_service() -> None:
    cluster = example_cluster()
    listed = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    plugin = plugin_for(cluster, listed)
    assert passing(plugin, cluster) == {"n1", "n2", "n3", "n4"}
    put_service(cluster)
    assert passing(plugin, cluster) == {"n3"}


def test_own_constraints_shut_out_defaults_of_another_action() -> None:
    cluster = example_cluster()
    put_service(cluster)
    listed = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    own = spread(whenUnsatisfiable="ScheduleAnyway")
    cycle = cycle_for(make_pod("p", labels=A, topologySpreadConstraints=[own]), cluster)
    assert plugin_for(cluster, listed).pre_filter(cycle) is SKIP


def test_listed_defaults_leave_out_nodes_without_a_key_unlike_system_defaults() -> None:
    cluster = example_cluster()
    put_service(cluster)
    pod = make_pod("p", labels=A)
    listed = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"}
    by_list = score_answers(plugin_for(cluster, listed), pod, cluster)
    by_system = score_answers(plugin_for(cluster), pod, cluster)
    assert by_list is not None
    assert by_system is not None
    assert by_list[1]["n4"] == 0
    assert by_system[1]["n4"] == 100


def test_match_label_keys_narrow_the_selector_to_the_pods_own_values() -> None:
    nodes = [make_node(name, labels={HOSTNAME: name}) for name in ("n1", "n2")]
    old = {"app": "a", "hash": "old"}
    cluster = make_cluster(nodes, [make_pod(f"p{i}", labels=old, node="n1") for i in range(3)])
    constraint = spread(topologyKey=HOSTNAME, matchLabelKeys=["hash", "absent"])
    pod = {"topologySpreadConstraints": [constraint], "metadata": {"labels": A | {"hash": "new"}}}
    assert passing(plugin_for(cluster), cluster, **pod) == {"n1", "n2"}
    gate = {"MatchLabelKeysInPodTopologySpread": False}
    without = {"MatchLabelKeysInPodTopologySpreadSelectorMerge": False}
    assert passing(plugin_for(cluster, **gate, **without), cluster, **pod) == {"n2"}


def test_tainted_nodes_count_unless_the_constraint_honours_taints() -> None:
    nodes = [
        make_node("n1", labels={HOSTNAME: "n1"}),
        make_node("n2", labels={HOSTNAME: "n2"}, taints=[("k", "", "NoSchedule")]),
    ]
    cluster = make_cluster(nodes, [make_pod("p1", labels=A, node="n1")])
    plugin = plugin_for(cluster)

    def with_policy(policy: str | None) -> set[str]:
        constraint = spread(topologyKey=HOSTNAME, nodeTaintsPolicy=policy)
        return passing(plugin, cluster, topologySpreadConstraints=[constraint])

    assert with_policy(None) == {"n2"}
    assert with_policy("Honor") == {"n1", "n2"}


def test_a_selector_that_cannot_be_parsed_is_an_error_in_upstreams_words() -> None:
    cluster = example_cluster()
    broken = {"matchExpressions": [{"key": "app", "operator": "Near"}]}
    written = [
        spread(labelSelector=broken),
        spread(labelSelector=broken, whenUnsatisfiable="ScheduleAnyway"),
    ]
    plugin = plugin_for(cluster)
    cycle = cycle_for(make_pod("p", topologySpreadConstraints=written), cluster)
    problem = '"Near" is not a valid label selector operator'
    assert plugin.pre_filter(cycle) == error(
        f"get constraints from pod: obtaining pod's hard topology spread constraints: {problem}"
    )
    assert plugin.pre_score(cycle, present_rows(cluster)) == error(
        "calculating preScoreState: obtaining pod's soft topology spread constraints: " + problem
    )


def test_points_that_miss_their_earlier_point_say_so() -> None:
    cluster = example_cluster()
    plugin, cycle = plugin_for(cluster), cycle_for(make_pod("p"), cluster)
    with pytest.raises(StateMissing) as filtering:
        plugin.filter(cycle, present_rows(cluster))
    assert str(filtering.value) == (
        'reading "PreFilterPodTopologySpread" from cycleState: not found'
    )
    with pytest.raises(StateMissing) as scoring:
        plugin.score(cycle, present_rows(cluster))
    assert str(scoring.value) == (
        'error reading "PreScorePodTopologySpread" from cycleState: not found'
    )


def test_a_changed_label_of_a_node_is_seen_by_the_next_cycle() -> None:
    cluster = example_cluster()
    plugin = plugin_for(cluster)
    wanted = {"topologySpreadConstraints": [spread()]}
    assert passing(plugin, cluster, **wanted) == {"n3"}
    cluster.put_node(make_node("n4", labels={HOSTNAME: "n4", ZONE: "c"}))
    cluster.put_node(make_node("n5", labels={HOSTNAME: "n5", ZONE: "d"}))
    assert passing(plugin, cluster, **wanted) == {"n5"}
    cluster.remove_node("n5")
    assert passing(plugin, cluster, **wanted) == {"n3", "n4"}


# events


def hint_for(resource: Resource) -> Hint:
    plugin = plugin_for(Cluster(ALL_REQUESTS))
    (registration,) = [r for r in plugin.events() if r.resource is resource]
    assert registration.hint is not None
    return registration.hint


def waiting_pod(*written: dict[str, Any]) -> Any:
    return make_cluster().infos.of(
        make_pod("waiting", labels=A, topologySpreadConstraints=list(written))
    )


def test_it_registers_the_events_that_can_change_counts_or_domains() -> None:
    pods, nodes = plugin_for(Cluster(ALL_REQUESTS)).events()
    assert pods[:2] == (
        Resource.POD,
        Action.ADD | Action.UPDATE_POD_LABEL | Action.UPDATE_POD_TOLERATION | Action.DELETE,
    )
    assert nodes[:2] == (
        Resource.NODE,
        Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT,
    )


def test_a_placed_pod_that_comes_or_goes_matters_if_a_constraint_counts_it() -> None:
    hint, waiting = hint_for(Resource.POD), waiting_pod(spread())
    placed = make_pod("other", labels=A, node="n1")
    assert hint(waiting, None, placed)
    assert hint(waiting, placed, None)
    assert hint(waiting, None, make_pod("o", labels=A, status={"nominatedNodeName": "n1"}))
    assert not hint(waiting, None, make_pod("o", labels={"app": "b"}, node="n1"))
    assert not hint(waiting, None, make_pod("o", labels=A, node="n1", namespace="other"))
    assert not hint(waiting, None, make_pod("o", labels=A))


def test_a_label_change_matters_if_it_flips_a_match() -> None:
    hint, waiting = hint_for(Resource.POD), waiting_pod(spread())
    counted = make_pod("other", labels=A, node="n1")
    relabelled = make_pod("other", labels=A | {"x": "y"}, node="n1")
    uncounted = make_pod("other", labels={"app": "b"}, node="n1")
    assert hint(waiting, counted, uncounted)
    assert hint(waiting, uncounted, counted)
    assert not hint(waiting, counted, relabelled)
    assert not hint(waiting, make_pod("other", labels={"app": "b"}), counted)


def test_the_pods_own_tolerations_matter_if_a_constraint_honours_taints() -> None:
    hint = hint_for(Resource.POD)
    tolerant = make_pod("waiting", labels=A, tolerations=[{"operator": "Exists"}])
    honouring = waiting_pod(spread(nodeTaintsPolicy="Honor"))
    indifferent = waiting_pod(spread())
    assert hint(honouring, honouring.pod, tolerant)
    assert not hint(indifferent, indifferent.pod, tolerant)
    assert not hint(honouring, honouring.pod, honouring.pod)


def test_a_node_matters_if_it_has_all_the_keys_or_changes_in_that() -> None:
    hint = hint_for(Resource.NODE)
    waiting = waiting_pod(spread(), spread(topologyKey="rack"))
    full = make_node("n", labels={ZONE: "a", "rack": "1"})
    moved = make_node("n", labels={ZONE: "b", "rack": "1"})
    other = make_node("n", labels={ZONE: "a", "rack": "1", "disk": "ssd"})
    tainted = make_node("n", labels={ZONE: "a", "rack": "1"}, taints=[("k", "", "NoSchedule")])
    partial = make_node("n", labels={ZONE: "a"})
    assert hint(waiting, None, full)
    assert hint(waiting, full, None)
    assert hint(waiting, partial, full)
    assert hint(waiting, full, partial)
    assert hint(waiting, full, moved)
    assert hint(waiting, full, tainted)
    assert not hint(waiting, full, other)
    assert not hint(waiting, None, partial)
    assert not hint(waiting, partial, None)
    assert not hint(waiting, partial, make_node("n", labels={ZONE: "b"}))


def test_without_hard_constraints_any_new_node_matters_and_no_pod_does() -> None:
    waiting = waiting_pod(spread(whenUnsatisfiable="ScheduleAnyway"))
    assert hint_for(Resource.NODE)(waiting, None, make_node("n"))
    assert not hint_for(Resource.POD)(waiting, None, make_pod("o", labels=A, node="n1"))


def test_a_constraint_that_cannot_be_parsed_lets_every_event_through() -> None:
    broken = {"matchExpressions": [{"key": "app", "operator": "Near"}]}
    waiting = waiting_pod(spread(labelSelector=broken))
    assert hint_for(Resource.NODE)(waiting, None, make_node("n"))
    assert hint_for(Resource.POD)(waiting, None, make_pod("o", node="n1"))
