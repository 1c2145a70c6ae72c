"""What a scheduler says when it starts."""

import re
from pathlib import Path

import pytest

from podium.config.flags.options import options_of
from podium.config.flags.parser import parse_flags
from podium.config.flags.version_gates import settled_gates
from podium.processes.kube_log import KubeLog
from podium.processes.startup import prepare_scheduler

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
    prepare_scheduler(options, settled_gates(options.versions), KubeLog(options.logs))
    found = re.findall(r"^W.*\] (.*)$", capsys.readouterr().err, re.MULTILINE)
    assert len(found) == 1
    assert found[0].startswith(
        "scheduler.yaml: profiles[0].plugins.preFilter: kube-scheduler fails"
    )
