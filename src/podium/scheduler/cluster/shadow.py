"""A copy of usage to try things on, kept beside the original instead of made anew.

A trial changes a few rows; copying all of them for it costs many times the trial. A shadow is
copied once and then follows: rows that changed in the original since are made equal again before
the next use. What a trial changes on it, the trial puts back.
"""

from podium.scheduler.cluster.usage import Usage


class Shadow:
    def __init__(self, original: Usage) -> None:
        self._original = original
        self._copy = original.fork()
        self._seen = original.log.generation

    @property
    def usage(self) -> Usage:
        """The copy, as it was when it last followed."""
        return self._copy

    def follow(self) -> set[int] | None:
        """Make the copy equal to the original; returns the rows that were not, None for all."""
        log = self._original.log
        changed = log.since(self._seen)
        self._seen = log.generation
        if changed is None:
            self._copy = self._original.fork()
            return None
        rows = set(changed)
        if rows:
            self._copy.reset_rows(sorted(rows), self._original)
        else:
            self._copy.grow()
        return rows
