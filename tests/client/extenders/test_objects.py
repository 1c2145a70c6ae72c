"""Typed objects as JSON of the API."""

import json
from typing import Any

import msgspec
import pytest

from podium.client.extenders.objects import TypedObjects, object_json
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.typed_objects import decode_as
from podium.testing import make_node, make_pod


def written(thing: Pod | Node) -> Any:
    return json.loads(object_json(thing))


def test_an_empty_pod_has_the_members_that_are_always_there() -> None:
    assert written(Pod()) == {
        "metadata": {},
        "spec": {"containers": None, "schedulerName": "default-scheduler"},
        "status": {},
    }


def test_an_empty_node_has_the_members_that_are_always_there() -> None:
    node = written(Node())
    assert sorted(node) == ["metadata", "spec", "status"]
    assert node["spec"] == {}
    assert node["status"]["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 0}}
    assert set(node["status"]["nodeInfo"].values()) == {""}


def test_empty_fields_are_left_out_and_members_without_omitempty_are_not() -> None:
    pod = make_pod(
        "web-0",
        labels={"app": "web"},
        containers=[{"name": "main", "image": "app:v1", "ports": [{"hostPort": 80}]}],
        tolerations=[{"operator": "Exists"}],
        affinity={
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "zone"}
                ]
            }
        },
        status={"conditions": [{"type": "PodScheduled", "status": "False"}]},
    )
    spec = written(pod)["spec"]
    assert spec["containers"] == [
        {
            "name": "main",
            "image": "app:v1",
            "resources": {},
            "ports": [{"hostPort": 80, "containerPort": 0}],
        }
    ]
    assert spec["tolerations"] == [{"operator": "Exists"}]
    assert "nodeName" not in spec
    (condition,) = written(pod)["status"]["conditions"]
    assert condition == {
        "type": "PodScheduled",
        "status": "False",
        "lastProbeTime": None,
        "lastTransitionTime": None,
    }


def test_quantities_are_spelled_canonically_and_labels_are_not_touched() -> None:
    pod = make_pod(
        "p", labels={"size": "1000m"}, requests={"cpu": "1000m", "memory": "1024Mi", "x.y/z": 1}
    )
    assert written(pod)["metadata"]["labels"] == {"size": "1000m"}
    resources = written(pod)["spec"]["containers"][0]["resources"]
    assert resources == {"requests": {"cpu": "1", "memory": "1Gi", "x.y/z": "1"}}


@pytest.mark.parametrize(
    "thing",
    [
        make_pod("p", labels={"a": "b"}, requests={"cpu": "1"}, priority=5, hostNetwork=True),
        make_node("n", labels={"a": "b"}, taints=[("k", "v", "NoSchedule")], images={"i:1": 7}),
    ],
)
def test_what_is_written_reads_back(thing: Pod | Node) -> None:
    back = decode_as(object_json(thing), type(thing))
    assert object_json(back) == object_json(thing)
    assert back.metadata.name == thing.metadata.name


def test_objects_are_written_again_only_when_they_change() -> None:
    nodes = {"n1": make_node("n1")}
    objects = TypedObjects(nodes.__getitem__)
    first = objects.node("n1")
    assert objects.node("n1") is first
    nodes["n1"] = make_node("n1", labels={"new": "yes"})
    assert json.loads(objects.node("n1"))["metadata"]["labels"] == {"new": "yes"}
    del nodes["n1"]
    with pytest.raises(KeyError):
        objects.node("n1")


def no_node(name: str) -> Node:
    raise KeyError(name)


def test_pods_are_remembered_by_identity() -> None:
    objects = TypedObjects(no_node)
    pod = make_pod("p")
    assert objects.pod(pod) is objects.pod(pod)
    changed = msgspec.structs.replace(pod, status=msgspec.structs.replace(pod.status, phase="X"))
    assert b'"phase":"X"' in objects.pod(changed)


def test_the_memory_of_pods_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podium.client.extenders.objects._REMEMBERED_PODS", 2)
    objects = TypedObjects(no_node)
    pods = [make_pod(f"p{number}") for number in range(5)]
    assert [json.loads(objects.pod(pod))["metadata"]["name"] for pod in pods] == [
        f"p{number}" for number in range(5)
    ]
