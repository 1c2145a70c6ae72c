"""Every recorded invocation of kube-scheduler through `podium run`.

Each runs in a directory of its own: what one has written must not be there for the next.
"""

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands.scheduler_process import Ended, Scheduler
from support.recorded_cases import PARTS, read_recorded, select_part

from podium.golang.quoting import go_quote

FREE_PORT = "18259"
WEIGHTED = ("Score", "PlacementScore")

# Formats and plugins that upstream has dropped and Podium reads.
STILL_READ = frozenset({"api-version-v1beta2", "old-plugin-selectorspread"})
# Upstream's internal version; nobody writes it.
NOT_KEPT = frozenset({"api-version-internal"})
# A flag that means nothing without another one.
INCOMPLETE = frozenset({"legacy-use-legacy-policy-config"})


Start = Callable[[str], Scheduler]


def flags_cases(*, legacy: bool) -> list[dict[str, Any]]:
    cases = read_recorded("config-flags")
    return [case for case in cases if case["name"].startswith("legacy-") == legacy]


def file_cases() -> list[dict[str, Any]]:
    left_out = STILL_READ | NOT_KEPT
    return [case for case in read_recorded("config-files") if case["name"] not in left_out]


@pytest.fixture
def scheduler_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Start:
    """A scheduler for a case, in a new directory."""

    def prepare(case: str) -> Scheduler:
        directory = tmp_path / case
        directory.mkdir()
        return Scheduler(directory, capsys, monkeypatch)

    return prepare


def ran(scheduler: Scheduler, arguments: list[str]) -> Ended:
    """The recorded port is only known to be free; tests at the same time need one each."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
    return scheduler.run(*(argument.replace(FREE_PORT, port) for argument in arguments))


@pytest.mark.parametrize("part", PARTS)
def test_recorded_invocations_end_as_they_did_upstream(scheduler_of: Start, part: int) -> None:
    cases = select_part(flags_cases(legacy=False), part)
    assert cases
    for case in cases:
        name = case["name"]
        ended = ran(scheduler_of(name), case["args"])
        assert ended.code == case["exit_code"], name
        assert ended.first_error == case["first_error"], name
        assert ("Usage:" in ended.err) == case["usage_printed"], name
        assert ended.lines("W") == case["warnings"], name
        assert (ended.out.partition("\n")[0] or None) == case["stdout_first_line"], name
        assert ended.effective == case["effective"], name


def test_flags_that_upstream_has_dropped_are_taken_with_a_warning(scheduler_of: Start) -> None:
    cases = flags_cases(legacy=True)
    assert cases
    for case in cases:
        name = case["name"]
        ended = ran(scheduler_of(name), case["args"])
        flag = case["first_error"].removeprefix("Error: unknown flag: ")
        (warning,) = ended.lines("W")
        assert warning.startswith(f"Flag {flag} has been deprecated, "), name
        assert ended.code == (1 if name in INCOMPLETE else 0), name
        assert (ended.written is None) == (name in INCOMPLETE), name


@pytest.mark.parametrize("part", PARTS)
def test_recorded_files_end_as_they_did_upstream(scheduler_of: Start, part: int) -> None:
    cases = select_part(file_cases(), part)
    assert cases
    for case in cases:
        name = case["name"]
        scheduler = scheduler_of(name)
        scheduler.write("FILE", case["file"])
        writes = ["--write-config-to", "OUT"] if case["mode"] == "write" else []
        flags = ["--config", "FILE", *writes, "--secure-port=0", "-v=2", *case["flags"]]
        ended = scheduler.run(*flags)
        assert ended.code == case["exit_code"], name
        assert ended.lines("E") == recorded_errors(case), name
        assert ended.lines("W") == case["warnings"], name
        assert ended.effective == case["effective"], name
        if case["expanded"] is not None:
            assert logged_plugins(ended) == case["expanded"], name


def recorded_errors(case: dict[str, Any]) -> list[str]:
    """The log line; where upstream's order is random, Podium's is that of the list."""
    if case["unordered"]:
        return [f'"command failed" err={go_quote(case["message"])}']
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
