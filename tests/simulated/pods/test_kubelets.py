"""The lives of pods on simulated nodes."""

from typing import Any

import pytest
from support.simulated.controller_objects import (
    moment,
    node,
    patches,
    pod,
    shown,
    timestamp,
    written_status,
)

from podium.kubernetes.controllers.controller import Plan
from podium.kubernetes.controllers.pods import Pod
from podium.simulated.informers import Informers
from podium.simulated.pods.kubelet_facts import find_facts
from podium.simulated.pods.kubelets import Kubelets, Pending, decide
from podium.simulated.pods.pod_lives import seconds_of
from podium.simulated.pods.stage_files import default_stages, read_stages
from podium.simulated.pods.stages import share

USUAL = default_stages()


def step(
    of: Pod, now_s: float = 0.0, pending: Pending | None = None
) -> tuple[Plan, Pending | None]:
    facts = find_facts(of, node(), lambda: (), moment(now_s))
    return decide(of, node(), USUAL, pending, moment(now_s), lambda: "10.64.0.1", facts)


def after(of: Pod, start_s: float = 0.0) -> tuple[float, Plan]:
    """How long a pod waits for its next stage, and what that does."""
    plan, pending = step(of, start_s)
    if plan.again_after_s is None:
        return 0.0, plan
    return plan.again_after_s, step(of, start_s + plan.again_after_s, pending)[0]


def annotated(**annotations: str) -> dict[str, Any]:
    return {"annotations": {f"podium.dev/{key}": value for key, value in annotations.items()}}


def run_for(seconds: str, policy: str = "Never", **more: str) -> Pod:
    notes = {"run-seconds": seconds, **more}
    running = {"running": {"startedAt": timestamp(0)}}
    status = {
        "startTime": timestamp(0),
        "containerStatuses": [{"name": "c", "restartCount": 2, "state": running}],
    }
    return pod("web", spec={"restartPolicy": policy}, status=status, **annotated(**notes))


def test_a_bound_pod_starts_after_a_second_or_so() -> None:
    waited_s, plan = after(pod("web", "Pending"))
    assert 1 <= waited_s < 1.5
    assert shown(plan) == ["~pods/status web"]
    status = written_status(plan, "pods")
    assert (status["phase"], status["podIP"], status["hostIP"]) == (
        "Running",
        "10.64.0.1",
        "10.0.0.1",
    )
    assert {each["type"]: each["status"] for each in status["conditions"]} == dict.fromkeys(
        ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"), "True"
    )
    (container,) = status["containerStatuses"]
    assert (container["name"], container["ready"], container["restartCount"]) == ("c", True, 0)
    assert "running" in container["state"]


def test_how_long_a_pod_takes_to_start_can_be_said() -> None:
    slow = pod("web", "Pending", **annotated(**{"start-seconds": "1m30s"}))
    waited_s, _ = after(slow)
    assert 90 <= waited_s < 90.5


def test_a_pod_without_a_time_runs_for_ever() -> None:
    plan, pending = step(pod("web"))
    assert (plan.actions, plan.again_after_s, pending) == ([], None, None)


def test_a_pod_succeeds_after_the_time_that_it_was_given() -> None:
    waited_s, plan = after(run_for("60"), start_s=20)
    assert waited_s == pytest.approx(40)
    status = written_status(plan, "pods")
    assert status["phase"] == "Succeeded"
    ended = status["containerStatuses"][0]["state"]["terminated"]
    assert (ended["exitCode"], ended["startedAt"], ended["finishedAt"]) == (
        0,
        timestamp(0),
        timestamp(60),
    )
    ready = next(each for each in status["conditions"] if each["type"] == "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "PodCompleted")


def test_a_look_a_moment_too_early_only_makes_it_wait_again() -> None:
    plan, pending = step(run_for("60"), 20)
    early, pending = step(run_for("60"), 59.9995, pending)
    assert early.actions == []
    assert early.again_after_s == pytest.approx(0.0005, abs=1e-4)
    late, _ = step(run_for("60"), 60, pending)
    assert written_status(late, "pods")["phase"] == "Succeeded"
    assert plan.again_after_s == pytest.approx(40)


def test_a_pod_fails_if_it_was_told_to() -> None:
    _, plan = after(run_for("5", result="Failed", **{"exit-code": "42"}))
    status = written_status(plan, "pods")
    assert status["phase"] == "Failed"
    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 42


@pytest.mark.parametrize(("policy", "result"), [("Always", "Succeeded"), ("OnFailure", "Failed")])
def test_where_containers_are_restarted_the_pod_goes_on(policy: str, result: str) -> None:
    waited_s, plan = after(run_for("30", policy, result=result))
    assert waited_s == pytest.approx(30)
    status = written_status(plan, "pods")
    assert "phase" not in status
    (container,) = status["containerStatuses"]
    assert (container["restartCount"], container["ready"]) == (2, False)
    assert container["state"]["waiting"] == {
        "reason": "CrashLoopBackOff",
        "message": "back-off 20s restarting failed container=c pod=web_ns(uid-web)",
    }
    assert container["lastState"]["terminated"]["finishedAt"] == timestamp(30)


def test_a_pod_that_is_deleted_goes_and_one_that_is_held_ends_first() -> None:
    waited_s, plan = after(pod("web", deletionTimestamp=timestamp(30)))
    assert waited_s == 1
    assert shown(plan) == ["-pods web in 0s"]
    held: dict[str, Any] = {"deletionTimestamp": timestamp(30), "deletionGracePeriodSeconds": 30}
    _, plan = after(pod("web", finalizers=["f"], **held))
    assert written_status(plan, "pods")["phase"] == "Failed"
    _, plan = after(pod("web", "Failed", finalizers=["f"], **held))
    assert shown(plan) == ["-pods web in 0s"]
    gone = {**held, "deletionGracePeriodSeconds": 0}
    plan, _ = step(pod("web", "Failed", finalizers=["f"], **gone))
    assert shown(plan) == []


def test_a_pod_on_a_node_that_came_back_is_ready_again() -> None:
    plan, _ = step(pod("web", ready=False))
    assert written_status(plan, "pods")["conditions"][0]["status"] == "True"


def test_looking_more_often_changes_nothing() -> None:
    pending: Pending | None = None
    starting = pod("web", "Pending")
    first, pending = step(starting, 0.0, pending)
    assert first.again_after_s is not None
    again, pending = step(starting, 0.4, pending)
    assert again.again_after_s == pytest.approx(first.again_after_s - 0.4)
    due = first.again_after_s
    fired, pending = step(starting, due, pending)
    assert shown(fired) == ["~pods/status web"]
    repeated, pending = step(starting, due + 1, pending)
    assert shown(repeated) == ["~pods/status web"], "the write may have failed"


def test_init_containers_are_through_and_sidecars_go_on() -> None:
    containers = [{"name": "setup", "image": "s"}, {"name": "proxy", "restartPolicy": "Always"}]
    _, plan = after(pod("web", "Pending", spec={"initContainers": containers}))
    setup, proxy = written_status(plan, "pods")["initContainerStatuses"]
    assert setup["state"]["terminated"]["exitCode"] == 0
    assert "running" in proxy["state"]


def test_a_chance_is_the_same_for_a_pod_whenever_it_is_looked_at() -> None:
    text = b"""
apiVersion: podium.dev/v1alpha1
kind: Stage
metadata: {name: unlucky}
spec:
  match: [{field: status.phase, operator: In, values: [Running]}]
  chance: 0.3
  next: {phase: Failed}
"""
    stages = read_stages(text, "x")

    def fails(name: str) -> bool:
        plan, _ = decide(pod(name), node(), stages, None, moment(), str)
        return bool(plan.actions)

    fates = {f"pod-{i}": fails(f"pod-{i}") for i in range(300)}
    assert 60 <= sum(fates.values()) <= 120
    assert all(fails(name) is fate for name, fate in fates.items())
    assert 0 <= share("u", "x") < 1


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("90", 90), ("1.5", 1.5), ("1m30s", 90), ("-1", None), ("soon", None), ("nan", None)],
)
def test_durations_are_numbers_or_what_go_writes(written: str, seconds: float | None) -> None:
    assert seconds_of(written) == seconds


def test_a_delay_since_a_field_that_is_no_time_counts_from_now() -> None:
    text = b"""
apiVersion: podium.dev/v1alpha1
kind: Stage
metadata: {name: odd}
spec:
  delay: {seconds: 9, since: status.phase}
  next: {phase: Failed, message: odd, reason: Odd, containers: {state: waiting}}
"""
    stages = read_stages(text, "x")
    plan, pending = decide(pod("web"), node(), stages, None, moment(), str)
    assert plan.again_after_s == 9
    plan, _ = decide(pod("web"), node(), stages, pending, moment(9), str)
    status = written_status(plan, "pods")
    assert (status["reason"], status["message"]) == ("Odd", "odd")
    assert status["containerStatuses"][0]["state"] == {"waiting": {"reason": "ContainerCreating"}}


def test_only_nodes_that_are_simulated_and_alive_have_a_kubelet() -> None:
    informers = Informers()
    kubelets = Kubelets(informers, USUAL)
    woken: list[tuple[str, str]] = []
    kubelets.watch(woken.append)
    informers.pods.put(pod("web", "Pending"))
    key = ("ns", "web")
    assert woken == [key]

    def waits(version: str, **metadata: Any) -> bool:
        informers.nodes.put(node(metadata={"resourceVersion": version, **metadata}))
        return kubelets.plan(key, moment()).again_after_s is not None

    assert kubelets.plan(key, moment()).again_after_s is None
    assert not waits("2", labels={})
    assert waits("3", labels={"podium.dev/simulated": "true"})
    assert not waits("4", annotations={"podium.dev/failure": "unreachable"})
    woken.clear()
    assert waits("5")
    assert woken == [key]


def test_pods_have_different_addresses() -> None:
    informers = Informers()
    kubelets = Kubelets(informers, USUAL)
    informers.nodes.put(node())
    addresses = set()
    for i in range(300):
        informers.pods.put(pod(f"p{i}", "Pending"))
        kubelets.plan(("ns", f"p{i}"), moment(0))
        plan = kubelets.plan(("ns", f"p{i}"), moment(2))
        addresses.add(patches(plan)[0].body["status"]["podIP"])
    assert len(addresses) == 300
    assert all(address.startswith("10.64.") for address in addresses)


def test_a_new_pod_gets_none_of_the_addresses_of_an_earlier_run() -> None:
    informers = Informers()
    kubelets = Kubelets(informers, USUAL)
    kubelets.watch(lambda _: None)
    informers.nodes.put(node())
    informers.pods.put(pod("old", status={"podIP": "10.64.0.1"}))
    informers.pods.put(pod("older", status={"podIP": "2001:db8::1"}))
    informers.pods.put(pod("new", "Pending"))
    kubelets.plan(("ns", "new"), moment(0))
    plan = kubelets.plan(("ns", "new"), moment(5))
    assert patches(plan)[0].body["status"]["podIP"] == "10.64.0.2"
