"""No test knows how fast the machine is: what ruff's banned names cannot say about time.

Three things are looked for in every test: sleeping in an event loop whose time is real, patience
of less than a minute, and the time of the wall compared with anything. `tests/ruff.toml` bans the
clocks themselves. `support.waiting`, `support.yardstick` and `support.live.virtual_loop` are where
tests wait, measure, and let time pass.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ALLOWED = {TESTS / "support/waiting.py", TESTS / "support/live/virtual_loop.py"}
MIN_PATIENCE_S = 60
WAITING = {"communicate", "create_connection", "HTTPConnection", "join", "open", "run", "urlopen"}
"""Calls whose `timeout` is somebody's patience, as the second argument of `wait_for` is."""
VIRTUAL = ("driver", "cluster", "world")
"""What waits in virtual time."""


def find_clocks(source: str) -> Iterator[tuple[int, str]]:
    """Lines of a test that depend on how fast the machine is, with the reason."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name == "asyncio.sleep" and _number(node.args[0]) != 0:
                yield node.lineno, "sleeps: support.waiting waits, sleep_virtually passes time"
            for patience in _patience(name, node):
                if (number := _number(patience)) is not None and number < MIN_PATIENCE_S:
                    yield node.lineno, f"waits for {number} s: use PATIENCE_S of support.waiting"
        elif isinstance(node, ast.Compare) and any(
            isinstance(part, ast.Call) and ast.unparse(part.func) == "time.time"
            for part in ast.walk(node)
        ):
            yield node.lineno, "compares the time of the wall"


def _patience(name: str, call: ast.Call) -> Iterator[ast.expr]:
    """The arguments of a call that say how long it waits."""
    last = name.rpartition(".")[2]
    if last == "wait_for":
        yield from call.args[1:2]
    elif name == "asyncio.timeout" or (
        last in ("wait", "join") and name.split(".")[-2:-1] not in ([each] for each in VIRTUAL)
    ):
        yield from call.args[:1]
    if last in WAITING or last in ("wait", "wait_for"):
        yield from (each.value for each in call.keywords if each.arg == "timeout")


def _number(node: ast.expr) -> float | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    return None


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("asyncio.sleep(0)", False),
        ("asyncio.sleep(0.1)", True),
        ("asyncio.sleep(LOOK_S)", True),
        ("asyncio.wait_for(task, 10)", True),
        ("asyncio.wait_for(task, PATIENCE_S)", False),
        ("asyncio.wait([task], timeout=0.3)", True),
        ("asyncio.timeout(5)", True),
        ("process.wait(30)", True),
        ("process.communicate(timeout=30)", True),
        ("urlopen(url, timeout=600)", False),
        ("driver.wait(3)", False),
        ("', '.join(names)", False),
        ("assert time.time() - began < 3", True),
        ("clock.now = time.time()", False),
    ],
)
def test_what_depends_on_the_machine_is_found(line: str, *, found: bool) -> None:
    assert bool(list(find_clocks(line))) == found


def test_no_test_depends_on_how_fast_the_machine_is() -> None:
    found = [
        f"{path.relative_to(TESTS)}:{line}: {why}"
        for path in sorted(TESTS.rglob("*.py"))
        if path not in ALLOWED
        for line, why in find_clocks(path.read_text())
    ]
    assert found == []
