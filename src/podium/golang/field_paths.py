"""Paths to fields inside an object, cheap to extend while walking and rendered only for errors.

A path is a chain of (parent path, key or index) pairs that ends in `ROOT`.
"""

import re
from typing import TypeAlias

Path: TypeAlias = "tuple[()] | tuple[Path, object]"
ROOT: Path = ()

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]+")


def render(path: Path) -> str:
    """The path as users write it; a key that is no plain name stands in brackets.

    >>> render((((ROOT, "spec"), "containers"), 0))
    'spec.containers[0]'
    >>> render((((ROOT, "metadata"), "labels"), "example.com/team"))
    'metadata.labels["example.com/team"]'
    """
    steps = []
    while path:
        path, step = path
        steps.append(step)
    text = "".join(_step(step) for step in reversed(steps))
    return text.removeprefix(".")


def join(path: str, below: str) -> str:
    """Two rendered paths, one below the other."""
    return f"{path}.{below}" if path and below and below[0] != "[" else path + below


def _step(step: object) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN_NAME.fullmatch(str(step)) else f'["{step}"]'
