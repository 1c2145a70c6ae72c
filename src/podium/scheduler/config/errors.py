"""What is wrong with a configuration, in upstream's words, and what is worth a warning.

Operators search for these texts and runbooks quote them, so a single problem reads
`path: Type: value: detail` exactly as kube-scheduler prints it, and several problems read
`[first, second]` without repetitions. Functions here make one problem each out of the field errors
of the API, to which a remedy may be added; whoever checks a configuration collects them and raises
a single `ConfigurationError` with all of them.

What is to be said about a configuration that loads all the same. A mistake ends the loading, a note
tells of something without effect, and between the two is what a user should change: a name of
earlier times that is taken for the one of today, and plugins that cannot work as they are listed.
Each finding has its place, and what to write instead.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from enum import StrEnum

import msgspec

from podium.golang.errors import InputError
from podium.golang.json_values import ReadOnlyJson
from podium.kubernetes.rules import field_errors
from podium.kubernetes.rules.field_errors import FieldError, aggregate


class FieldProblem(msgspec.Struct, frozen=True):
    """One mistake: where it is, what it is and what would be right (or "").

    The path is empty when it has no single place.
    """

    path: str
    text: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.text}" if self.path else self.text


class ConfigurationError(InputError):
    """A configuration that cannot be used. `message` is upstream's text, `problems` its parts."""

    def __init__(
        self,
        message: str,
        problems: Iterable[FieldProblem] = (),
        *,
        source: str = "",
        remedy: str = "",
        line: int | None = None,
    ) -> None:
        super().__init__(message, source=source, remedy=remedy, line=line)
        self.message = message
        self.problems = tuple(problems) or (FieldProblem("", message),)

    def found_in(self, source: str, remedy: str = "") -> "ConfigurationError":
        """The same error with the file it is about, for whoever reads it."""
        found = copy(self)
        found.source = self.source or source
        found.remedy = self.remedy or remedy
        return found


def invalid(path: str, value: ReadOnlyJson, detail: str) -> FieldProblem:
    return problem_of(field_errors.invalid(path, value, detail))


def required(path: str, detail: str = "") -> FieldProblem:
    return problem_of(field_errors.required(path, detail))


def duplicate(path: str, value: ReadOnlyJson) -> FieldProblem:
    return problem_of(field_errors.duplicate(path, value))


def unsupported(path: str, value: str, supported: Sequence[str]) -> FieldProblem:
    return problem_of(field_errors.not_supported(path, value, supported))


def forbidden(path: str, detail: str) -> FieldProblem:
    return problem_of(field_errors.forbidden(path, detail))


def problem_of(error: FieldError) -> FieldProblem:
    """A field error as a mistake of a configuration, without a remedy yet."""
    return FieldProblem(error.path, error.body)


def join_problems(problems: Iterable[FieldProblem]) -> str:
    """The text of several problems: a single one stands bare, more are a list in brackets."""
    return aggregate(map(str, problems))


class Level(StrEnum):
    OLD_SPELLING = "old spelling"
    WARNING = "warning"


class ConfigFinding(msgspec.Struct, frozen=True):
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


def old_spelling(path: str, old: str, new: str) -> ConfigFinding:
    return ConfigFinding(Level.OLD_SPELLING, path, f"{old} is an old spelling", f"write {new}")
