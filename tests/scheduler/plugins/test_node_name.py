"""NodeName: pods that name their node."""

from hypothesis import given
from hypothesis import strategies as st

from podium.scheduler.framework.events import Action, Resource
from podium.scheduler.framework.status import unresolvable
from podium.scheduler.plugins.node_name import NodeName
from podium.testing import filter_answers, make_cluster, make_handle, make_node, make_pod

OTHER = unresolvable("node(s) didn't match the requested node name")

PLUGIN = NodeName(None, make_handle())
NAMES = ("a", "b", "c", "d")


@given(wanted=st.sampled_from(("", "unknown", *NAMES)), gone=st.sets(st.sampled_from(NAMES)))
def test_a_pod_fits_only_the_node_it_names(wanted: str, gone: set[str]) -> None:
    cluster = make_cluster(map(make_node, NAMES))
    for name in gone:
        cluster.remove_node(name)
    assert filter_answers(PLUGIN, make_pod("p", node=wanted), cluster) == {
        name: None if wanted in ("", name) else OTHER for name in NAMES if name not in gone
    }


def test_any_new_node_requeues() -> None:
    (registration,) = PLUGIN.events()
    assert registration == (Resource.NODE, Action.ADD, None)
