"""Packages that take long to import, for tests at the top of which they would stand.

Every worker of a run imports every test. What only a few tests of a file need is imported when
the first of them uses it.
"""

from importlib import import_module
from typing import Any


class LateImport:
    """A package by its name, which is imported when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # pytest looks for marks of its own
            raise AttributeError(attribute)
        return getattr(import_module(self._name), attribute)
