"""SySched: pods beside pods that may call the same system calls."""

from typing import Any

import msgspec
import pytest

from podium.addons.collection.sysched import (
    ANNOTATION,
    SyscallProfile,
    SySched,
    references_of,
)
from podium.kubernetes.kinds.pod import Pod
from podium.testing import (
    FakeCluster,
    assert_promises,
    assert_scores,
    make_node,
    make_pod,
)


def profile(name: str, *calls: str, namespace: str = "default", **more: Any) -> SyscallProfile:
    rules = [{"action": "SCMP_ACT_ALLOW", "names": list(calls)}]
    rules += [{"action": action, "names": names} for action, names in more.items()]
    raw = {"metadata": {"name": name, "namespace": namespace}, "spec": {"syscalls": rules}}
    return msgspec.convert(raw, SyscallProfile)


def local(name: str) -> dict[str, Any]:
    path = f"operator/default/{name}.json"
    return {"seccompProfile": {"type": "Localhost", "localhostProfile": path}}


def pod(name: str, of: str = "", **given: Any) -> Pod:
    context: dict[str, Any] = {"securityContext": local(of)} if of else {}
    return make_pod(name, **context, **given)


PROFILES = (
    profile("all-syscalls", "a", "b", "c", "d"),
    profile("ab", "a", "b"),
    profile("a", "a", SCMP_ACT_ERRNO=["z"]),
    profile("bc", "b", SCMP_ACT_LOG=["c"]),
)


def test_nodes_are_rated_by_what_pods_can_reach_beyond_their_own() -> None:
    cluster = FakeCluster(
        *PROFILES,
        *(make_node(name) for name in ("empty", "mixed", "open")),
        pod("one", "ab", node="mixed"),
        pod("two", "a", node="mixed"),
        pod("any", node="open"),
        plugins=[SySched],
    )
    decision = cluster.schedule(pod("p", "bc"))
    # mixed: |ab - bc| = 1 and 2 x |abc| - 3 = 3; open: |abcd - bc| = 2 and 4 - 4 = 0
    assert_scores(decision, "SySched", {"empty": 100, "mixed": 0, "open": 50})


def test_pods_that_may_call_nothing_fit_everywhere_alike() -> None:
    cluster = FakeCluster(make_node("a"), make_node("b"), pod("x", node="a"), plugins=[SySched])
    assert_scores(cluster.schedule(pod("p")), "SySched", {"a": 100, "b": 100})


def test_another_profile_by_default() -> None:
    args = {"defaultProfileNamespace": "strict", "defaultProfileName": "base"}
    cluster = FakeCluster(
        *PROFILES,
        profile("base", "a", namespace="strict"),
        *(make_node(name) for name in ("narrow", "wide")),
        pod("one", node="narrow"),
        pod("two", "ab", node="wide"),
        plugins=[SySched],
        args={"SySched": args},
    )
    assert_scores(cluster.schedule(pod("p")), "SySched", {"narrow": 100, "wide": 0})


def test_a_profile_that_changes_counts_at_once() -> None:
    cluster = FakeCluster(
        *PROFILES,
        *(make_node(name) for name in ("one", "two")),
        pod("x", "ab", node="one"),
        pod("y", "bc", node="two"),
        plugins=[SySched],
    )
    assert_scores(cluster.schedule(pod("p", "ab")), "SySched", {"one": 100, "two": 0})
    cluster.delete("p")
    cluster.put(profile("bc", "a", "b"), profile("ab", "a", "c"))
    assert_scores(cluster.schedule(pod("q", "ab")), "SySched", {"one": 100, "two": 0})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"securityContext": local("x")}, [("default", "x")]),
        ({"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}}, []),
        (
            {
                "containers": [
                    {"name": "c", "image": "i", "securityContext": local("y.profile")},
                    {"name": "d", "image": "i", "securityContext": {"privileged": True}},
                ]
            },
            [("default", "y.profile")],
        ),
        (
            {
                "metadata": {
                    "annotations": {"seccomp.security.alpha.kubernetes.io": "localhost/ns/z"}
                }
            },
            [("ns", "z")],
        ),
        ({"metadata": {"annotations": {f"{ANNOTATION}/pod": "z"}}}, []),
    ],
)
def test_pods_name_profiles_by_their_paths(
    given: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert list(references_of(make_pod("p", **given))) == expected


def test_it_keeps_its_promises() -> None:
    nodes = [make_node("n"), make_node("m")]
    pods = [pod("x", "ab", node="n"), pod("y", "bc", node="m"), pod("p", "a"), pod("q", "bc")]
    assert_promises(SySched, nodes=nodes, pods=pods, objects=PROFILES)
