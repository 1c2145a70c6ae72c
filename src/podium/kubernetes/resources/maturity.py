"""Which of several versions of a group is the one to use: v2 before v1 before v1beta1."""

import re
from typing import Final

_VERSION: Final = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_STAGES: Final = (None, "beta", "alpha")


def maturity(version: str) -> tuple[int, int, int, str]:
    """A key by which the most mature version comes first; odd names come last."""
    found = _VERSION.fullmatch(version)
    if found is None:
        return len(_STAGES), 0, 0, version
    major, stage, minor = found.groups()
    return _STAGES.index(stage), -int(major), -int(minor or 0), ""
