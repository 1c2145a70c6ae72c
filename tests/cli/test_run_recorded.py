"""Every recorded invocation of kube-scheduler through `podium run`, where the corpus is at hand."""

import json
import socket
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.cli.scheduler_process import Ended, Scheduler

from podium.api.go_quoting import quoted

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "config-cases"
FREE_PORT = "18259"
WEIGHTED = ("Score", "PlacementScore")

# Formats and plugins that upstream has dropped and Podium reads.
STILL_READ = frozenset({"api-version-v1beta2", "old-plugin-selectorspread"})
# Upstream's internal version; nobody writes it.
NOT_KEPT = frozenset({"api-version-internal"})
# A flag that means nothing without another one.
INCOMPLETE = frozenset({"legacy-use-legacy-policy-config"})


@cache
def recorded(name: str) -> tuple[dict[str, Any], ...]:
    path = CORPUS / name
    return tuple(map(json.loads, path.read_text().splitlines())) if path.exists() else ()


def flags_cases(*, legacy: bool) -> list[dict[str, Any]]:
    cases = recorded("flags.jsonl")
    return [case for case in cases if case["name"].startswith("legacy-") == legacy]


def file_cases() -> list[dict[str, Any]]:
    left_out = STILL_READ | NOT_KEPT
    return [case for case in recorded("cases.jsonl") if case["name"] not in left_out]


def named(case: dict[str, Any]) -> str:
    return str(case["name"])


@pytest.fixture
def scheduler(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Scheduler:
    return Scheduler(tmp_path, capsys, monkeypatch)


def ran(scheduler: Scheduler, arguments: list[str]) -> Ended:
    """The recorded port is only known to be free; tests at the same time need one each."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
    return scheduler.run(*(argument.replace(FREE_PORT, port) for argument in arguments))


@pytest.mark.skipif(not recorded("flags.jsonl"), reason="the configuration corpus is not here")
@pytest.mark.parametrize("case", flags_cases(legacy=False), ids=named)
def test_a_recorded_invocation_ends_as_it_did_upstream(
    scheduler: Scheduler, case: dict[str, Any]
) -> None:
    ended = ran(scheduler, case["args"])
    assert ended.code == case["exit_code"]
    assert ended.first_error == case["first_error"]
    assert ("Usage:" in ended.err) == case["usage_printed"]
    assert ended.lines("W") == case["warnings"]
    assert (ended.out.partition("\n")[0] or None) == case["stdout_first_line"]
    assert ended.effective == case["effective"]


@pytest.mark.skipif(not recorded("flags.jsonl"), reason="the configuration corpus is not here")
@pytest.mark.parametrize("case", flags_cases(legacy=True), ids=named)
def test_a_flag_that_upstream_has_dropped_is_taken_with_a_warning(
    scheduler: Scheduler, case: dict[str, Any]
) -> None:
    ended = ran(scheduler, case["args"])
    flag = case["first_error"].removeprefix("Error: unknown flag: ")
    (warning,) = ended.lines("W")
    assert warning.startswith(f"Flag {flag} has been deprecated, ")
    assert ended.code == (1 if case["name"] in INCOMPLETE else 0)
    assert (ended.written is None) == (case["name"] in INCOMPLETE)


@pytest.mark.skipif(not recorded("cases.jsonl"), reason="the configuration corpus is not here")
@pytest.mark.parametrize("case", file_cases(), ids=named)
def test_a_recorded_file_ends_as_it_did_upstream(
    scheduler: Scheduler, case: dict[str, Any]
) -> None:
    scheduler.write("FILE", case["file"])
    writes = ["--write-config-to", "OUT"] if case["mode"] == "write" else []
    flags = ["--config", "FILE", *writes, "--secure-port=0", "-v=2", *case["flags"]]
    ended = scheduler.run(*flags)
    assert ended.code == case["exit_code"]
    assert ended.lines("E") == recorded_errors(case)
    assert ended.lines("W") == case["warnings"]
    assert ended.effective == case["effective"]
    if case["expanded"] is not None:
        assert logged_plugins(ended) == case["expanded"]


def recorded_errors(case: dict[str, Any]) -> list[str]:
    """The log line; where upstream's order is random, Podium's is that of the list."""
    if case["unordered"]:
        return [f'"command failed" err={quoted(case["message"])}']
    return ["\n".join(case["errors"])] if case["errors"] else []


def logged_plugins(ended: Ended) -> list[dict[str, list[Any]]]:
    """What runs at each point of every profile, from the log."""
    start = '"the scheduler starts to work with those plugins" Plugins='
    lines = [line.removeprefix(start) for line in ended.lines("I") if line.startswith(start)]
    return [
        {
            name[0].lower() + name[1:]: [
                [plugin["Name"], plugin["Weight"]] if name in WEIGHTED else plugin["Name"]
                for plugin in listed["Enabled"]
            ]
            for name, listed in json.loads(line).items()
            if listed["Enabled"]
        }
        for line in lines
    ]
