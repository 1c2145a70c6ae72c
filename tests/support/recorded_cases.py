"""What was recorded of Kubernetes' own programs, as it is packed in `tests/recorded`.

Nothing is unpacked when tests are collected: parameters are names and numbers, and the first test
that needs an archive reads it for all others of its process. `tests/recorded/README.md` describes
the formats.
"""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any, Final

RECORDED: Final = Path(__file__).parents[1] / "recorded"
PARITY: Final = RECORDED / "parity-1.36"

PARTS: Final = tuple(range(6))
"""Parameters for tests that share out an archive, so that they can run beside each other."""


@cache
def read_recorded(archive: str) -> tuple[dict[str, Any], ...]:
    """All cases of an archive. They belong to all tests: change copies only."""
    with gzip.open(RECORDED / f"{archive}.jsonl.gz") as lines:
        return tuple(map(json.loads, lines))


def select_part(cases: list[dict[str, Any]], part: int) -> list[dict[str, Any]]:
    """The cases of one of `PARTS`; neighbours, which are alike, are in different ones."""
    return cases[part :: len(PARTS)]
