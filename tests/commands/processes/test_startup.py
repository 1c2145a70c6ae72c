"""What a scheduler says when it starts, and what it then does."""

import re
from pathlib import Path
from typing import Any

import pytest

from podium.commands.processes.kube_log import KubeLog
from podium.commands.processes.startup import prepare_scheduler
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.releases.release import release
from podium.scheduler.config.flags.options import options_of
from podium.scheduler.config.flags.parser import parse_flags
from podium.scheduler.config.flags.version_gates import settled_gates
from podium.scheduler.engine import Engine
from podium.testing import make_node, make_pod

PORT_TAKEN = "node(s) didn't have free ports for the requested pod ports"
KUBECONFIG = """\
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: c
"""
CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: scheduler.conf}
profiles:
- plugins:
    preFilter: {disabled: [{name: '*'}]}
"""


def test_a_start_with_plugins_that_cannot_work_elsewhere_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scheduler.conf").write_text(KUBECONFIG)
    (tmp_path / "scheduler.yaml").write_text(CONFIG)
    options = options_of(parse_flags(["--config=scheduler.yaml", "--secure-port=0"]))
    prepare_scheduler(options, settled_gates(options.versions, release()), KubeLog(options.logs))
    found = re.findall(r"^W.*\] (.*)$", capsys.readouterr().err, re.MULTILINE)
    assert len(found) == 1
    assert found[0].startswith(
        "scheduler.yaml: profiles[0].plugins.preFilter: kube-scheduler fails"
    )


@pytest.mark.parametrize(
    ("flags", "reasons"),
    [((), {PORT_TAKEN}), (("--run-all-filters",), {"Insufficient cpu", PORT_TAKEN})],
)
def test_every_filter_has_its_say_where_a_flag_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...], reasons: set[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scheduler.conf").write_text(KUBECONFIG)
    command_line = ["--kubeconfig=scheduler.conf", "--secure-port=0", *flags]
    options = options_of(parse_flags(command_line))
    prepared = prepare_scheduler(
        options, settled_gates(options.versions, release()), KubeLog(options.logs)
    )
    engine = Engine(prepared.configuration, prepared.registry, gates=FeatureGates())
    engine.cluster.put_node(make_node("small", allocatable={"cpu": "1", "pods": 10}))
    engine.cluster.add_pod(make_pod("there", node="small", containers=[serving("10m")]))
    wanted = make_pod("wanted", containers=[serving("2")])
    decision = engine.schedule(engine.cluster.infos.of(wanted)).decision
    (status,) = dict(decision.filter_statuses()).values()
    assert status is not None
    assert set(status.reasons) == reasons


def serving(cpu: str) -> dict[str, Any]:
    """A container that asks for cpu and a port of its node."""
    ports = [{"containerPort": 80, "hostPort": 80}]
    return {"name": "c", "image": "i", "ports": ports, "resources": {"requests": {"cpu": cpu}}}
