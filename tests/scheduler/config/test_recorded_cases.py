"""Whole configuration files against what was recorded of kube-scheduler."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.recorded_cases import PARITY, PARTS, read_recorded, select_part
from support.scheduler.config.known_plugins import in_tree

from podium.commands import main
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.parity.cases import read_case_file
from podium.scheduler.config.examine import examine
from podium.scheduler.config.load import load_configuration

# A file system or a cluster would have to be asked; tests/commands/test_run_recorded.py does.
ABOUT_CLIENTS = frozenset({"kubeconfig-empty-string", "kubeconfig-missing", "no-client-connection"})
# Formats that upstream has dropped and Podium reads.
STILL_READ = frozenset({"api-version-v1beta2", "old-plugin-selectorspread"})


def within_reach(part: int) -> list[dict[str, Any]]:
    left_out = ABOUT_CLIENTS | STILL_READ
    cases = [case for case in read_recorded("config-files") if case["name"] not in left_out]
    return select_part(cases, part)


def gates(case: dict[str, Any]) -> FeatureGates:
    flag = "--feature-gates="
    settings = ",".join(f.removeprefix(flag) for f in case["flags"] if f.startswith(flag))
    pairs = (setting.split("=") for setting in settings.split(",") if setting)
    return FeatureGates().with_overrides({name: value == "true" for name, value in pairs})


def test_every_configuration_of_the_parity_corpus_loads() -> None:
    distinct = {
        json.dumps(case.config, sort_keys=True): case
        for path in sorted(PARITY.glob("*.jsonl.gz"))
        for case in read_case_file(path)
    }
    assert len(distinct) > 1
    for case in distinct.values():
        assert load_configuration(case.config, source=case.name, gates=FeatureGates()).profiles


@pytest.mark.parametrize("part", PARTS)
def test_recorded_files_end_as_they_did_upstream(part: int) -> None:
    cases = within_reach(part)
    assert cases
    for case in cases:
        name = case["name"]
        found = examine(case["file"].encode(), in_tree(), gates(case))
        assert found.message == case["message"], name
        assert found.errors[:1] == ([] if case["loads"] else [case["message"]]), name
        assert found.loads == case["loads"], name
        assert found.expanded == case["expanded"], name
        by_file = dict(found.effective or {})
        upstream = dict(case["effective"] or {})
        if "--leader-elect=false" in case["flags"]:
            del by_file["leaderElection"], upstream["leaderElection"]
        assert by_file == upstream, name


@pytest.mark.parametrize("part", PARTS)
def test_recorded_effective_configurations_load_to_themselves(part: int) -> None:
    cases = [case for case in within_reach(part) if case["loads"]]
    assert cases
    for case in cases:
        name = case["name"]
        text = json.dumps(case["effective"]).encode()
        found = examine(text, in_tree(), gates(case))
        assert found.effective == case["effective"], name
        assert found.expanded == case["expanded"], name


KUBECONFIG = """\
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: c
"""


def by_gates() -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """The cases that `podium config check` can be asked about, by the flags it takes."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for case in read_recorded("config-files"):
        given = tuple(flag for flag in case["flags"] if flag.startswith("--feature-gates"))
        if case["name"] not in STILL_READ and "--master=http://127.0.0.1:1" not in case["flags"]:
            groups.setdefault(given, []).append(case)
    return groups


def test_all_recorded_files_are_checked_in_a_few_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "KUBECONFIG").write_text(KUBECONFIG)
    for flags, cases in by_gates().items():
        for number, case in enumerate(cases):
            (tmp_path / f"{number}").write_bytes(case["file"].encode())
        files = [str(number) for number in range(len(cases))]
        main(["config", "check", "--output", "json", "--files", "all", *flags, *files])
        answers = json.loads(capsys.readouterr().out)
        for answer, case in zip(answers.get("items", [answers]), cases, strict=True):
            assert answer["loads"] == case["loads"], case["name"]
            assert answer["message"] == case["message"], case["name"]
            assert answer["expanded"] == case["expanded"], case["name"]
            if not any(flag.startswith("--leader-elect") for flag in case["flags"]):
                assert answer["effective"] == case["effective"], case["name"]
