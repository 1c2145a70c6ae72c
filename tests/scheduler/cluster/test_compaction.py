"""Compaction: pods share their parts, and nobody can tell."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.typed_objects import decode_as
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.pod_info import PodInfos, Values
from podium.testing import make_pod

READY = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
LATER = {**READY, "lastTransitionTime": "2026-01-02T00:00:00Z"}
RUNNING = [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]

pods = st.fixed_dictionaries(
    {
        "labels": st.sampled_from([{"app": "a"}, {"app": "b"}]),
        "node": st.sampled_from(["", "n1", "n2"]),
        "requests": st.sampled_from([{"cpu": "1"}, {"cpu": "1", "memory": "1Gi"}]),
        "priority": st.sampled_from([0, 5]),
        "annotations": st.sampled_from([None, {"k": "v"}, {"k": "w"}]),
        "tolerations": st.sampled_from([[], [{"operator": "Exists"}]]),
        "volumes": st.sampled_from([[], [{"name": "v", "secret": {}}], [{"name": "w"}]]),
        "status": st.fixed_dictionaries(
            {
                "phase": st.sampled_from(["Pending", "Running"]),
                "conditions": st.sampled_from([[], [READY], [LATER], [READY, LATER]]),
                "containerStatuses": st.sampled_from([[], RUNNING]),
            }
        ),
    }
)


def read(name: str, given: dict[str, Any]) -> Pod:
    """A pod that shares nothing with others yet."""
    return decode_as(msgspec.json.encode(make_pod(name, **given)), Pod)


@given(st.lists(pods, min_size=1, max_size=8))
def test_a_compacted_pod_equals_the_one_that_was_read(listed: list[dict[str, Any]]) -> None:
    infos = PodInfos(ALL_REQUESTS)
    for number, fields in enumerate(listed):
        pod = read(f"p{number}", fields)
        assert infos.of(pod).pod == pod


def test_pods_of_a_template_share_what_they_have_in_common() -> None:
    infos = PodInfos(ALL_REQUESTS)
    first, second = (
        infos.of(read(name, {"labels": {"app": "a"}, "node": node, "status": {"phase": "Running"}}))
        for name, node in (("p", "n1"), ("q", "n2"))
    )
    assert first.pod.spec.containers is second.pod.spec.containers
    assert first.pod.metadata.labels is second.pod.metadata.labels
    assert (first.pod.spec.node_name, second.pod.spec.node_name) == ("n1", "n2")


def test_pods_that_differ_in_times_alone_have_one_shape() -> None:
    infos = PodInfos(ALL_REQUESTS)
    shapes = {
        infos.of(read("p", {"status": {"conditions": [c], "containerStatuses": RUNNING}})).shape
        for c in (READY, LATER)
    }
    assert len(shapes) == 1


def test_a_resize_that_can_never_be_has_a_shape_of_its_own() -> None:
    infos = PodInfos(ALL_REQUESTS)
    refused = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
    shapes = {
        infos.of(read("p", {"status": {"conditions": c, "containerStatuses": RUNNING}})).shape
        for c in ([], [refused])
    }
    assert len(shapes) == 2


def test_values_are_forgotten_when_they_become_too_many() -> None:
    values = Values(most=2)
    first = values.one("a" * 3)
    assert values.one("a" * 3) is first
    for text in ("b", "c", "d"):
        values.one(text)
    assert values.one("".join(["a", "aa"])) == first
