"""Nominated pods and shadows: kept beside the cluster, always what making them anew would give."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.growth import MAX_LOGGED
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.cluster.usage import Shadow, Usage
from podium.testing import make_node, make_pod

NODES = ["a", "b", "c", "d"]
PORT: dict[str, Any] = {
    "containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}]}]
}


def pending(cluster: Cluster, name: str, priority: int = 5, **spec: Any) -> PodInfo:
    return cluster.infos.of(make_pod(name, priority=priority, **spec))


def cluster_of(*names: str) -> Cluster:
    cluster = Cluster(ALL_REQUESTS)
    for name in names:
        cluster.put_node(make_node(name))
    return cluster


def view(cluster: Cluster, usage: Usage) -> list[Any]:
    """All that plugins can read of a usage, row by row."""
    usage.grow()
    return [
        (
            usage.requested[:, row].tolist(),
            usage.nonzero[:, row].tolist(),
            int(usage.pod_count[row]),
            usage.ports.used_ports(row),
            sorted(pod.uid for pod in usage.pods(row)),
        )
        for row in range(cluster.nodes.size)
    ]


def test_rivals_are_other_pods_of_the_same_or_higher_priority() -> None:
    cluster = cluster_of("a", "b", "c")
    weak, equal = pending(cluster, "w", 1), pending(cluster, "e", 5)
    strong, own = pending(cluster, "s", 9), pending(cluster, "own", 5)
    places = ((weak, "a"), (equal, "a"), (strong, "b"), (own, "b"), (weak, "c"))
    for info, node in places:
        cluster.nominator.nominate(info, node)
    row = cluster.nodes.row
    assert cluster.nominated_pods.met_by(own).by_row == {row("a"): (equal,), row("b"): (strong,)}
    assert cluster.nominated_pods.met_by(own).rows.tolist() == sorted([row("a"), row("b")])


def test_a_node_where_only_the_pod_itself_is_nominated_is_not_crowded() -> None:
    cluster = cluster_of("a")
    own = pending(cluster, "own")
    cluster.nominator.nominate(own, "a")
    assert not cluster.nominated_pods.met_by(own)
    assert cluster.nominated_pods.met_by(pending(cluster, "other"))


def test_a_shadow_follows_its_original() -> None:
    cluster = cluster_of("a", "b")
    shadow = Shadow(cluster.usage)
    cluster.add_pod(make_pod("p", node="b", requests={"cpu": "2"}, **PORT))
    assert shadow.follow() == {cluster.nodes.row("b")}
    assert view(cluster, shadow.usage) == view(cluster, cluster.usage)
    assert shadow.follow() == set()


def test_a_shadow_that_was_left_behind_too_long_is_made_anew() -> None:
    cluster = cluster_of("a")
    shadow = Shadow(cluster.usage)
    for _ in range(2 * MAX_LOGGED + 1):
        cluster.usage.log.note(0)
    cluster.add_pod(make_pod("p", node="a", requests={"cpu": "2"}))
    assert shadow.follow() is None
    assert view(cluster, shadow.usage) == view(cluster, cluster.usage)


steps = st.lists(
    st.one_of(
        st.tuples(st.just("nominate"), st.integers(0, 5), st.sampled_from([*NODES, "gone"])),
        st.tuples(st.just("drop"), st.integers(0, 5), st.none()),
        st.tuples(st.just("pod"), st.integers(0, 5), st.sampled_from(NODES)),
        st.tuples(st.just("leave"), st.integers(0, 5), st.none()),
        st.tuples(st.just("node"), st.sampled_from(NODES), st.sampled_from(["1", "4"])),
        st.tuples(st.just("remove"), st.sampled_from(NODES), st.none()),
    ),
    max_size=30,
)


def apply(cluster: Cluster, step: tuple[Any, Any, Any]) -> None:
    what, subject, where = step
    match what:
        case "nominate":
            spec = PORT if subject % 2 else {}
            info = pending(cluster, f"n{subject}", subject % 3, requests={"cpu": "1"}, **spec)
            cluster.nominator.nominate(info, where)
        case "drop":
            cluster.nominator.drop(pending(cluster, f"n{subject}").uid)
        case "pod":
            if f"default/p{subject}" not in {h.info.key for h in cluster.placements.values()}:
                cluster.add_pod(make_pod(f"p{subject}", node=where, requests={"memory": "1Gi"}))
        case "leave":
            held = [u for u, h in cluster.placements.items() if h.info.key == f"default/p{subject}"]
            for uid in held:
                cluster.remove_pod(uid)
        case "node":
            cluster.put_node(make_node(subject, allocatable={"cpu": where}))
        case "remove":
            cluster.remove_node(subject)


def met_afresh(cluster: Cluster, info: PodInfo) -> dict[int, tuple[PodInfo, ...]]:
    found: dict[int, tuple[PodInfo, ...]] = {}
    for name in cluster.nominator.node_names():
        pods = cluster.nominator.on_node(name)
        strong = tuple(p for p in pods if p.priority >= info.priority and p.uid != info.uid)
        if strong and cluster.nodes.is_present(name):
            found[cluster.nodes.row(name)] = strong
    return found


@settings(max_examples=150, deadline=None)
@given(steps)
def test_crowds_kept_by_changes_equal_crowds_made_anew(steps: list[tuple[Any, Any, Any]]) -> None:
    cluster = cluster_of(*NODES[:2])
    for number, step in enumerate(steps):
        apply(cluster, step)
        info = pending(cluster, f"n{number % 6}", number % 3)
        nominated = cluster.nominated_pods.met_by(info).by_row
        assert nominated == met_afresh(cluster, info)
        if not nominated:
            continue
        imagined = cluster.usage.fork()
        for row, pods in nominated.items():
            for pod in pods:
                imagined.add(row, pod)
        assert view(cluster, cluster.nominated_pods.usage_met_by(info)) == view(cluster, imagined)
