"""Whole files against what the reference recorded, where that corpus stands next to the project."""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.config.known_plugins import in_tree

from podium.cli import main
from podium.config import (
    DEFAULT_GATES,
    FeatureGates,
    load_configuration,
)
from podium.config.examine import examine

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
PARITY = sorted((SHARED / "parity").glob("*.jsonl.gz"))
CASES = SHARED / "config-cases" / "cases.jsonl"

# A file system or a cluster would have to be asked; tests/cli/test_run_recorded.py does.
ABOUT_CLIENTS = frozenset({"kubeconfig-empty-string", "kubeconfig-missing", "no-client-connection"})
# Upstream's internal version; nobody writes it.
NOT_KEPT = frozenset({"api-version-internal"})
# Formats that upstream has dropped and Podium reads.
STILL_READ = frozenset({"api-version-v1beta2", "old-plugin-selectorspread"})


@pytest.mark.skipif(not PARITY, reason="the parity corpus is not here")
@pytest.mark.parametrize("family", PARITY, ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_every_configuration_of_the_parity_corpus_loads(family: Path) -> None:
    with gzip.open(family, "rt") as lines:
        cases = [json.loads(line) for line in lines]
    assert cases
    for case in cases:
        configuration = load_configuration(case["config"], source=case["name"])
        assert configuration.profiles


@cache
def recorded() -> tuple[dict[str, Any], ...]:
    if not CASES.exists():
        return ()
    return tuple(map(json.loads, CASES.read_text().splitlines()))


def within_reach() -> list[dict[str, Any]]:
    left_out = ABOUT_CLIENTS | STILL_READ
    return [case for case in recorded() if case["name"] not in left_out]


def named(case: dict[str, Any]) -> str:
    return str(case["name"])


def gates(case: dict[str, Any]) -> FeatureGates:
    flag = "--feature-gates="
    settings = ",".join(f.removeprefix(flag) for f in case["flags"] if f.startswith(flag))
    pairs = (setting.split("=") for setting in settings.split(",") if setting)
    return DEFAULT_GATES.with_overrides({name: value == "true" for name, value in pairs})


@pytest.mark.skipif(not recorded(), reason="the configuration corpus is not here")
@pytest.mark.parametrize("case", within_reach(), ids=named)
def test_a_recorded_case_ends_as_it_did_upstream(case: dict[str, Any]) -> None:
    found = examine(case["file"].encode(), in_tree(), gates(case))
    assert found.message == case["message"]
    assert found.errors[:1] == ([] if case["loads"] else [case["message"]])
    assert found.loads == case["loads"]
    assert found.expanded == case["expanded"]
    by_file = dict(found.effective or {})
    upstream = dict(case["effective"] or {})
    if "--leader-elect=false" in case["flags"]:
        del by_file["leaderElection"], upstream["leaderElection"]
    assert by_file == upstream


@pytest.mark.skipif(not recorded(), reason="the configuration corpus is not here")
@pytest.mark.parametrize("case", [c for c in within_reach() if c["loads"]], ids=named)
def test_a_recorded_effective_configuration_loads_to_itself(case: dict[str, Any]) -> None:
    text = json.dumps(case["effective"]).encode()
    found = examine(text, in_tree(), gates(case))
    assert found.effective == case["effective"]
    assert found.expanded == case["expanded"]


KUBECONFIG = """\
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: c
"""


def by_gates() -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """The cases that `podium config check` can be asked about, by the flags it takes."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for case in recorded():
        given = tuple(flag for flag in case["flags"] if flag.startswith("--feature-gates"))
        if case["name"] not in STILL_READ and "--master=http://127.0.0.1:1" not in case["flags"]:
            groups.setdefault(given, []).append(case)
    return groups


@pytest.mark.skipif(not recorded(), reason="the configuration corpus is not here")
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
