"""A command line in pflag's forms, pflag's refusals, and the usage text.

`--flag=value`, `--flag value`, `--switch`, `-v=2`, `-v2`, `-v 2`, several shorthands in one word,
`--` before positional arguments, which may also be between flags. Underscores in names count as
dashes. Contract: the first thing that is wrong ends the parsing, with pflag's text.

Source: `github.com/spf13/pflag` v1.0.10, `flag.go`.

The usage text: every flag in its section, in pflag's columns. The first line of the help is the one
that scripts look for to recognise the scheduler; the rest is Podium's own. Lines are wrapped to
`columns`, or not at all if that is 0.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from podium.golang.quoting import go_quote, quoted_character
from podium.kubernetes.releases.feature_gates import FeatureGates, FeatureStage
from podium.kubernetes.releases.release import Release, release
from podium.scheduler.config.flags.definitions import (
    LEGACY,
    Flag,
    Section,
    by_name,
    scheduler_flags,
)
from podium.scheduler.config.flags.kinds import BOOL, STRING

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
    return _Parser(arguments, all_flags(known or release())).parse()


class _Parser:
    """Takes words from the left, one flag at a time."""

    def __init__(self, arguments: Sequence[str], flags: Mapping[str, Flag]) -> None:
        self._flags = flags
        self._shorthands = {flag.shorthand: flag for flag in flags.values() if flag.shorthand}
        self._left = list(arguments)
        self._set: dict[str, Any] = {}
        self._positional: list[str] = []

    def parse(self) -> ParsedFlags:
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
                f"invalid argument {go_quote(text)} for {go_quote(flag.label)} flag: {problem}"
            ) from None


_USE: Final = "Usage:\n  podium run [flags]\n"
_ABOUT: Final = """\
The Kubernetes scheduler is a control plane process which assigns
pods to nodes. This one is Podium: it takes the command line of kube-scheduler 1.36,
the flags of earlier releases included, and decides as kube-scheduler does.

It schedules the pods of the cluster that --kubeconfig, or clientConnection.kubeconfig
in the file of --config, leads to. `podium up` is a whole cluster to try it on,
`podium simulate` schedules offline, and `podium config` tells all about a configuration."""
_EMPTY: Final[tuple[Any, ...]] = ("", "0", 0, False, (), None)
_LEAST_WIDTH: Final = 24


def help_text(columns: int = 0) -> str:
    return f"{_ABOUT}\n\n{usage_text(columns)}"


def usage_text(columns: int = 0) -> str:
    sections = (*scheduler_flags(release()), LEGACY)
    return _USE + "".join(_section(section, columns) for section in sections)


def _section(section: Section, columns: int) -> str:
    rows = [(_name(flag), _help(flag)) for flag in section.flags]
    width = max(len(name) for name, _ in rows) + 3
    lines = [line for name, text in rows for line in _wrap_flag(name, text, width, columns)]
    return "\n".join((f"\n{section.title.capitalize()} flags:\n", *lines, ""))


def _name(flag: Flag) -> str:
    start = f"  -{flag.shorthand}, " if flag.shorthand else "      "
    return f"{start}--{flag.name} {flag.kind.type_name}".rstrip()


def _help(flag: Flag) -> str:
    text = flag.help
    shown = flag.default not in _EMPTY and flag.kind.shown(flag.default) not in ("", "[]", "false")
    if shown:
        default = flag.kind.shown(flag.default)
        text += f' (default "{default}")' if flag.kind is STRING else f" (default {default})"
    if flag.until:
        text += f" (until {flag.until})"
    if flag.name == "feature-gates":
        text = "\n".join((f"{text} Options are:", *_gate_options()))
    return text


def _gate_options() -> Iterator[str]:
    yield "kube:AllAlpha=true|false (ALPHA - default=false)"
    yield "kube:AllBeta=true|false (BETA - default=false)"
    for name, gate in FeatureGates().known.items():
        if gate.stage in (FeatureStage.ALPHA, FeatureStage.BETA):
            default = BOOL.shown(gate.default)
            yield f"kube:{name}=true|false ({gate.stage} - default={default})"


def _wrap_flag(name: str, text: str, width: int, columns: int) -> list[str]:
    room = columns - width
    lines = text.split("\n")
    if room >= _LEAST_WIDTH:
        lines = [piece for line in lines for piece in textwrap.wrap(line, room) or [""]]
    first, *others = lines
    return [f"{name:{width}}{first}", *(f"{'':{width}}{line}" for line in others)]
