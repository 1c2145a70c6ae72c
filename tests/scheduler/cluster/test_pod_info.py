"""What is derived from a pod, and which pods share it."""

import math

import msgspec
from msgspec.structs import replace

from podium.kubernetes.kinds.pod import PodSpec
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.pod_info import PodInfos, uid_of
from podium.testing import make_pod

OWN = {"name": "other", "uid": "u2", "creationTimestamp": "2026-01-01T00:00:00Z"}


def test_pods_of_one_template_share_a_shape() -> None:
    infos = PodInfos(ALL_REQUESTS)
    first = infos.of(make_pod("p", labels={"app": "a"}, requests={"cpu": "1"}, priority=5))
    second = infos.of(
        make_pod("q", labels={"app": "a"}, requests={"cpu": "1"}, node="n", metadata=OWN)
    )
    assert first.shape is second.shape
    assert (first.key, second.key) == ("default/p", "default/other")
    assert (first.priority, second.priority) == (5, 0)


def test_what_scheduling_derives_from_the_template_tells_shapes_apart() -> None:
    infos = PodInfos(ALL_REQUESTS)
    base = infos.of(make_pod("p"))
    claim = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
    others = (
        make_pod("p", namespace="other"),
        make_pod("p", labels={"app": "a"}),
        make_pod("p", requests={"cpu": "1"}),
        make_pod("p", overhead={"cpu": "1"}),
        make_pod("p", resources={"requests": {"cpu": "1"}}),
        make_pod("p", initContainers=[{"name": "i"}]),
        make_pod("p", nodeSelector={"a": "b"}),
        make_pod("p", volumes=[claim]),
        make_pod("p", affinity={"nodeAffinity": {}}),
    )
    shapes = {id(infos.of(pod).shape) for pod in others}
    assert len(shapes) == len(others)
    assert id(base.shape) not in shapes


def test_a_resize_in_progress_has_a_shape_of_its_own() -> None:
    infos = PodInfos(ALL_REQUESTS)
    plain = infos.of(make_pod("p", requests={"cpu": "1"}))
    resized = infos.of(
        make_pod(
            "p",
            requests={"cpu": "1"},
            status={
                "containerStatuses": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]
            },
        )
    )
    assert plain.shape is not resized.shape
    assert plain.shape.accounted == {"cpu": 1000}
    assert resized.shape.accounted == {"cpu": 3000}
    assert resized.shape.requests == {"cpu": 1000}


def test_claims_are_named_with_their_namespace() -> None:
    volumes = [
        {"name": "a", "persistentVolumeClaim": {"claimName": "x"}},
        {"name": "b", "emptyDir": {}},
        {"name": "c", "persistentVolumeClaim": {"claimName": "y"}},
    ]
    shape = PodInfos(ALL_REQUESTS).of(make_pod("p", namespace="team", volumes=volumes)).shape
    assert shape.claim_names == ("team/x", "team/y")


def test_a_pod_without_uid_is_told_apart_by_its_key() -> None:
    pod = make_pod("p", metadata={"uid": ""})
    assert uid_of(pod) == "default/p"
    info = PodInfos(ALL_REQUESTS).of(pod)
    assert info.is_about(pod)
    assert not info.is_about(make_pod("p"))


def test_a_pod_that_has_not_started_starts_after_all_that_have() -> None:
    infos = PodInfos(ALL_REQUESTS)
    early = infos.of(make_pod("p", status={"startTime": "2026-01-01T00:00:00Z"}))
    later = infos.of(make_pod("q", status={"startTime": "2026-01-01T00:00:01Z"}))
    never = infos.of(make_pod("r"))
    assert later.start_time - early.start_time == 1
    assert never.start_time == math.inf


def test_a_deletion_time_makes_a_pod_terminating() -> None:
    infos = PodInfos(ALL_REQUESTS)
    assert infos.of(
        make_pod("p", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    ).terminating
    assert not infos.of(make_pod("p")).terminating


def test_a_pod_that_was_only_bound_keeps_its_shape() -> None:
    infos = PodInfos(ALL_REQUESTS)
    before = infos.of(make_pod("p", requests={"cpu": "1"}))
    bound = replace(before.pod, spec=replace(before.pod.spec, node_name="n"))
    assert infos.of(bound, before).shape is before.shape
    assert infos.of(bound, before).pod is bound


def test_whatever_else_changed_a_pod_has_the_shape_that_it_would_have_alone() -> None:
    infos = PodInfos(ALL_REQUESTS)
    before = infos.of(make_pod("p", requests={"cpu": "1"}))
    written = {
        "containers": [{"name": "c", "image": "other"}],
        "initContainers": [{"name": "i", "image": "i"}],
        "overhead": {"cpu": "1"},
        "resources": {"requests": {"cpu": "3"}},
        "affinity": {"podAffinity": {}},
        "nodeSelector": {"a": "b"},
        "tolerations": [{"operator": "Exists"}],
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
        ],
        "schedulerName": "another",
        "hostNetwork": True,
        "hostUsers": False,
        "resourceClaims": [{"name": "c"}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
    }
    spec = before.pod.spec
    for changed in (msgspec.convert({name: value}, PodSpec) for name, value in written.items()):
        differing = {
            field: getattr(changed, field)
            for field in PodSpec.__struct_fields__
            if getattr(changed, field) != getattr(PodSpec(), field)
        }
        assert len(differing) == 1
        pod = replace(before.pod, spec=replace(spec, **differing))
        assert infos.of(pod, before).shape is infos.of(pod).shape is not before.shape
    labelled = replace(before.pod, metadata=replace(before.pod.metadata, labels={"a": "b"}))
    assert infos.of(labelled, before).shape is infos.of(labelled).shape is not before.shape
