"""A flag that is taken does something, or the documentation says that it does not."""

import dataclasses
import re
from pathlib import Path

import pytest

import podium
from podium.scheduler.config.flags.options import Options

PACKAGE = Path(podium.__file__).parent
DIFFERENCES = PACKAGE.parents[1] / "docs" / "differences.md"
NOT_READERS = ("options.py", "definitions.py")
"""Where flags are named without being read."""


def flags() -> list[str]:
    """The fields of every section of the command line."""
    sections = (field.type for field in dataclasses.fields(Options))
    return sorted(
        field.name
        for section in sections
        if isinstance(section, type) and dataclasses.is_dataclass(section)
        for field in dataclasses.fields(section)
    )


@pytest.fixture(scope="module")
def sources() -> str:
    files = (path for path in PACKAGE.rglob("*.py") if not path.name.endswith(NOT_READERS))
    return "\n".join(path.read_text() for path in files)


def test_there_are_flags_to_look_at() -> None:
    assert len(flags()) > 60


@pytest.mark.parametrize("name", flags())
def test_a_flag_is_read_or_documented_as_having_no_effect(name: str, sources: str) -> None:
    flag = name.replace("_", "-")
    # Flags with a field in the configuration are read through the table of precedence.
    read = re.search(rf"\.{name}\b", sources) or f'"{flag}"' in sources
    assert read or f"`--{flag}`" in DIFFERENCES.read_text()
