"""Pods lifted off their nodes: gone for everybody who counts, back as if nothing had been."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.rules.labels import selector_of_map
from podium.scheduler.cluster.pod_classes import PodQuery
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.cluster.trials import RemovedPods
from podium.testing import make_cluster, make_node, make_pod

APP = PodQuery(((None, selector_of_map({"app": "x"})),))


def pod(name: str, node: str, port: int = 0) -> Any:
    ports = [{"containerPort": port, "hostPort": port}] if port else []
    containers = [{"name": "main", "resources": {"requests": {"cpu": 1}}, "ports": ports}]
    return make_pod(name, node=node, labels={"app": "x"}, containers=containers)


def make() -> Cluster:
    return make_cluster(
        [make_node("a"), make_node("b")],
        [pod("p", "a", 80), pod("q", "a"), pod("r", "a", 81), pod("s", "b")],
    )


def looked_at(cluster: Cluster) -> object:
    """Everything that filters and scores could see, in a form that can be compared."""
    usage = cluster.usage
    return (
        usage.requested.tolist(),
        usage.nonzero.tolist(),
        usage.pod_count.tolist(),
        [[p.key for p in usage.pods(row)] for row in range(cluster.nodes.size)],
        [usage.ports.used_ports(row) for row in range(cluster.nodes.size)],
        dict(usage.claims),
        cluster.classes.counts(APP).tolist(),
        {uid: (held.row, held.assumed) for uid, held in cluster.placements.items()},
    )


def test_lifted_pods_take_no_room_and_match_no_selector() -> None:
    cluster = make()
    with RemovedPods(cluster) as lifted:
        lifted.take_off(cluster.placements["uid-default-p"].info)
        lifted.take_off(cluster.placements["uid-default-q"].info)
        assert [p.key for p in cluster.usage.pods(0)] == ["default/r"]
        assert cluster.usage.requested[0, 0] == 1000
        assert cluster.classes.counts(APP)[:2].tolist() == [1, 1]
        assert {p.port for p in cluster.usage.ports.used_ports(0)} == {81}
        assert "uid-default-p" in cluster.placements


def test_what_was_put_back_counts_again() -> None:
    cluster = make()
    info = cluster.placements["uid-default-p"].info
    with RemovedPods(cluster) as lifted:
        lifted.take_off(info)
        lifted.put_back(info)
        assert cluster.usage.requested[0, 0] == 3000


def test_a_port_that_two_pods_share_is_as_free_afterwards_as_it_was() -> None:
    cluster = make_cluster([make_node("a")], [pod("p", "a", 80), pod("q", "a", 80)])
    cluster.remove_pod("uid-default-p")
    assert cluster.usage.ports.used_ports(0) == set()
    with RemovedPods(cluster) as lifted:
        lifted.take_off(cluster.placements["uid-default-q"].info)
    assert cluster.usage.ports.used_ports(0) == set()


@given(
    st.lists(st.tuples(st.sampled_from(("off", "back")), st.sampled_from("pqrs")), max_size=12),
    st.booleans(),
)
def test_everything_is_as_it_was_in_the_end(steps: list[tuple[str, str]], breaks: bool) -> None:
    cluster = make()
    before = looked_at(cluster)
    off: set[str] = set()
    try:
        with RemovedPods(cluster) as lifted:
            for step, name in steps:
                info = cluster.placements[f"uid-default-{name}"].info
                if step == "off" and name not in off:
                    lifted.take_off(info)
                    off.add(name)
                elif step == "back" and name in off:
                    lifted.put_back(info)
                    off.remove(name)
            if breaks:
                raise RuntimeError
    except RuntimeError:
        pass
    assert looked_at(cluster) == before


@given(st.lists(st.sampled_from("pqrs"), unique=True))
def test_vectors_remembered_by_generation_see_every_step(names: list[str]) -> None:
    cluster = make()
    log = cluster.usage.log
    with RemovedPods(cluster) as lifted:
        for name in names:
            at = log.generation
            held = cluster.placements[f"uid-default-{name}"]
            lifted.take_off(held.info)
            assert log.since(at) == [held.row]
        at = log.generation
    rows = {cluster.placements[f"uid-default-{name}"].row for name in names}
    assert set(log.since(at) or ()) == rows
