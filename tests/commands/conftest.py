"""What tests of commands with users' plugins need around them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from podium.scheduler.config.types import API_VERSION, KIND


@pytest.fixture
def wide_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def scheduler(tmp_path: Path) -> Callable[..., str]:
    """Writes a configuration of one profile."""

    def write_configuration(**profile: Any) -> str:
        path = tmp_path / "scheduler.yaml"
        raw = {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile]}
        path.write_text(yaml.safe_dump(raw))
        return str(path)

    return write_configuration
