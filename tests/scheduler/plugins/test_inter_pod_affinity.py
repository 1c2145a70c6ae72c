"""InterPodAffinity at its extension points: errors, missing states, events."""

from typing import Any

import pytest
from support.scheduler.plugins.affinity_clusters import preferred, required, term

from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import InterPodAffinityArgs
from podium.scheduler.framework.cycle import StateMissing
from podium.scheduler.framework.events import Action, Hint, Resource
from podium.scheduler.framework.status import Code, Status
from podium.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from podium.testing import cycle_for, make_cluster, make_handle, make_node, make_pod, present_rows

BROKEN = {"topologyKey": "host", "labelSelector": {"matchLabels": {"app": "not a label"}}}


def plugin_for(cluster: Cluster) -> InterPodAffinity:
    return InterPodAffinity(InterPodAffinityArgs(), make_handle(cluster))


def test_terms_that_cannot_be_parsed_reject_the_pod_for_good() -> None:
    cluster = make_cluster([make_node("n1")])
    plugin = plugin_for(cluster)
    cycle = cycle_for(make_pod("p", affinity=required("podAffinity", BROKEN)), cluster)
    rejected = plugin.pre_filter(cycle)
    assert isinstance(rejected, Status)
    assert rejected.code is Code.UNRESOLVABLE
    assert rejected.message.startswith("parsing pod: requiredAffinityTerms: ")
    failed = plugin.pre_score(cycle, present_rows(cluster))
    assert failed is not None
    assert failed.code is Code.ERROR
    assert failed.message.startswith("failed to parse pod: requiredAffinityTerms: ")


def test_points_that_miss_their_earlier_point_say_so() -> None:
    cluster = make_cluster([make_node("n1")])
    plugin, cycle = plugin_for(cluster), cycle_for(make_pod("p"), cluster)
    with pytest.raises(StateMissing) as filtering:
        plugin.filter(cycle, present_rows(cluster))
    assert str(filtering.value) == (
        'error reading "PreFilterInterPodAffinity" from cycleState: not found'
    )
    with pytest.raises(StateMissing) as scoring:
        plugin.score(cycle, present_rows(cluster))
    assert str(scoring.value) == (
        'failed to read "PreScoreInterPodAffinity" from cycleState: not found'
    )


# events


def hint_for(resource: Resource) -> Hint:
    (registration,) = [
        r for r in plugin_for(Cluster(ALL_REQUESTS)).events() if r.resource is resource
    ]
    assert registration.hint is not None
    return registration.hint


POD_HINT, NODE_HINT = hint_for(Resource.POD), hint_for(Resource.NODE)


def waiting_for(affinity: dict[str, Any] | None = None) -> PodInfo:
    return Cluster(ALL_REQUESTS).infos.of(
        make_pod("waiting", labels={"app": "w"}, affinity=affinity)
    )


def placed(app: str, **fields: Any) -> Any:
    return make_pod("other", labels={"app": app}, node="n1", **fields)


def test_it_registers_the_events_that_can_change_counts_or_domains() -> None:
    pods, nodes = plugin_for(Cluster(ALL_REQUESTS)).events()
    assert pods[:2] == (Resource.POD, Action.ADD | Action.UPDATE_POD_LABEL | Action.DELETE)
    assert nodes[:2] == (Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)


def test_new_labels_of_the_pod_itself_matter() -> None:
    waiting = waiting_for(required("podAffinity", term("a")))
    assert POD_HINT(waiting, waiting.pod, make_pod("waiting", labels={"app": "other"}))


def test_a_pod_that_comes_matters_if_all_affinity_terms_mean_it() -> None:
    waiting = waiting_for(required("podAffinity", term("a"), term(None)))
    assert POD_HINT(waiting, None, placed("a"))
    assert not POD_HINT(waiting, None, placed("b"))
    assert not POD_HINT(waiting, None, make_pod("unplaced", labels={"app": "a"}))
    nominated = make_pod("o", labels={"app": "a"}, status={"nominatedNodeName": "n1"})
    assert POD_HINT(waiting, None, nominated)
    assert not POD_HINT(waiting_for(), None, placed("a"))


def test_a_label_change_matters_if_affinity_starts_or_anti_affinity_stops_to_match() -> None:
    near = waiting_for(required("podAffinity", term("a")))
    far = waiting_for(required("podAntiAffinity", term("a")))
    assert POD_HINT(near, placed("b"), placed("a"))
    assert not POD_HINT(near, placed("a"), placed("b"))
    assert POD_HINT(far, placed("a"), placed("b"))
    assert not POD_HINT(far, placed("b"), placed("a"))


def test_a_deleted_pod_matters_if_it_matched_all_anti_affinity_terms() -> None:
    """Quirk Q8: one of two is not enough."""
    one = waiting_for(required("podAntiAffinity", term("a")))
    two = waiting_for(required("podAntiAffinity", term("a"), term("b")))
    assert POD_HINT(one, placed("a"), None)
    assert not POD_HINT(two, placed("a"), None)


def test_a_deleted_pod_matters_if_its_own_anti_affinity_meant_the_waiting_pod() -> None:
    hostile = placed("a", affinity=required("podAntiAffinity", term("w")))
    indifferent = placed("a", affinity=required("podAntiAffinity", term("x")))
    assert POD_HINT(waiting_for(), hostile, None)
    assert not POD_HINT(waiting_for(), indifferent, None)
    assert not POD_HINT(waiting_for(), placed("a"), None)


def test_hints_do_not_resolve_namespace_selectors() -> None:
    """Quirk Q8."""
    team = {"matchLabels": {"team": "x"}}
    waiting = waiting_for(required("podAntiAffinity", term("a", namespaceSelector=team)))
    assert not POD_HINT(waiting, placed("a"), None)
    anywhere = waiting_for(required("podAntiAffinity", term("a", namespaceSelector={})))
    assert POD_HINT(anywhere, placed("a", namespace="other"), None)


def test_a_node_matters_to_affinity_if_it_gains_the_key_or_moves() -> None:
    waiting = waiting_for(required("podAffinity", term("a", key="zone")))
    here, there = make_node("n", labels={"zone": "a"}), make_node("n", labels={"zone": "b"})
    bare = make_node("n")
    assert NODE_HINT(waiting, None, here)
    assert NODE_HINT(waiting, bare, here)
    assert NODE_HINT(waiting, here, there)
    assert not NODE_HINT(waiting, None, bare)
    assert not NODE_HINT(waiting, here, bare)
    assert not NODE_HINT(waiting, here, make_node("n", labels={"zone": "a", "x": "y"}))


def test_a_node_matters_to_anti_affinity_if_it_is_new_or_leaves_its_domain() -> None:
    waiting = waiting_for(required("podAntiAffinity", term("a", key="zone")))
    here, there = make_node("n", labels={"zone": "a"}), make_node("n", labels={"zone": "b"})
    bare = make_node("n")
    assert NODE_HINT(waiting, None, bare)
    assert NODE_HINT(waiting, here, bare)
    assert NODE_HINT(waiting, here, there)
    assert not NODE_HINT(waiting, bare, here)
    assert not NODE_HINT(waiting, here, here)


def test_a_pod_that_others_keep_off_does_not_wait_for_nodes() -> None:
    assert not NODE_HINT(waiting_for(), None, make_node("n", labels={"zone": "a"}))


def test_required_terms_that_cannot_be_parsed_let_every_event_through() -> None:
    broken = waiting_for(required("podAntiAffinity", BROKEN))
    assert NODE_HINT(broken, make_node("n"), make_node("n"))
    assert POD_HINT(broken, None, placed("a"))
    only_preferred = waiting_for(preferred("podAntiAffinity", (1, BROKEN)))
    assert not POD_HINT(only_preferred, None, placed("a"))
    hostile_but_broken = placed("a", affinity=required("podAntiAffinity", BROKEN))
    assert POD_HINT(waiting_for(), hostile_but_broken, None)
