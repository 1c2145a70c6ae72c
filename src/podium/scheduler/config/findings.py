"""What is to be said about a configuration that loads all the same.

A mistake ends the loading, a note tells of something without effect, and between the two is what a
user should change: a name of earlier times that is taken for the one of today, and plugins that
cannot work as they are listed. Each finding has its place, and what to write instead.
"""

from enum import StrEnum

import msgspec


class Level(StrEnum):
    OLD_SPELLING = "old spelling"
    WARNING = "warning"


class Finding(msgspec.Struct, frozen=True):
    """One thing to change. `line` is None where there is no text to count in."""

    level: Level
    path: str
    text: str
    remedy: str
    line: int | None = None

    @property
    def sentence(self) -> str:
        return f"{self.path}: {self.text}" if self.path else self.text

    def warning(self, source: str = "") -> str:
        """All of it in one line, for logs and standard error."""
        place = ":".join(str(part) for part in (source, self.line) if part)
        return f"{place}: {self.whole}" if place else self.whole

    @property
    def whole(self) -> str:
        return f"{self.sentence}; {self.remedy}" if self.remedy else self.sentence


def old_spelling(path: str, old: str, new: str) -> Finding:
    return Finding(Level.OLD_SPELLING, path, f"{old} is an old spelling", f"write {new}")
