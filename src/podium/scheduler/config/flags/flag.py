"""What there is to know about a flag.

Definitions are data: the parser, the usage text and the typed options all read the same tables.
A flag with `idle` is understood and changes nothing here; the text says why, and is told when the
flag is used.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from podium.scheduler.config.flags.kinds import Kind


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag; `until` is the last release that had a legacy one."""

    name: str
    kind: Kind
    default: Any
    help: str
    shorthand: str = ""
    idle: str = ""
    until: str = ""

    @property
    def label(self) -> str:
        """How messages call it."""
        return f"-{self.shorthand}, --{self.name}" if self.shorthand else f"--{self.name}"


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    flags: tuple[Flag, ...]


def by_name(sections: tuple[Section, ...]) -> Mapping[str, Flag]:
    return {flag.name: flag for section in sections for flag in section.flags}
