"""What a run of the tests tells at its end: where the time went, what was skipped and how to enable
it, and how to run each failed test alone with the same random choices."""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from shlex import quote
from typing import Final

import pytest
from support.suite.order import SEED_OPTION
from support.suite.requirements import SEPARATOR

SLOWEST_FILES: Final = 10
MAX_ALONE: Final = 20
# What decides a random choice somewhere: the environment of a run, as far as it was set.
SEEDS: Final = ("PODIUM_SEED", "PODIUM_LONG", "PYTHONHASHSEED")


def sum_by_file(reports: Iterable[pytest.TestReport]) -> dict[str, tuple[float, int]]:
    """Seconds and number of tests of each file, set-up and teardown included."""
    seconds: defaultdict[str, float] = defaultdict(float)
    tests: defaultdict[str, set[str]] = defaultdict(set)
    for report in reports:
        file = report.nodeid.partition("::")[0]
        seconds[file] += report.duration
        tests[file].add(report.nodeid)
    return {file: (seconds[file], len(tests[file])) for file in seconds}


def describe_slowest(reports: Iterable[pytest.TestReport]) -> Iterator[str]:
    by_file = sum_by_file(reports)
    total = sum(seconds for seconds, _ in by_file.values())
    ranked = sorted(by_file.items(), key=lambda each: -each[1][0])
    for file, (seconds, tests) in ranked[:SLOWEST_FILES]:
        yield f"{seconds:7.1f} s  {seconds / (total or 1):5.1%}  {tests:5} tests  {file}"
    yield f"{total:7.1f} s  in all, over {len(by_file)} files"


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a test was skipped, without the words that pytest puts before it."""
    where = report.longrepr
    text = where[2] if isinstance(where, tuple) else str(where)
    return text.removeprefix("Skipped: ")


def describe_skips(reports: Iterable[pytest.TestReport | pytest.CollectReport]) -> Iterator[str]:
    for reason, count in Counter(reason_of(report) for report in reports).most_common():
        missing, _, enable = reason.partition(SEPARATOR)
        yield f"{count:5}  {missing}" + (f"; to run them: {enable}" if enable else "")


def command_alone(test: str, order_seed: str | None) -> str:
    """The command that runs one test with the random choices of this run."""
    seeds = [f"{name}={quote(os.environ[name])}" for name in SEEDS if os.environ.get(name)]
    order = [f"{SEED_OPTION}={order_seed}"] if order_seed else []
    return " ".join([*seeds, ".venv/bin/pytest", *order, quote(test)])


def _tests(reports: Sequence[object]) -> list[pytest.TestReport]:
    return [report for report in reports if isinstance(report, pytest.TestReport)]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    stats = terminalreporter.stats
    if config.option.collectonly:
        return
    finished = [report for reports in stats.values() for report in _tests(reports)]
    if finished:
        terminalreporter.section("where the time went")
        for line in describe_slowest(finished):
            terminalreporter.write_line(line)
    skipped = stats.get("skipped", [])
    if skipped:
        terminalreporter.section("skipped")
        for line in describe_skips(skipped):
            terminalreporter.write_line(line)
    failed = [*_tests(stats.get("failed", [])), *_tests(stats.get("error", []))]
    if failed:
        terminalreporter.section("to run a failed test alone")
        tests = list(dict.fromkeys(report.nodeid for report in failed))
        for test in tests[:MAX_ALONE]:
            terminalreporter.write_line(command_alone(test, config.getoption(SEED_OPTION)))
        if len(tests) > MAX_ALONE:
            terminalreporter.write_line(f"and {len(tests) - MAX_ALONE} more")
