"""Command lines that are printed in articles: they start.

They stand here with files that exist in place of those under /etc, and are at work in
`tests/e2e/test_printed_configurations.py`. Where the texts they were taken from are at hand, every
flag that is printed in them is found in one of these command lines.
"""

import re
from pathlib import Path

import pytest
from support.commands.command_line import Done, podium
from support.suite.requirements import ARTICLES

SEEDS = sorted((Path(__file__).resolve().parents[2].parent / "shared" / "seeds").glob("*.txt"))
_FLAG = re.compile(r"--[a-z][a-z-]*(?:=[\w./:=-]+)?")
# Flags of the API server, and words about flags.
NOT_OURS = {"--runtime-config=scheduling.k8s.io/v1alpha1=true"}

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
leaderElection:
  leaderElect: false
  LeaseDuration: 10s
  renewDeadline: 10s
"""
POLICY = '{"kind": "Policy", "apiVersion": "v1"}'
DELEGATED = (
    "--authentication-kubeconfig=/etc/kubernetes/scheduler.conf",
    "--authorization-kubeconfig=/etc/kubernetes/scheduler.conf",
)
OF_A_DEVELOPER = (
    "--kube-api-qps=200",
    "--kube-api-burst=300",
    "--leader-elect=false",
    "--profiling=false",
    "--authentication-kubeconfig=/etc/kubernetes/scheduler-conf",
    "--authorization-kubeconfig=/etc/kubernetes/scheduler-conf",
    "--kubeconfig=/etc/kubernetes/scheduler-conf",
    "--config=/etc/kubernetes/scheduler-config.yaml",
    "--v=5",
)
OF_A_STATIC_POD = (
    *DELEGATED,
    "--bind-address=127.0.0.1",
    "--feature-gates=IPv6DualStack=true",
    "--port=0",
    "--profiling=false",
    "--config=/etc/kubernetes/scheduler-config.yaml",
)
KUBECONFIG_FLAG = "--kubeconfig=/etc/kubernetes/scheduler.conf"
OF_LONG_AGO = ("--address=127.0.0.1", "--leader-elect=true", KUBECONFIG_FLAG)
WITH_AN_EXTENDER = ("--config=/etc/kubernetes/scheduler-extender.yaml",)
STORAGE = ("--feature-gates=StorageCapacityScoring=true", KUBECONFIG_FLAG)
DEVICES = ("--feature-gates=DynamicResourceAllocation=true", KUBECONFIG_FLAG)
BY_POLICY = ("--policy-config-file=/etc/kubernetes/scheduler-policy.json", KUBECONFIG_FLAG)
PRIORITY = ("--feature-gates=PodPriority=true", KUBECONFIG_FLAG)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("scheduler.conf", "scheduler-conf"):
        (tmp_path / name).write_text(KUBECONFIG)
    for name in ("scheduler-config.yaml", "scheduler-extender.yaml"):
        (tmp_path / name).write_text(CONFIG)
    (tmp_path / "scheduler-policy.json").write_text(POLICY)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], flags: tuple[str, ...]) -> Done:
    local = (flag.replace("/etc/kubernetes/", "") for flag in flags)
    return podium(capsys, "run", *local, "--secure-port=0", "--write-config-to=OUT")


@pytest.mark.parametrize(
    "flags",
    [
        OF_A_DEVELOPER, WITH_AN_EXTENDER, STORAGE, DEVICES, OF_LONG_AGO, BY_POLICY, OF_A_STATIC_POD,
        PRIORITY,
    ],
    ids=[
        "developer", "extender", "storage", "devices", "long ago", "policy", "static pod",
        "priority",
    ],
)  # fmt: skip
def test_a_printed_command_line_starts(
    flags: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, flags).code == 0
    assert (here / "OUT").read_text().startswith("apiVersion: kubescheduler.config.k8s.io/v1")


@pytest.mark.parametrize(
    ("flags", "gate"), [(OF_A_STATIC_POD, "IPv6DualStack"), (PRIORITY, "PodPriority")]
)
def test_a_gate_that_is_gone_is_a_warning_and_with_strict_refused_as_upstream_refuses_it(
    flags: tuple[str, ...], gate: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = run(capsys, flags)
    assert done.code == 0
    assert done.err.count(f"feature gate {gate} is gone since Kubernetes 1.") == 1
    done = run(capsys, (*flags, "--strict"))
    assert done.code == 1
    assert f'"command failed" err="unrecognized feature gate: {gate}"' in done.err
    assert here


@ARTICLES.skip_unless(SEEDS)
def test_every_printed_flag_is_in_one_of_these_command_lines() -> None:
    text = "\n".join(seed.read_text() for seed in SEEDS)
    ours = {
        *OF_A_DEVELOPER, *OF_A_STATIC_POD, *OF_LONG_AGO, *WITH_AN_EXTENDER, *STORAGE, *DEVICES,
        *BY_POLICY, *PRIORITY,
    }  # fmt: skip
    names = {flag.partition("=")[0] for flag in ours}
    printed = {flag for flag in _FLAG.findall(text) if len(flag) > 3} - NOT_OURS
    assert printed
    assert {f for f in printed if f not in ours and f not in names} == set()
