"""Pods that had a node and were turned away: the run ends, and says why."""

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from support.commands.command_line import Write, node, pod, podium, writer
from support.user_code.plugin_files import Source

from podium.offline.simulate.run import MAX_ATTEMPTS

pytestmark = pytest.mark.usefixtures("wide_output", "own_modules")

PERMIT = "PermitPlugin", "def permit(self, cycle, node_name)"
RESERVE = (
    "ReservePlugin",
    "def unreserve(self, cycle, node_name): pass\n            def reserve(self, cycle, node_name)",
)
PRE_BIND = (
    "PreBindPlugin",
    "def pre_bind_pre_flight(self, cycle, node_name): return PreFlight()\n"
    "            async def pre_bind(self, cycle, node_name, api)",
)
BIND = "BindPlugin", "async def bind(self, cycle, node_name, api)"

WAYS = {
    "permit times out": (
        PERMIT,
        "return PermitResult(Status(Code.WAIT), 5)",
        "0/1 nodes are available: 1 rejected due to timeout after waiting 5s at plugin Turns.",
    ),
    "permit rejects": (
        PERMIT,
        "return PermitResult(unschedulable('not today'))",
        "0/1 nodes are available: 1 not today.",
    ),
    "permit raises": (
        PERMIT,
        "raise OSError('no answer')",
        'running Permit plugin "Turns": no answer',
    ),
    "reserve rejects": (
        RESERVE,
        "return unschedulable('all taken')",
        "0/1 nodes are available: 1 all taken.",
    ),
    "reserve raises": (
        RESERVE,
        "raise OSError('no answer')",
        'running Reserve plugin "Turns": no answer',
    ),
    "prebind rejects": (PRE_BIND, "return unschedulable('no volume')", "no volume"),
    "prebind raises": (
        PRE_BIND,
        "raise OSError('no answer')",
        'running PreBind plugin "Turns": no answer',
    ),
    "bind fails": (BIND, "return error('refused')", 'running Bind plugin "Turns": refused'),
}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


def turning_away(point: tuple[str, str], body: str) -> str:
    base, head = point
    return dedent(f"""
        from podium.plugin import *

        class Turns({base}):
            name = "Turns"

            {head}:
                {body}
    """)


@pytest.mark.parametrize("pods", [1, 2, 3])
@pytest.mark.parametrize("way", WAYS)
def test_a_run_ends_however_pods_are_turned_away_and_tells_why(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write, way: str, pods: int
) -> None:
    point, body, message = WAYS[way]
    plugin = source(turning_away(point, body))
    pending = [pod(f"p{number}") for number in range(pods)]
    arguments = ["simulate", "-f", write(node(), *pending), "--plugin", plugin]
    if point is BIND:
        arguments += ["--config", write_bind_only(write)]
    done = podium(capsys, *arguments, "-o", "json")
    assert done.code == 1, done.err
    found = done.decoded()["pods"]
    assert [(each["message"], each["node"]) for each in found] == [(message, None)] * pods
    assert all(each["attempts"] <= MAX_ATTEMPTS + 1 for each in found)


def write_bind_only(write: Write) -> str:
    """A configuration whose only binder is the plugin."""
    path = Path(write(name="scheduler.json"))
    path.write_text(
        '{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",'
        ' "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Turns"}],'
        ' "disabled": [{"name": "DefaultBinder"}]}}}]}'
    )
    return str(path)


def test_a_pod_that_nobody_binds_says_so(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write
) -> None:
    plugin = source(turning_away(BIND, "return SKIP"))
    done = podium(
        capsys,
        *("simulate", "-f", write(node(), pod("p")), "--plugin", plugin),
        *("--config", write_bind_only(write)),
    )
    assert done.code == 1
    assert "all bind plugins skipped the pod" in done.out
    assert f"given up after {MAX_ATTEMPTS} attempts: 1 pod" in done.out


def grouped(name: str, **spec: Any) -> dict[str, Any]:
    return pod(name, schedulingGroup={"podGroupName": "g"}, **spec)


def test_a_gang_whose_members_want_different_schedulers_ends_with_the_reason(
    capsys: pytest.CaptureFixture[str], write: Write, tmp_path: Path
) -> None:
    config = tmp_path / "two.json"
    config.write_text(
        '{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",'
        ' "profiles": [{"schedulerName": "default-scheduler"}, {"schedulerName": "other"}]}'
    )
    group = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "g"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}},
    }
    objects = write(node(), group, grouped("a"), grouped("b", schedulerName="other"))
    done = podium(
        capsys,
        *("simulate", "-f", objects, "--config", str(config), "-o", "json"),
        *("--feature-gates", "GenericWorkload=true,GangScheduling=true"),
    )
    assert done.code == 1, done.err
    messages = {each["message"] for each in done.decoded()["pods"]}
    assert len(messages) == 1
    assert "should have the same .spec.schedulerName" in messages.pop()


@pytest.mark.parametrize("way", ["permit times out", "permit rejects", "reserve rejects"])
def test_an_explanation_says_why_a_pod_with_a_node_was_turned_away(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write, way: str
) -> None:
    point, body, message = WAYS[way]
    plugin = source(turning_away(point, body))
    done = podium(capsys, "explain", "p", "-f", write(node(), pod("p")), "--plugin", plugin)
    assert done.code == 1
    assert "no node fits" not in done.out
    assert message in done.out


def test_why_and_simulate_say_that_a_pod_loses_its_node_again(
    capsys: pytest.CaptureFixture[str], source: Source, write: Write
) -> None:
    point, body, _ = WAYS["permit times out"]
    plugin, cluster = source(turning_away(point, body)), write(node(), pod("p"))
    done = podium(capsys, "why", "p", "-f", cluster, "--plugin", plugin)
    assert done.code == 1
    assert "gets n1 and loses it again before it is bound" in done.out
    assert 'turned away by plugin Turns: "rejected due to timeout after waiting 5s' in done.out
    done = podium(capsys, "simulate", "-f", cluster, "--plugin", plugin)
    assert "Turned away from the node they had  1 pod" in done.out
    assert "No node fits" not in done.out
