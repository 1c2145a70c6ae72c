"""Daemon sets: one pod on each node that the template allows."""

from typing import Any

from support.simulated.controller_objects import (
    build,
    creations,
    moment,
    node,
    pod,
    shown,
    template,
    written_status,
)

from podium.kubernetes.controllers.controller import Plan
from podium.kubernetes.controllers.daemon_sets import decide
from podium.kubernetes.controllers.objects import Node
from podium.kubernetes.controllers.pod_templates import REVISION_HASH
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.workloads import ControllerRevision, DaemonSet


def daemon_set(**fields: Any) -> DaemonSet:
    pod_spec = fields.pop("pod_spec", {})
    written = template(app="agent")
    written["spec"] |= pod_spec
    spec = {
        "selector": {"matchLabels": {"app": "agent"}},
        "template": written,
        **fields.pop("spec", {}),
    }
    metadata = {"annotations": {"deprecated.daemonset.template.generation": "2"}}
    return build(DaemonSet, "agent", metadata=metadata, spec=spec, **fields)


def revision_of(of: DaemonSet) -> ControllerRevision:
    body = next(each for each in creations(decide(of, [], [], [], moment())) if "revision" in each)
    return build(
        ControllerRevision,
        body["metadata"]["name"],
        metadata=body["metadata"],
        data=body["data"],
        revision=1,
    )


def mark_of(of: DaemonSet) -> str:
    return revision_of(of).name.removeprefix("agent-")


def member(on: str, mark: str, phase: str = "Running", **more: Any) -> Pod:
    labels = {"app": "agent", REVISION_HASH: mark}
    return pod(f"agent-{on}", phase, node=on, owner=("DaemonSet", "agent"), labels=labels, **more)


def plan(of: DaemonSet, nodes: list[Node], *pods: Pod) -> Plan:
    return decide(of, pods, nodes, [revision_of(of)], moment())


def moves(made: Plan) -> list[str]:
    return [each for each in shown(made) if "status" not in each]


def test_each_node_gets_a_pod_that_is_pinned_to_it() -> None:
    of = daemon_set()
    made = plan(of, [node("n1"), node("n2")], member("n1", mark_of(of)))
    assert moves(made) == ["+pods agent-*"]
    (body,) = creations(made)
    terms = body["spec"]["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]["nodeSelectorTerms"]
    assert terms == [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}
    ]
    assert body["metadata"]["labels"]["pod-template-generation"] == "2"
    keys = {each["key"].removeprefix("node.kubernetes.io/") for each in body["spec"]["tolerations"]}
    assert keys == {
        "not-ready",
        "unreachable",
        "disk-pressure",
        "memory-pressure",
        "pid-pressure",
        "unschedulable",
    }


def test_a_pod_on_its_way_to_a_node_counts_there() -> None:
    of = daemon_set()
    on_name = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    terms = {"nodeSelectorTerms": [{"matchFields": [on_name]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    waiting = pod(
        "agent-x",
        "Pending",
        node="",
        owner=("DaemonSet", "agent"),
        labels={"app": "agent", REVISION_HASH: mark_of(of)},
        spec={"affinity": {"nodeAffinity": required}},
    )
    assert moves(plan(of, [node("n1")], waiting)) == []
    assert moves(plan(of, [], waiting)) == ["-pods agent-x"]


def test_nodes_that_the_template_does_not_allow_get_none() -> None:
    of = daemon_set(pod_spec={"nodeSelector": {"disk": "ssd"}})
    fast = node("n1", metadata={"labels": {"disk": "ssd"}})
    assert moves(plan(of, [fast, node("n2")])) == ["+pods agent-*"]
    assert moves(plan(of, [node("n2")], member("n2", mark_of(of)))) == ["-pods agent-n2"]


def test_taints_keep_new_pods_away_and_expel_only_if_they_say_so() -> None:
    of = daemon_set()
    mark = mark_of(of)
    closed = node("n1", spec={"taints": [{"key": "k", "effect": "NoSchedule"}]})
    assert moves(plan(of, [closed])) == []
    assert moves(plan(of, [closed], member("n1", mark))) == []
    hostile = node("n1", spec={"taints": [{"key": "k", "effect": "NoExecute"}]})
    assert moves(plan(of, [hostile], member("n1", mark))) == ["-pods agent-n1"]
    cordoned = node(
        "n1", spec={"taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]}
    )
    assert moves(plan(of, [cordoned])) == ["+pods agent-*"]


def test_failed_and_doubled_pods_go() -> None:
    of = daemon_set()
    mark = mark_of(of)
    assert moves(plan(of, [node("n1")], member("n1", mark, "Failed"))) == ["-pods agent-n1"]
    second = pod(
        "agent-second",
        owner=("DaemonSet", "agent"),
        labels={"app": "agent", REVISION_HASH: mark},
        creationTimestamp="2027-01-15T09:00:00Z",
    )
    assert moves(plan(of, [node("n1")], second, member("n1", mark))) == ["-pods agent-second"]


def test_a_new_template_replaces_pods_a_few_at_a_time() -> None:
    rolling = {"rollingUpdate": {"maxUnavailable": 2}}
    of = daemon_set(spec={"updateStrategy": rolling})
    nodes = [node(f"n{i}") for i in range(4)]
    old = [member(f"n{i}", "old") for i in range(4)]
    assert moves(plan(of, nodes, *old)) == ["-pods agent-n0", "-pods agent-n1"]
    mark = mark_of(of)
    half = [member("n0", mark, "Pending"), member("n1", mark), *old[2:]]
    assert moves(plan(of, nodes, *half)) == ["-pods agent-n2"]
    on_delete = daemon_set(spec={"updateStrategy": {"type": "OnDelete"}})
    assert moves(plan(on_delete, nodes, *old)) == []


def test_counts_are_reported() -> None:
    of = daemon_set(pod_spec={"nodeSelector": {"disk": "ssd"}})
    mark = mark_of(of)
    fast = [node(f"n{i}", metadata={"labels": {"disk": "ssd"}}) for i in range(3)]
    slow = node("slow", spec={"taints": []})
    pods = [member("n0", mark), member("n1", "old"), member("slow", mark)]
    status = written_status(plan(of, [*fast, slow], *pods), "daemonsets")
    assert status == {
        "desiredNumberScheduled": 3,
        "currentNumberScheduled": 2,
        "numberMisscheduled": 1,
        "numberReady": 2,
        "updatedNumberScheduled": 1,
        "numberAvailable": 2,
        "numberUnavailable": 1,
        "observedGeneration": 1,
    }


def test_a_pod_on_its_way_out_uses_up_what_may_be_missing() -> None:
    daemons = daemon_set(spec={"updateStrategy": {"rollingUpdate": {"maxUnavailable": 1}}})
    nodes = [node("n1"), node("n2")]
    leaving = member("n1", "old", deletionTimestamp="2027-01-15T08:00:00Z")
    assert "-pods agent-n2" not in shown(plan(daemons, nodes, leaving, member("n2", "old")))
