"""What tests of commands with users' plugins need around them."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from plugin_files import Source

from podium.config.types import API_VERSION, KIND


@pytest.fixture
def wide_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


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


@pytest.fixture
def scheduler(tmp_path: Path) -> Callable[..., str]:
    """Writes a configuration of one profile."""

    def write_configuration(**profile: Any) -> str:
        path = tmp_path / "scheduler.yaml"
        raw = {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile]}
        path.write_text(yaml.safe_dump(raw))
        return str(path)

    return write_configuration
