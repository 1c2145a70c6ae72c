"""A Policy that asks for all reasons gets them, and the same decisions."""

from typing import Any

import pytest

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine import Engine
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.filtering import merge_statuses
from podium.scheduler.framework.node_form import NodeFilterPlugin, NodeView
from podium.scheduler.framework.status import Code, Status, unresolvable, unschedulable
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod

TINY = {"cpu": "1", "memory": "1Gi", "pods": 10}
SMALL = {"cpu": "3", "memory": "3Gi", "pods": 10}
LARGE = {"cpu": "8", "memory": "8Gi", "pods": 10}
PORT = [{"containerPort": 80, "hostPort": 80}]


def engine(*, all_reasons: bool) -> Engine:
    policy = {"kind": "Policy", "apiVersion": "v1", "alwaysCheckAllPredicates": all_reasons}
    made = Engine(
        load_configuration(policy, gates=FeatureGates()), in_tree_registry(), gates=FeatureGates()
    )
    made.cluster.put_node(make_node("small", allocatable=SMALL, labels={"disk": "ssd"}))
    taints = [("k", "v", "NoSchedule")]
    made.cluster.put_node(make_node("tainted", allocatable=TINY, taints=taints))
    made.cluster.put_node(make_node("good", allocatable=LARGE, labels={"disk": "ssd"}))
    made.cluster.add_pod(make_pod("other", node="small", containers=[with_port()]))
    return made


def with_port() -> dict[str, Any]:
    resources = {"requests": {"cpu": "2", "memory": "2Gi"}}
    return {"name": "c", "image": "i", "ports": PORT, "resources": resources}


def demanding(**spec: Any) -> Pod:
    return make_pod("p", containers=[with_port()], nodeSelector={"disk": "ssd"}, **spec)


def statuses(made: Engine, pod: Pod) -> dict[str, Status | None]:
    decision = made.schedule(made.cluster.infos.of(pod)).decision
    assert decision.bound == "good"
    return dict(decision.filter_statuses())


def test_every_filter_has_its_say_about_every_node() -> None:
    found = statuses(engine(all_reasons=True), demanding())
    small, tainted = found["small"], found["tainted"]
    assert small is not None
    assert tainted is not None
    assert small.code is Code.UNSCHEDULABLE
    assert set(small.reasons) == {
        "Insufficient cpu",
        "Insufficient memory",
        "node(s) didn't have free ports for the requested pod ports",
    }
    assert tainted.code is Code.UNRESOLVABLE
    assert set(tainted.reasons) == {
        "Insufficient cpu",
        "Insufficient memory",
        "node(s) didn't match Pod's node affinity/selector",
        "node(s) had untolerated taint(s)",
    }
    assert found["good"] is None


def test_otherwise_the_first_filter_that_rejects_decides() -> None:
    found = statuses(engine(all_reasons=False), demanding())
    assert found["small"] is not None
    assert set(found["small"].reasons) == {"Insufficient cpu", "Insufficient memory"}


def test_nominated_pods_are_counted_among_the_reasons() -> None:
    made = engine(all_reasons=True)
    strong = make_pod("strong", priority=10, containers=[with_port()])
    made.cluster.nominator.nominate(made.cluster.infos.of(strong), "good")
    decision = made.schedule(made.cluster.infos.of(demanding(priority=1))).decision
    good = decision.filter_statuses()["good"]
    assert good is not None
    assert good.reasons == ("node(s) didn't have free ports for the requested pod ports",)


class Broken(NodeFilterPlugin):
    """Fails for nodes with a taint."""

    name = "Broken"

    def filter_node(self, pod: Pod, node: NodeView) -> str | None:
        if node.object.spec.taints:
            raise RuntimeError("no such thing")
        return None


def test_an_error_ends_the_matter() -> None:
    made = engine(all_reasons=True)
    profile = made.first_profile
    info = made.cluster.infos.of(demanding())
    cycle = Cycle(info, made.cluster)
    profile.run_pre_filters(cycle)
    assert cycle.all_reasons
    profile.filter = [*profile.filter, Broken(None, profile.filter[0].handle)]
    result = profile.filter_rows(cycle, slice(0, 3))
    messages = [status.message for status, _ in result.groups()]
    assert any("no such thing" in message for message in messages)


@pytest.mark.parametrize(
    ("statuses", "code", "reasons"),
    [
        ([unschedulable("a"), unresolvable("b", "a")], Code.UNRESOLVABLE, ("a", "b")),
        ([unschedulable("a"), unschedulable("b")], Code.UNSCHEDULABLE, ("a", "b")),
    ],
)
def test_the_severest_code_counts(
    statuses: list[Status], code: Code, reasons: tuple[str, ...]
) -> None:
    named = [status.by(f"P{i}") for i, status in enumerate(statuses)]
    assert merge_statuses(named) == Status(code, reasons, "P0")
