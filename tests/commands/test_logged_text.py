"""Logs of what others wrote: a record begins a line, and nothing in it begins another."""

import io
import json
import logging

import pytest
from support.commands.hostile_text import FORGED, HOSTILE

from podium.commands.line_logging import LineFormatter, guard_last_resort
from podium.commands.processes.kube_log import KubeLog
from podium.golang.quoting import escape_unprintable, go_quote
from podium.scheduler.config.flags.options import options_of
from podium.scheduler.config.flags.parser import parse_flags

_RECORD = "E1115 12:00:00.000000    1234 run.py:72] forged"
TEXTS = {**HOSTILE, "record": f"x\n{_RECORD}"}


def raised(text: str) -> ValueError:
    try:
        raise ValueError(text)
    except ValueError as problem:
        return problem


def logger(name: str, formatter: logging.Formatter) -> tuple[logging.Logger, io.StringIO]:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(formatter)
    made = logging.Logger(name)
    made.addHandler(handler)
    return made, written


def assert_one_record(written: str, indent: str) -> None:
    first, *more = written.removesuffix("\n").split("\n")
    assert first.isprintable()
    assert all(line.removeprefix(indent).isprintable() for line in more)
    assert all(line.startswith(indent) for line in more)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_record_is_one_line_and_tracebacks_are_indented(text: str) -> None:
    log, written = logger("x", LineFormatter("%(levelname)s %(message)s"))
    log.warning("GET %s", text)
    assert written.getvalue() == f"WARNING GET {escape_unprintable(text)}\n"
    log.error("crashed", exc_info=raised(text))
    assert_one_record(written.getvalue().split("\n", 1)[1], "  ")


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_values_of_the_scheduler_s_log_are_quoted(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log = KubeLog()
    log.error("failed", err=text.replace("\n", "\r"), pods=[text])
    first, second = capsys.readouterr().err.split("] ", 1)[1].split(" pods=")
    assert first == f'"failed" err={go_quote(text.replace(chr(10), chr(13)))}'
    assert second.removesuffix("\n").isprintable()
    assert json.loads(second) == [text]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_no_text_begins_a_record_of_the_scheduler_s_log(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log = KubeLog()
    log.warn(text)
    assert_one_record(capsys.readouterr().err, "never")
    log.error("failed", err=f"first\n{text}")
    first, *inner, last, _ = capsys.readouterr().err.split("\n")
    assert first.endswith('"failed" err=<')
    assert last == " >"
    assert all(line[0] == "\t" and line[1:].isprintable() for line in inner)
    with log.taking_over("podium.test"):
        logging.getLogger("podium.test").error("crash of %s", text, exc_info=raised(text))
    assert_one_record(capsys.readouterr().err, "\t")


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_scheduler_s_log_in_json_means_the_same_and_has_no_controls(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log = KubeLog(options_of(parse_flags(["--logging-format=json"])).logs)
    log.error(text, err=text)
    written = capsys.readouterr().err.removesuffix("\n")
    assert written.isprintable()
    assert json.loads(written)["msg"] == json.loads(written)["err"] == text


def test_warnings_of_commands_without_a_log_are_lines_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    guard_last_resort()
    assert logging.lastResort is not None
    record = logging.LogRecord("x", logging.WARNING, "", 1, "asking %s", (FORGED,), None)
    logging.lastResort.handle(record)
    assert capsys.readouterr().err == "asking x\\npodium: all pods fit\n"
