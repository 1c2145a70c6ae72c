"""`podium config`: checks, the effective configuration, the table of plugins."""

import io
import json
from pathlib import Path

import pytest
import yaml

from podium.commands import main

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
CUSTOM = (
    HEADER
    + """\
parallelism: 8
profiles:
- schedulerName: "on"
  plugins:
    score:
      enabled:
      - name: ImageLocality
        weight: 7
- schedulerName: "0o17"
"""
)
BROKEN = (
    HEADER
    + """\
paralelism: 8
podInitialBackoffSeconds: 0
profiles:
- plugins:
    score:
      enabled:
      - nam: ImageLocality
  percentageOfNodesToScore: 101
"""
)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "good.yaml").write_text(CUSTOM)
    (tmp_path / "bad.yaml").write_text(BROKEN)
    return tmp_path


def test_check_says_yes_to_a_good_file(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check", str(files / "good.yaml")]) == 0
    assert "loads, 2 profiles: on, 0o17" in capsys.readouterr().out


def test_check_tells_all_mistakes_with_lines_and_remedies(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "check", str(files / "good.yaml"), str(files / "bad.yaml")]) == 1
    out = capsys.readouterr().out
    assert "4 problems" in out
    assert "line 3: paralelism: unknown field" in out
    assert "did you mean parallelism?" in out
    assert "line 9: profiles[0].plugins.score.enabled[0].nam: unknown field" in out
    assert "line 10: profiles[0].percentageOfNodesToScore: Invalid value: 101" in out
    assert "line 4: podInitialBackoffSeconds: Invalid value: 0" in out


def test_check_in_json_has_upstream_s_message(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "check", str(files / "bad.yaml"), "--output", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["loads"] is False
    assert document["message"] == (
        'strict decoding error: unknown field "paralelism", '
        'unknown field "profiles[0].plugins.score.enabled[0].nam"'
    )
    assert document["errors"] == [document["message"]]
    assert [problem["line"] for problem in document["problems"]] == [3, 9, 10, 4]
    assert document["effective"] is None
    assert document["expanded"] is None


def test_check_in_json_of_several_files_is_a_list(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [str(files / name) for name in ("good.yaml", "bad.yaml", "gone.yaml")]
    assert main(["config", "check", *names, "-o", "json"]) == 2
    documents = json.loads(capsys.readouterr().out)["items"]
    assert [document["file"] for document in documents] == names
    assert [document["loads"] for document in documents] == [True, False, False]
    assert documents[0]["expanded"][0]["score"][0] == ["ImageLocality", 7]
    assert documents[2]["errors"] == ["cannot be read: no such file or directory"]


def test_a_plugin_that_does_not_exist_gets_a_suggestion(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(HEADER + "profiles: [{plugins: {filter: {enabled: [{name: NodeNam}]}}}]\n")
    assert main(["config", "check", str(file)]) == 1
    out = capsys.readouterr().out
    assert 'FilterPlugin "NodeNam" does not exist' in out
    assert "did you mean NodeName?" in out


def test_what_show_prints_loads_to_the_same(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "show", str(files / "good.yaml")]) == 0
    first = capsys.readouterr().out
    (files / "again.yaml").write_text(first)
    assert main(["config", "show", str(files / "again.yaml")]) == 0
    assert capsys.readouterr().out == first
    names = [profile["schedulerName"] for profile in yaml.safe_load(first)["profiles"]]
    assert names == ["on", "0o17"]


def test_show_diff_has_only_what_differs(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "show", str(files / "good.yaml"), "--diff"]) == 0
    out = capsys.readouterr().out
    assert "-parallelism: 16\n+parallelism: 8\n" in out
    assert "podMaxBackoffSeconds: 11" not in out
    assert main(["config", "show", "--diff"]) == 0
    assert capsys.readouterr().out == ""


def test_show_refuses_what_does_not_load(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "show", str(files / "bad.yaml")]) == 2
    assert "bad.yaml: strict decoding error" in capsys.readouterr().err


def test_points_shows_weights_and_the_gates_count(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "points", str(files / "good.yaml")]) == 0
    out = capsys.readouterr().out
    assert "score               ImageLocality 7, TaintToleration 3" in out
    gates = "GenericWorkload=true,GangScheduling=true"
    assert main(["config", "points", "-o", "json", "--feature-gates", gates]) == 0
    (profile,) = json.loads(capsys.readouterr().out)["items"]
    assert profile["schedulerName"] == "default-scheduler"
    assert profile["points"]["permit"] == ["GangScheduling"]


def test_an_older_file_loads_with_a_note_and_converts_with_its_losses_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "old.yaml"
    file.write_text(HEADER.replace("/v1", "/v1beta1"))
    assert main(["config", "check", str(file)]) == 0
    assert "see podium config convert" in capsys.readouterr().out
    assert main(["config", "convert", str(file)]) == 1
    out = capsys.readouterr().out
    assert "# lost: profiles[0].plugins: NodePreferAvoidPods is gone" in out
    file.write_text(out)
    assert main(["config", "check", str(file)]) == 0
    assert main(["config", "convert", str(file)]) == 0
    assert capsys.readouterr().out.count("# ") == 0


def test_a_configuration_comes_from_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(CUSTOM.encode()))
    monkeypatch.setattr("sys.stdin", stdin)
    assert main(["config", "check", "-"]) == 0
    assert "loads, 2 profiles" in capsys.readouterr().out


def test_a_file_whose_name_is_no_text_is_answered_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path(str(tmp_path / "x") + "\udcff.yaml")
    file.write_text(HEADER)
    assert main(["config", "check", str(file), "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["file"].endswith("x\ufffd.yaml")


def test_an_old_spelling_is_told_of_beside_a_plugin_that_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\n"
        "kind: KubeSchedulerConfiguration\n"
        "leaderElection: {leaderElect: false, LeaseDuration: 15s}\n"
        "profiles: [{plugins: {score: {enabled: [{name: Nope}]}}}]\n"
    )
    assert main(["config", "check", str(file)]) == 1
    out = capsys.readouterr().out
    assert 'ScorePlugin "Nope" does not exist' in out
    assert "LeaseDuration is an old spelling" in out
