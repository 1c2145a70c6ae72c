"""The one word that says how it goes with a pod, and the counts beside it."""

from typing import Any

import pytest
from support.apiserver.written_objects import Object, resource_of

from podium.kubernetes.tables import cells, columns, row_conditions

POD = resource_of("Pod")
NOW = 1_767_225_600.0
STARTED = "2026-01-01T00:00:00Z"


def pod(*statuses: Object, phase: str = "Running", first: Any = (), **fields: Any) -> Object:
    names = [status["name"] for status in statuses] or ["c"]
    return {
        "metadata": {"name": "p", "creationTimestamp": STARTED, **fields.get("metadata", {})},
        "spec": {"containers": [{"name": name} for name in names], **fields.get("spec", {})},
        "status": {
            "phase": phase,
            "containerStatuses": list(statuses),
            "initContainerStatuses": list(first),
            **fields.get("status", {}),
        },
    }


def container(name: str = "c", *, ready: bool = False, restarts: int = 0, **state: Any) -> Object:
    return {"name": name, "ready": ready, "restartCount": restarts, "state": state}


def shown(obj: Object) -> dict[str, Any]:
    names = [definition["name"] for definition in columns(POD)]
    return dict(zip(names, cells(POD, obj, NOW + 90), strict=True))


RUNNING = container(ready=True, running={})
INIT = {"initContainers": [{"name": "i"}, {"name": "j"}]}
SIDECAR = {"initContainers": [{"name": "s", "restartPolicy": "Always"}]}


@pytest.mark.parametrize(
    ("obj", "ready", "status"),
    [
        (pod(phase="Pending"), "0/1", "Pending"),
        (pod(RUNNING), "1/1", "Running"),
        (pod(container(waiting={"reason": "CrashLoopBackOff"})), "0/1", "CrashLoopBackOff"),
        (pod(container(terminated={"reason": "OOMKilled", "exitCode": 137})), "0/1", "OOMKilled"),
        (pod(container(terminated={"exitCode": 3})), "0/1", "ExitCode:3"),
        (pod(container(terminated={"signal": 9, "exitCode": 3})), "0/1", "Signal:9"),
        (
            pod(container("a", terminated={"reason": "Completed"}), RUNNING),
            "1/2",
            "NotReady",
        ),
        (
            pod(
                container("a", terminated={"reason": "Completed"}),
                RUNNING,
                status={"conditions": [{"type": "Ready", "status": "True"}]},
            ),
            "1/2",
            "Running",
        ),
        (
            pod(
                container("a", terminated={"reason": "Completed"}),
                container("b", terminated={"reason": "Error", "exitCode": 1}),
            ),
            "0/2",
            "Error",
        ),
        (pod(phase="Failed", status={"reason": "Evicted"}), "0/1", "Evicted"),
        (
            pod(
                phase="Pending",
                status={"conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]},
            ),
            "0/1",
            "SchedulingGated",
        ),
        (
            pod(phase="Pending", first=[container("i", running={})], spec=INIT),
            "0/1",
            "Init:0/2",
        ),
        (
            pod(
                phase="Pending",
                first=[container("i", terminated={"exitCode": 0}), container("j")],
                spec=INIT,
            ),
            "0/1",
            "Init:1/2",
        ),
        (
            pod(phase="Pending", first=[container("i", terminated={"exitCode": 2})], spec=INIT),
            "0/1",
            "Init:ExitCode:2",
        ),
        (
            pod(
                phase="Pending",
                first=[container("i", waiting={"reason": "ImagePullBackOff"})],
                spec=INIT,
            ),
            "0/1",
            "Init:ImagePullBackOff",
        ),
        (
            pod(RUNNING, first=[container("s", ready=True) | {"started": True}], spec=SIDECAR),
            "2/2",
            "Running",
        ),
        (pod(RUNNING, metadata={"deletionTimestamp": STARTED}), "1/1", "Terminating"),
        (
            pod(RUNNING, metadata={"deletionTimestamp": STARTED}, status={"reason": "NodeLost"}),
            "1/1",
            "Unknown",
        ),
        (pod(phase="Succeeded", metadata={"deletionTimestamp": STARTED}), "0/1", "Succeeded"),
    ],
)
def test_a_pod_is_shown_with_what_matters_most(obj: Object, ready: str, status: str) -> None:
    row = shown(obj)
    assert (row["Ready"], row["Status"]) == (ready, status)


def test_restarts_are_counted_and_the_last_one_is_dated() -> None:
    ended = {"terminated": {"finishedAt": STARTED}}
    again = container("a", ready=True, restarts=2, running={}) | {"lastState": ended}
    assert shown(pod(again, container("b", restarts=1)))["Restarts"] == "3 (90s ago)"
    assert shown(pod(container("b", restarts=1)))["Restarts"] == "1"


def test_restarts_of_init_containers_no_longer_count_once_the_pod_runs() -> None:
    done = container("i", restarts=4, terminated={"exitCode": 0})
    assert shown(pod(RUNNING, first=[done], spec=INIT))["Restarts"] == "0"
    assert shown(pod(first=[container("i", restarts=4)], spec=INIT))["Restarts"] == "4"


def test_wide_columns_show_where_the_pod_is_and_where_it_may_go() -> None:
    gates = {"readinessGates": [{"conditionType": "a"}, {"conditionType": "b"}], "nodeName": "n"}
    status = {
        "podIPs": [{"ip": "10.1.0.1"}],
        "nominatedNodeName": "m",
        "conditions": [{"type": "a", "status": "True"}],
    }
    row = shown(pod(RUNNING, spec=gates, status=status))
    assert [row[name] for name in ("IP", "Node", "Nominated Node", "Readiness Gates")] == [
        "10.1.0.1",
        "n",
        "m",
        "1/2",
    ]
    bare = shown(pod(RUNNING))
    assert {bare[name] for name in ("IP", "Node", "Nominated Node", "Readiness Gates")} == {
        "<none>"
    }


@pytest.mark.parametrize(("phase", "ended"), [("Running", 0), ("Succeeded", 1), ("Failed", 1)])
def test_rows_of_pods_that_ended_say_so(phase: str, ended: int) -> None:
    conditions = row_conditions(POD, pod(phase=phase))
    assert [each["type"] for each in conditions] == ["Completed"] * ended
