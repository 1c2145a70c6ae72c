"""Files of recorded cases that are none: told in a line, whatever is in them."""

import gzip
import json
from pathlib import Path

import pytest
from support.commands.command_line import podium

DEEP = '{"a":' * 3000 + "1" + "}" * 3000
LESS_DEEP = '{"a":' * 300 + "1" + "}" * 300


def case_of(part: str, value: str) -> str:
    pod = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}'
    parts = {
        "config": f'"config":{value}',
        "objects": f'"objects":[{value}]',
        "pod": f'"steps":[{{"pod":{value}}}]',
        "expect": f'"steps":[{{"pod":{pod},"expect":{value}}}]',
        "unknown": f'"unknown":{value}',
    }
    return f'{{"name":"x",{parts[part]}}}\n'


@pytest.mark.parametrize("value", [DEEP, LESS_DEEP], ids=["deep", "less deep"])
@pytest.mark.parametrize("part", ["config", "objects", "pod", "expect"])
def test_deeply_nested_cases_are_refused_with_their_line(
    part: str, value: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text("\n" + case_of(part, value))
    done = podium(capsys, "parity", str(path))
    assert (done.code, done.out) == (2, "")
    assert done.err == f"podium: {path}: line 2: nested more than 100 levels deep\n"


def test_fields_that_nobody_reads_may_be_deep_as_long_as_they_can_be_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(case_of("unknown", LESS_DEEP))
    assert podium(capsys, "parity", str(path)).code == 0


def test_a_line_without_an_end_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("podium.parity.cases.MAX_CASE_BYTES", 1024 * 1024)
    path = tmp_path / "cases.jsonl.gz"
    path.write_bytes(gzip.compress(b" " * 3_000_000))
    done = podium(capsys, "parity", str(path))
    assert done.code == 2
    assert done.err == f"podium: {path}: line 1: the line is larger than 1 MiB\n"


def test_a_broken_archive_is_told_in_a_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "cases.jsonl.gz"
    whole = bytearray(gzip.compress(json.dumps({"name": "x" * 1000}).encode()))
    whole[12:16] = b"\xff\xff\xff\xff"
    path.write_bytes(bytes(whole))
    done = podium(capsys, "parity", str(path))
    assert done.code == 2
    assert done.err.startswith(f"podium: {path}: cannot be read: ")
    assert done.err.count("\n") == 1
