"""A command line in pflag's forms, and pflag's refusals.

`--flag=value`, `--flag value`, `--switch`, `-v=2`, `-v2`, `-v 2`, several shorthands in one word,
`--` before positional arguments, which may also stand between flags. Underscores in names count as
dashes. Contract: the first thing that is wrong ends the parsing, with pflag's text.

Source: `github.com/spf13/pflag` v1.0.10, `flag.go`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from podium.golang.quoting import quoted, quoted_character
from podium.kubernetes.releases.release import Release, release
from podium.scheduler.config.flags.definitions import scheduler_flags
from podium.scheduler.config.flags.flag import Flag, by_name
from podium.scheduler.config.flags.legacy_definitions import LEGACY

_GO_TEST: Final = "test."


class FlagError(ValueError):
    """The command line cannot be understood; the text is pflag's."""


@dataclass(frozen=True, slots=True)
class ParsedFlags:
    """The values of all flags, the names of those that were given, and what is no flag."""

    values: Mapping[str, Any]
    given: tuple[str, ...]
    positional: tuple[str, ...]


@cache
def all_flags(known: Release) -> Mapping[str, Flag]:
    """The flags of a release's kube-scheduler, ours, and those of earlier releases."""
    return by_name((*scheduler_flags(known), LEGACY))


def parse_flags(arguments: Sequence[str], known: Release | None = None) -> ParsedFlags:
    """By the flags of the known release, or of the newest. Raises FlagError."""
    return _Parser(arguments, all_flags(known or release())).parsed()


class _Parser:
    """Takes words from the left, one flag at a time."""

    def __init__(self, arguments: Sequence[str], flags: Mapping[str, Flag]) -> None:
        self._flags = flags
        self._shorthands = {flag.shorthand: flag for flag in flags.values() if flag.shorthand}
        self._left = list(arguments)
        self._set: dict[str, Any] = {}
        self._positional: list[str] = []

    def parsed(self) -> ParsedFlags:
        while self._left:
            word = self._left.pop(0)
            if word == "--":
                self._positional.extend(self._left)
                break
            if word.startswith("--"):
                self._long(word)
            elif word.startswith("-") and word != "-":
                self._short(word[1:])
            else:
                self._positional.append(word)
        values = {name: flag.default for name, flag in self._flags.items()}
        values.update((name, value) for name, value in self._set.items() if value is not None)
        return ParsedFlags(values, tuple(self._set), tuple(self._positional))

    def _long(self, word: str) -> None:
        if word[2] in "-=":
            raise FlagError(f"bad flag syntax: {word}")
        name, equals, value = word[2:].partition("=")
        flag = self._flags.get(name.replace("_", "-"))
        if flag is None:
            raise FlagError(f"unknown flag: --{name}")
        if equals:
            self._take(flag, value)
        elif flag.kind.bare:
            self._take(flag, flag.kind.bare)
        elif self._left:
            self._take(flag, self._left.pop(0))
        else:
            raise FlagError(f"flag needs an argument: --{name}")

    def _short(self, letters: str) -> None:
        """One word of shorthands: switches may share it, a flag with a value ends it."""
        while letters and not letters.startswith(_GO_TEST):
            flag = self._shorthands.get(letters[0])
            if flag is None:
                # upstream: looks at the first byte only, whatever the letter.
                first = chr(letters.encode(errors="surrogateescape")[0])
                raise FlagError(f"unknown shorthand flag: {quoted_character(first)} in -{letters}")
            if len(letters) > 2 and letters[1] == "=":
                value, rest = letters[2:], ""
            elif flag.kind.bare:
                value, rest = flag.kind.bare, letters[1:]
            elif len(letters) > 1:
                value, rest = letters[1:], ""
            elif self._left:
                value, rest = self._left.pop(0), ""
            else:
                letter = quoted_character(letters[0])
                raise FlagError(f"flag needs an argument: {letter} in -{letters}")
            self._take(flag, value)
            letters = rest

    def _take(self, flag: Flag, text: str) -> None:
        try:
            self._set[flag.name] = flag.kind.read(text, self._set.get(flag.name))
        except ValueError as problem:
            raise FlagError(
                f"invalid argument {quoted(text)} for {quoted(flag.label)} flag: {problem}"
            ) from None
