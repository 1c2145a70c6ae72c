"""What old texts print, typed into `podium run`, `config check`, `simulate`, `explain`."""

import json
from pathlib import Path

import pytest
from support.commands.command_line import Write, node, pod, podium, writer
from support.commands.old_spellings import placements, warnings

ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
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
"""
CAPACITY = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: VolumeBinding
    args:
      shape:
      - {utilization: 0, score: 0}
      - {utilization: 100, score: 10}
"""
POLICY = {
    "kind": "Policy",
    "apiVersion": "v1",
    "predicates": [{"name": "PodFitsHost"}, {"name": "noncriticalPredicates"}],
    "priorities": [{"name": "LeastRequestedPriority", "weight": 1}],
}


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scheduler.conf").write_text(KUBECONFIG)
    (tmp_path / "scheduler.yaml").write_text(CONFIG)
    (tmp_path / "policy.json").write_text(json.dumps(POLICY, indent=1))
    return writer(tmp_path)


@pytest.mark.usefixtures("write")
def test_run_writes_the_field_of_today_and_warns_with_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ("--config=scheduler.yaml", "--secure-port=0", "--write-config-to=OUT")
    done = podium(capsys, "run", *flags)
    assert done.code == 0
    assert "  leaseDuration: 10s\n" in (tmp_path / "OUT").read_text()
    assert done.err.count("scheduler.yaml:6: leaderElection.LeaseDuration: ") == 1
    done = podium(capsys, "run", *flags, "--strict")
    assert done.code == 1
    assert r"unknown field \"leaderElection.LeaseDuration\"" in done.err


@pytest.mark.usefixtures("write")
def test_run_takes_a_policy_in_old_words(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ("--policy-config-file=policy.json", "--kubeconfig=scheduler.conf")
    quiet = ("--secure-port=0", "--write-config-to=OUT")
    done = podium(capsys, "run", *flags, *quiet)
    assert done.code == 0
    assert "policy.json:6: predicates[0].name: PodFitsHost is an old spelling" in done.err
    done = podium(capsys, "run", *flags, *quiet, "--strict")
    assert done.code == 1
    assert r"predicate type not found for \"PodFitsHost\"" in done.err


@pytest.mark.usefixtures("write")
def test_an_empty_policy_file_is_called_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.json").touch()
    flags = ("--policy-config-file=empty.json", "--kubeconfig=scheduler.conf", "--secure-port=0")
    done = podium(capsys, "run", *flags, "--write-config-to=OUT")
    assert done.code == 1
    assert "the file is empty, as `type: FileOrCreate` makes one" in done.err
    done = podium(capsys, "config", "check", "empty.json")
    assert done.code == 1
    assert "the file is empty" in done.out


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_configuration_is_called_empty_by_a_scheduler(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.yaml").write_text(text)
    flags = (f"--config={tmp_path / 'empty.yaml'}", "--secure-port=0", "--write-config-to=OUT")
    done = podium(capsys, "run", *flags)
    assert done.code == 1
    assert "Object 'Kind' is missing in '" in done.err
    assert "the file is empty, as `type: FileOrCreate` makes one" in done.err


UNASKED = "has no verb, so that it is never called"


@pytest.mark.usefixtures("write")
def test_an_extender_without_any_verb_is_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked, unasked = ({"urlPrefix": f"http://127.0.0.1:{port}"} for port in (1, 2))
    extenders = [{**asked, "filterVerb": "filter"}, unasked]
    kind = {"kind": "KubeSchedulerConfiguration", "apiVersion": "kubescheduler.config.k8s.io/v1"}
    connection = {"clientConnection": {"kubeconfig": "scheduler.conf"}}
    (tmp_path / "new.json").write_text(json.dumps({**kind, **connection, "extenders": extenders}))
    old = {"kind": "Policy", "apiVersion": "v1", "extenders": extenders}
    (tmp_path / "old.json").write_text(json.dumps(old))
    for file in ("new.json", "old.json"):
        done = podium(capsys, "config", "check", file)
        assert done.code == 0
        assert f"extenders[1]: {UNASKED}" in done.out
        assert "extenders[0]" not in done.out
    # An election that cannot be begun ends it once everything was looked at.
    ends = ("--kubeconfig=scheduler.conf", "--secure-port=0", "--leader-elect-retry-period=0")
    done = podium(capsys, "run", "--policy-config-file=old.json", *ends)
    assert f"old.json: extenders[1]: {UNASKED}" in done.err
    assert done.code == 1


BLANK = "begins or ends with blanks, which are part of the address that is asked"


@pytest.mark.usefixtures("write")
def test_a_blank_verb_of_an_extender_is_told_of_and_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verbs = {"filterVerb": " ", "prioritizeVerb": "prioritize", "bindVerb": "bind\t"}
    extenders = [{"urlPrefix": "http://127.0.0.1:1", "weight": 1, **verbs}]
    kind = {"kind": "KubeSchedulerConfiguration", "apiVersion": "kubescheduler.config.k8s.io/v1"}
    (tmp_path / "new.json").write_text(json.dumps({**kind, "extenders": extenders}))
    old = {"kind": "Policy", "apiVersion": "v1", "extenders": extenders}
    (tmp_path / "old.json").write_text(json.dumps(old))
    for file in ("new.json", "old.json"):
        done = podium(capsys, "config", "check", file)
        assert done.code == 0
        assert f"extenders[0].filterVerb: {BLANK}" in done.out
        assert f"extenders[0].bindVerb: {BLANK}" in done.out
        assert "prioritizeVerb" not in done.out
    ends = ("--kubeconfig=scheduler.conf", "--secure-port=0", "--leader-elect-retry-period=0")
    done = podium(capsys, "run", "--policy-config-file=old.json", *ends)
    assert f"old.json: extenders[0].filterVerb: {BLANK}" in done.err


@pytest.mark.usefixtures("write")
def test_config_check_has_a_finding_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "config", "check", "scheduler.yaml", "policy.json")
    assert done.code == 0
    assert "line 6: leaderElection.LeaseDuration: LeaseDuration is an old spelling" in done.out
    assert "line 6: predicates[0].name: PodFitsHost is an old spelling" in done.out
    found = podium(capsys, "config", "check", "scheduler.yaml", "-o", "json").decoded()
    assert found["findings"] == [
        {
            "level": "old spelling",
            "path": "leaderElection.LeaseDuration",
            "line": 6,
            "text": "LeaseDuration is an old spelling",
            "remedy": "write leaseDuration",
        }
    ]
    done = podium(capsys, "config", "check", "scheduler.yaml", "policy.json", "--strict")
    assert done.code == 1
    assert "did you mean leaseDuration?" in done.out


@pytest.mark.usefixtures("write")
def test_convert_writes_what_there_is_today(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "config", "convert", "policy.json")
    assert "PodFitsHost" not in done.out
    assert len(warnings(done)) == 2
    done = podium(capsys, "config", "show", "scheduler.yaml")
    assert "  leaseDuration: 10s\n" in done.out
    assert len(warnings(done)) == 1


def test_simulate_places_pods_by_old_words(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    files = write(node("n1"), pod("p", nodeName=""))
    done = podium(capsys, "simulate", files, "--config", "policy.json", "-o", "json")
    assert placements(done) == {"p": "n1"}
    assert [line.partition(" is ")[0] for line in warnings(done)] == [
        "podium: warning: policy.json:6: predicates[0].name: PodFitsHost",
        "podium: warning: policy.json:9: predicates[1].name: noncriticalPredicates",
    ]
    assert podium(capsys, "simulate", files, "--config", "policy.json", "--strict").code == 2


def test_the_gate_of_before_switches_the_scores_of_today(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = write(node("n1"), pod("p"))
    (tmp_path / "capacity.yaml").write_text(CAPACITY)
    command = ("simulate", files, "--config", "capacity.yaml", "--feature-gates")
    done = podium(capsys, *command, "VolumeCapacityPriority=true")
    assert done.code == 0
    (warning,) = warnings(done)
    assert "VolumeCapacityPriority is gone since Kubernetes 1.33" in warning
    done = podium(capsys, *command, "VolumeCapacityPriority=false")
    assert done.code == 2
    assert "turn on the feature gate StorageCapacityScoring" in done.err
    done = podium(capsys, *command, "VolumeCapacityPriority=true", "--strict")
    assert done.code == 2
    assert "unrecognized feature gate: VolumeCapacityPriority; it is gone since" in done.err


# --- a whole file of an article ------------------------------------------------------------------

EXTENDER_ARTICLE = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: scheduler.conf
  acceptContentTypes: "application/json"
  contentType: "application/json"
  qps: 50
  burst: 10
parallelism: 16
percentageOfNodesToScore: 50
leaderElection:
  leaderElect: false
  LeaseDuration:  10s
  renewDeadline: 10s
  retryPeriod: 5s
  resourceLock:
  resourceName:
  resourceNamespace:
profiles:
  - schedulerName: multipoint-scheduler
    plugins:
      multiPoint:
        enabled:
        - name: MyPlugin1
      preScore:
        enabled:
        - name: MyPlugin
      score:
        enabled:
        - name: MyPlugin
          weight: 3
      preFilter:
        enabled:
        - name: MyPlugin
        disabled:
        - name: '*'
      filter:
        enabled:
        - name: MyPlugin
"""
OWN_PLUGINS = """\
import numpy as np
from podium.plugin import FilterPlugin, PreFilterPlugin, PreScorePlugin, ScorePlugin, indices


class MyPlugin(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    name = "MyPlugin"

    def pre_filter(self, cycle):
        return None

    def filter(self, cycle, rows):
        return None

    def pre_score(self, cycle, rows):
        return None

    def score(self, cycle, rows):
        return np.zeros(len(indices(rows)), dtype=np.int64)


class MyPlugin1(FilterPlugin):
    name = "MyPlugin1"

    def filter(self, cycle, rows):
        return None
"""


def test_the_file_of_an_article_places_pods_and_tells_why_kube_scheduler_would_not(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "extender.yaml").write_text(EXTENDER_ARTICLE)
    (tmp_path / "mine.py").write_text(OWN_PLUGINS)
    own = ("--plugin", "mine.py:MyPlugin", "--plugin", "mine.py:MyPlugin1")
    done = podium(capsys, "config", "check", "extender.yaml", *own, "-o", "json")
    assert done.code == 0
    levels = [(each["level"], each["line"]) for each in done.decoded()["findings"]]
    assert levels == [("old spelling", 13), ("warning", 33)]
    files = write(node("n1"), pod("p", schedulerName="multipoint-scheduler"))
    done = podium(capsys, "simulate", files, "--config", "extender.yaml", *own, "-o", "json")
    assert "kube-scheduler fails every pod" in done.err
    assert placements(done) == {"p": "n1"}
    assert len(warnings(done)) == 2


@pytest.mark.usefixtures("write")
def test_plugins_that_are_brought_along_exist_beside_other_mistakes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wrong.yaml").write_text(EXTENDER_ARTICLE.replace("parallelism", "paralelism"))
    (tmp_path / "mine.py").write_text(OWN_PLUGINS)
    own = ("--plugin", "mine.py:MyPlugin", "--plugin", "mine.py:MyPlugin1")
    done = podium(capsys, "config", "check", "wrong.yaml", *own)
    assert done.code == 1
    assert "did you mean parallelism?" in done.out
    assert "does not exist" not in done.out
