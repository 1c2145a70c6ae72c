"""Traces of others: SimKube's and openb's, with their times and without."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from podium.commands import main
from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.simkube_trace import read_simkube_events
from podium.offline.simulate.timed_events import (
    NodePut,
    ObjectPut,
    ObjectRemoval,
    PodArrival,
    PodRemoval,
    TimedEvent,
)
from podium.offline.simulate.timed_imports import load_timed_imports

NODES = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "8", memory: 16Gi, pods: "110"}}
"""
NODE_LIST = "sn,cpu_milli,memory_mib,gpu,model\nn-0,64000,262144,2,P100\n"
POD_LIST = """name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,\
creation_time,deletion_time,scheduled_time
p-1,6000,1024,1,460,,100,400,150
p-0,1000,1024,0,0,,40,90,
p-2,1000,1024,0,0,,160,,160
"""
SPEC = {"containers": [{"name": "main", "image": "app"}]}


def pod(name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": SPEC}


def deployment(replicas: int, image: str = "app") -> dict[str, Any]:
    containers = [{"name": "main", "image": image}]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": containers},
            },
        },
    }


def event(ts: int, *applied: Any, deleted: tuple[Any, ...] = ()) -> dict[str, Any]:
    return {"ts": ts, "applied_objs": list(applied), "deleted_objs": list(deleted)}


def trace(*events: Any, lifecycles: Any = None, version: int = 2) -> bytes:
    body: dict[str, Any] = {
        "version": version,
        "config": {"trackedObjects": {}},
        "events": list(events),
        "index": {},
        "pod_lifecycles": lifecycles or {},
    }
    return msgspec.msgpack.encode(body)


def told(events: list[TimedEvent]) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for each in events:
        match each:
            case PodArrival():
                found.append((each.at, "+", each.pod.metadata.name, each.duration_s))
            case PodRemoval():
                found.append((each.at, "-", each.key))
    return found


def test_pods_of_a_trace_come_at_their_times_and_run_as_long_as_they_ran() -> None:
    lifecycles = {
        ("v1.Pod", "shop/a"): {7: [{"Finished": [1002, 1032]}]},
        ("v1.Pod", "shop/b"): {7: [{"Running": 1070}]},
    }
    data = trace(event(1000), event(1001, pod("a")), event(1060, pod("b")), lifecycles=lifecycles)
    events = read_simkube_events(data, "x.sktrace", gates=FeatureGates())
    assert told(events) == [(1.0, "+", "a", 30.0), (60.0, "+", "b", None)]


def test_a_workload_gets_and_loses_the_difference() -> None:
    lifecycles = {("apps/v1.Deployment", "shop/web"): {1: [{"Finished": [5, 15]}, "Empty"]}}
    data = trace(
        event(0, deployment(2)),
        event(10, deployment(3)),
        event(20, deployment(1)),
        event(30, deployment(1, "new")),
        event(40, deleted=(deployment(1, "new"),)),
        lifecycles=lifecycles,
    )
    events = read_simkube_events(data, "x.sktrace", gates=FeatureGates())
    assert told(events) == [
        *((0.0, "+", "web-0", 10.0), (0.0, "+", "web-1", None), (10.0, "+", "web-2", 10.0)),
        *((20.0, "-", "shop/web-1"), (20.0, "-", "shop/web-2")),
        *((30.0, "-", "shop/web-0"), (30.0, "+", "web-0", None), (40.0, "-", "shop/web-0")),
    ]
    assert {each.workload for each in events if isinstance(each, PodArrival)} == {
        "shop/deployment/web"
    }


def test_a_cron_job_has_its_pods_when_the_trace_has_them() -> None:
    template = {"spec": {"template": {"spec": SPEC}}}
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "tick", "namespace": "shop"},
        "spec": {"schedule": "* * * * *", "jobTemplate": template},
    }
    runs = [{"Finished": [160, 190]}, {"Finished": [220, 250]}]
    data = trace(event(100, cron), lifecycles={("batch/v1.CronJob", "shop/tick"): {3: runs}})
    assert told(read_simkube_events(data, "x", gates=FeatureGates())) == [
        (60.0, "+", "tick-0", 30.0),
        (120.0, "+", "tick-1", 30.0),
    ]


def test_nodes_and_other_objects_of_a_trace_come_and_go_too() -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "d"}}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "d"}}
    data = trace(event(0, node, service, secret), event(5, deleted=(service, secret)))
    events = read_simkube_events(data, "x", gates=FeatureGates())
    assert [type(each) for each in events] == [NodePut, ObjectPut, ObjectRemoval]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (trace(event(0, pod("a")), version=1), "version 1; SimKube 2"),
        (trace(event(0, pod("a")))[:-10], "cannot be read as a SimKube trace"),
        (trace(event(0)), "applies no objects"),
        (trace(event(9, pod("a")), event(3)), r"events\[1\]\.ts"),
        (trace(event(0, {**pod("a"), "spec": 5})), r"events\[0\]\.applied_objs\[0\]\.spec"),
    ],
)
def test_a_trace_that_is_wrong_is_told_with_its_name_and_place(data: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=rf"t\.sktrace.*{problem}"):
        read_simkube_events(data, "t.sktrace", gates=FeatureGates())


def test_openb_pods_come_when_they_were_created_and_run_from_their_node_on(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text(NODE_LIST)
    (tmp_path / "pods.csv").write_text(POD_LIST)
    paths = [str(tmp_path / "nodes.csv"), str(tmp_path / "pods.csv")]
    scenario, events = load_timed_imports(paths, gates=FeatureGates())
    assert [node.metadata.name for node in scenario.nodes] == ["n-0"]
    assert told(events) == [
        (0.0, "+", "p-0", 50),
        (60.0, "+", "p-1", 250),
        (120.0, "+", "p-2", None),
    ]


def test_openb_files_that_are_wrong_are_told_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "pods.csv"
    path.write_text(POD_LIST.replace("6000", "many"))
    (tmp_path / "nodes.csv").write_text(NODE_LIST)
    with pytest.raises(InputError, match=r"pods\.csv.*line 2.*not a whole number: 'many'"):
        load_timed_imports([str(tmp_path / "nodes.csv"), str(path)], gates=FeatureGates())
    path.write_text("name,cpu_milli,num_gpu,gpu_milli\np,1,0,0\n")
    with pytest.raises(InputError, match="pods have no creation_time"):
        load_timed_imports([str(tmp_path / "nodes.csv"), str(path)], gates=FeatureGates())


def test_commands_without_times_take_all_of_a_trace_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "nodes.yaml").write_text(NODES)
    data = trace(event(0, deployment(2)), event(9, deployment(3), pod("a")))
    (tmp_path / "t.sktrace").write_bytes(data)
    files = ["-f", str(tmp_path / "nodes.yaml"), "-f", str(tmp_path / "t.sktrace")]
    assert main(["simulate", *files]) == 0
    out = capsys.readouterr().out
    assert "4 pending pods on 1 node: 4 placed" in out
    assert "there at once, and nothing goes" in out
    assert main(["explain", "shop/web-1", *files]) == 0


def test_a_workload_of_a_trace_may_name_classes_that_only_its_cluster_had() -> None:
    web = deployment(2)
    web["spec"]["template"]["spec"] |= {"runtimeClassName": "kata", "priority": 7}

    events = read_simkube_events(trace(event(0, web)), "x.sktrace", gates=FeatureGates())

    pods = [each.pod for each in events if isinstance(each, PodArrival)]
    assert [(pod.spec.runtime_class_name, pod.spec.priority) for pod in pods] == [("kata", 7)] * 2
