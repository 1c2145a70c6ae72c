"""A copy of usage to try things on, kept beside the original instead of made anew.

A trial changes a few rows; copying all of them for it costs many times the trial. A shadow is
copied once and then follows: rows that changed in the original since, and rows that a trial has
touched, are made equal again before the next use.
"""

from collections.abc import Iterable

from podium.cluster.usage import Usage


class Shadow:
    def __init__(self, original: Usage) -> None:
        self._original = original
        self._twin: Usage | None = None
        self._seen = 0
        self._touched: set[int] = set()

    def usage(self) -> Usage:
        """The copy, equal to the original. Rows that are changed on it have to be `touch`ed."""
        self.follow()
        if self._twin is None:
            raise LookupError("a shadow that was never made")
        return self._twin

    def touch(self, rows: Iterable[int]) -> None:
        """Rows that are not what they are in the original any more."""
        self._touched.update(rows)

    def follow(self) -> set[int] | None:
        """Make the copy equal to the original; returns the rows that were not, None for all."""
        log = self._original.log
        changed = log.since(self._seen) if self._twin is not None else None
        self._seen = log.generation
        if self._twin is None or changed is None:
            self._twin = self._original.fork()
            self._touched.clear()
            return None
        rows = self._touched.union(changed)
        self._touched.clear()
        if rows:
            self._twin.reset_rows(sorted(rows), self._original)
        return rows
