"""Outputs that nobody reads to the end, that are full, or that were never open."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands.command_line import EXAMPLE, Raw, node, pod, writer
from support.suite.requirements import BASH, DEV_FULL
from support.suite.slow_cases import few_of
from support.waiting import PATIENCE_S

PODIUM = f"{sys.executable} -m podium"
INPUT = " ".join(EXAMPLE)
CASE: Raw = {"name": "c", "objects": [node()], "steps": [{"pod": pod("p")}]}

PRINTING = {
    "--help": 0,
    "simulate --help": 0,
    f"simulate {INPUT}": 1,
    f"simulate {INPUT} -o json": 1,
    f"simulate {INPUT} -o yaml": 1,
    f"simulate {INPUT} --timeline --all": 1,
    f"explain web-0 {INPUT}": 0,
    f"explain web-0 {INPUT} -o json": 0,
    f"story web-0 {INPUT}": 0,
    "dump-command": 0,
    "config show": 0,
    "config points": 0,
    "completion bash": 0,
    "run --help": 0,
    "bench --list": 0,
    "simulate": 2,
}
REDIRECTED = {
    f"{command} {stream}": PRINTING[command]
    for stream in (">&-", "2>&-", "2> /dev/full")
    for command in (f"simulate {INPUT}", "config show", "simulate")
}

pytestmark = [
    BASH.skip_unless(shutil.which("bash")),
    DEV_FULL.skip_unless(Path("/dev/full").exists()),
]


def shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.parametrize("command", few_of(PRINTING, len(PRINTING)))
def test_the_exit_code_is_the_answers_when_the_reader_leaves(command: str) -> None:
    done = shell(f"{PODIUM} {command} | head -c 1 > /dev/null")
    assert done.returncode == PRINTING[command], done.stderr
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.parametrize("command", few_of(PRINTING, len(PRINTING)))
def test_a_full_disk_is_told_and_has_an_exit_code_of_its_own(command: str) -> None:
    done = shell(f"{PODIUM} {command} > /dev/full")
    if PRINTING[command] == 2:
        assert done.returncode == 2
        return
    assert done.returncode == 74, done.stderr
    last = "podium: standard output cannot be written: no space left on device\n"
    assert done.stderr.endswith(last)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("command", few_of(REDIRECTED, 4))
def test_streams_that_are_closed_or_full_do_not_change_the_answer(command: str) -> None:
    done = shell(f"{PODIUM} {command}")
    assert done.returncode == REDIRECTED[command], done.stderr
    assert "Traceback" not in done.stderr


def test_decided_cases_end_quietly_when_the_reader_leaves(tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    cases.write_text("".join(json.dumps(CASE) + "\n" for _ in range(50)))
    done = shell(f"{PODIUM} decide < {cases} | head -c 1 > /dev/null")
    assert (done.returncode, done.stderr) == (0, "")
    done = shell(f"{PODIUM} decide < {cases} > /dev/full")
    assert done.returncode == 74
    assert done.stderr == "podium: standard output cannot be written: no space left on device\n"


def test_a_file_that_an_option_names_and_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    workload = tmp_path / "workload.json"
    workload.write_text(json.dumps({"nodes": [node()], "pods": [pod("p")]}))
    done = shell(f"{PODIUM} bench --file {workload} --plot /dev/full")
    assert done.returncode == 2
    assert "/dev/full: cannot be written: no space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_large_answer_is_whole(tmp_path: Path) -> None:
    objects = writer(tmp_path)(node(cpu="900"), *(pod(f"p{n}") for n in range(300)))
    done = shell(f"{PODIUM} simulate -f {objects} -o json | cat")
    assert len(json.loads(done.stdout)["pods"]) == 300
