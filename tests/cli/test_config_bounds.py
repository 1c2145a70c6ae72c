"""Hostile files cost little: `podium config check` in a process of its own, measured.

The bounds are 2 seconds of processor time beyond what a small file takes, and 200 MB.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

SIZE = 2 * 1024 * 1024 - 200
HEADER = b"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
OPEN = b'{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",'


def many(text: bytes, room: int = SIZE) -> bytes:
    return text * (room // len(text))


def numbered(form: str) -> bytes:
    lines = (form % number for number in range(SIZE // (len(form) + 4)))
    return "".join(lines).encode()[:SIZE]


SMALL_ENOUGH = {
    "profiles": OPEN + b'"profiles":[' + numbered('{"schedulerName":"a%d"},')[:9000] + b"{}]}",
    "plugins": OPEN
    + b'"profiles":[{"plugins":{"filter":{"enabled":['
    + b'{"name":"NodeNam"},' * 6000
    + b"{}]}}}]}",
    "unknown fields": OPEN + numbered('"paralelism%d":1,')[:300_000] + b'"x":1}',
    "merges": HEADER
    + b"".join(
        b"x%d: &x%d {<<: [%s], k%d: 1}\n"
        % (i, i, b", ".join(b"*x%d" % j for j in range(max(0, i - 3), i)), i)
        for i in range(2000)
    ),
}
HOSTILE = {
    "a list of texts": HEADER + b"profiles:\n" + many(b"- a\n"),
    "many keys": HEADER + numbered("k%07d: 1\n"),
    "empty objects": OPEN + b'"profiles":[' + many(b"{},") + b"{}]}",
    "many members": OPEN + numbered('"k%07d":1,') + b'"x":1}',
    "a long text": OPEN + b'"a":"' + many(b"x") + b'"}',
    "escapes": OPEN + b'"a":"' + many(rb"\u0061") + b'"}',
    "a long number": OPEN + b'"parallelism":' + many(b"9") + b"}",
    "a long number in YAML": HEADER + b"parallelism: " + many(b"9"),
    "brackets": many(b"["),
    "braces": many(b"{"),
    "quotation marks": b"{" + many(b'"'),
    "dashes": many(b"- "),
    "anchors": HEADER + numbered("a%d: &a x\n"),
    "aliases": HEADER + b"x: &x {a: 1}\nprofiles:\n" + many(b"- *x\n"),
    "bytes that are no text": many(b"\xff"),
    "zeros": many(b"\0"),
    "too much": many(b"#", 3 * SIZE),
    **SMALL_ENOUGH,
}


# What a process has needed is in its own status; what its parent sees includes the parent's size.
PROGRAM = """
import json, re, sys, time
from podium.cli import main
code = main(sys.argv[1:])
peak = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())
cost = {"cpu_s": time.process_time(), "memory_mb": int(peak[1]) / 1024, "code": code}
print(json.dumps(cost), file=sys.stderr)
"""


class Cost(NamedTuple):
    cpu_s: float
    memory_mb: float
    code: int


def checked(file: Path) -> Cost:
    """Run a check and see what it took."""
    arguments = ["config", "check", str(file), "-o", "json"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, check=True
    )
    assert json.loads(done.stdout)["loads"] in (True, False)
    return Cost(**json.loads(done.stderr))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Cost:
    file = tmp_path_factory.mktemp("small") / "small.yaml"
    file.write_bytes(HEADER)
    return checked(file)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is not told here")
@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_gets_its_answer_at_once(data: bytes, tmp_path: Path, small: Cost) -> None:
    file = tmp_path / "hostile.yaml"
    file.write_bytes(data)
    cost = checked(file)
    assert cost.code in (0, 1)
    assert cost.memory_mb < 200
    assert cost.cpu_s - small.cpu_s < 2
