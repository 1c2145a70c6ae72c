"""Every engine that a test makes re-checks its invariants after each transition.

Those of `tests/bench` do not: where the time goes is what they look at.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import HealthCheck, settings
from support.user_code.plugin_files import Source

from podium.scheduler.engine import Engine

pytest_plugins = [
    "pytester",
    "support.suite.order",
    "support.suite.report",
    "support.suite.time_limit",
    "support.suite.young_garbage",
]

# How long an example takes says nothing on a machine that others use as well. The examples are the
# same each time, so that a change is judged by what it changes; PODIUM_LONG looks for others.
_LONG = bool(os.environ.get("PODIUM_LONG"))
for name, examples in (("quick", 40), ("thorough", 200)):
    settings.register_profile(
        name,
        deadline=None,
        derandomize=not _LONG,
        max_examples=examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("thorough" if _LONG else "quick")


@pytest.fixture(autouse=True)
def engines_validate(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.path.parent.name == "bench" or request.node.get_closest_marker("unvalidated"):
        return
    defaults = {**(Engine.__init__.__kwdefaults__ or {}), "validate": True}
    monkeypatch.setattr(Engine.__init__, "__kwdefaults__", defaults)


@pytest.fixture
def own_modules(tmp_path: Path) -> Iterator[None]:
    """What a test imports of its own files is gone after it."""
    path = list(sys.path)
    yield
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]
    sys.path[:] = path


@pytest.fixture
def source(tmp_path: Path) -> Source:
    def write(text: str, name: str = "rule.py") -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return str(path)

    return write
