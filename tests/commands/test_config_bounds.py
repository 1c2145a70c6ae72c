"""Hostile files cost little: `podium config check` in a process of its own, measured.

Work is counted in yardsticks (`support.yardstick`) beyond what a small file takes; memory beyond
what that takes, too.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from support.suite.requirements import PROC

TESTS = Path(__file__).parents[1]
MAX_YARDSTICKS = 100
"""The most that any file takes is 21."""
MAX_MEMORY_MB = 200
"""The most that any file takes is 47."""
SIZE = 2 * 1024 * 1024 - 200
HEADER = b"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
OPEN = b'{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",'


def many(text: bytes, room: int = SIZE) -> bytes:
    return text * (room // len(text))


def numbered(form: str) -> bytes:
    lines = (form % number for number in range(SIZE // (len(form) + 4)))
    return "".join(lines).encode()[:SIZE]


def merging() -> bytes:
    """Maps that take over the three before them."""
    lines = [HEADER]
    for i in range(2000):
        before = b", ".join(b"*x%d" % j for j in range(max(0, i - 3), i))
        lines.append(b"x%d: &x%d {<<: [%s], k%d: 1}\n" % (i, i, before, i))
    return b"".join(lines)


HOSTILE: dict[str, Callable[[], bytes]] = {
    "a list of texts": lambda: HEADER + b"profiles:\n" + many(b"- a\n"),
    "many keys": lambda: HEADER + numbered("k%07d: 1\n"),
    "empty objects": lambda: OPEN + b'"profiles":[' + many(b"{},") + b"{}]}",
    "many members": lambda: OPEN + numbered('"k%07d":1,') + b'"x":1}',
    "a long text": lambda: OPEN + b'"a":"' + many(b"x") + b'"}',
    "escapes": lambda: OPEN + b'"a":"' + many(rb"\u0061") + b'"}',
    "a long number": lambda: OPEN + b'"parallelism":' + many(b"9") + b"}",
    "a long number in YAML": lambda: HEADER + b"parallelism: " + many(b"9"),
    "brackets": lambda: many(b"["),
    "braces": lambda: many(b"{"),
    "quotation marks": lambda: b"{" + many(b'"'),
    "dashes": lambda: many(b"- "),
    "anchors": lambda: HEADER + numbered("a%d: &a x\n"),
    "aliases": lambda: HEADER + b"x: &x {a: 1}\nprofiles:\n" + many(b"- *x\n"),
    "bytes that are no text": lambda: many(b"\xff"),
    "zeros": lambda: many(b"\0"),
    "too much": lambda: many(b"#", 3 * SIZE),
    "merges": merging,
    "profiles": lambda: (
        OPEN
        + b'"profiles":['
        + b",".join(b'{"schedulerName":"a%d"}' % i for i in range(200))
        + b"]}"
    ),
    "plugins": lambda: (
        OPEN
        + b'"profiles":[{"plugins":{"filter":{"enabled":['
        + b'{"name":"NodeNam"},' * 6000
        + b"{}]}}}]}"
    ),
    "unknown fields": lambda: (
        OPEN + b"".join(b'"paralelism%d":1,' % i for i in range(15_000)) + b'"x":1}'
    ),
}

# What a process has needed is in its own status; what its parent sees includes the parent's size.
PROGRAM = """
import json, re, sys
sys.path.append(sys.argv[1])
from support.yardstick import measure_work
from podium.commands import main
code, yardsticks = measure_work(lambda: main(sys.argv[2:]))
peak = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())
cost = {"yardsticks": yardsticks, "memory_mb": int(peak[1]) / 1024, "code": code}
print(json.dumps(cost), file=sys.stderr)
"""


class Cost(NamedTuple):
    yardsticks: float
    memory_mb: float
    code: int


def checked(file: Path) -> Cost:
    """Run a check and see what it took."""
    arguments = ["config", "check", str(file), "-o", "json"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(TESTS), *arguments], capture_output=True, check=True
    )
    assert json.loads(done.stdout)["loads"] in (True, False)
    return Cost(**json.loads(done.stderr))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Cost:
    file = tmp_path_factory.mktemp("small") / "small.yaml"
    file.write_bytes(HEADER)
    return checked(file)


@pytest.mark.slow
@PROC.skip_unless(Path("/proc/self/status").exists())
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_gets_its_answer_at_once(name: str, tmp_path: Path, small: Cost) -> None:
    file = tmp_path / "hostile.yaml"
    file.write_bytes(HOSTILE[name]())
    cost = checked(file)
    assert cost.code in (0, 1)
    assert cost.memory_mb - small.memory_mb < MAX_MEMORY_MB
    assert cost.yardsticks - small.yardsticks < MAX_YARDSTICKS
