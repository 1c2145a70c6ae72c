"""What is wrong with a configuration, in upstream's words.

Operators search for these texts and runbooks quote them, so a single problem reads
`path: Type: value: detail` exactly as kube-scheduler prints it, and several problems read
`[first, second]` without repetitions. Functions here make one problem each; whoever checks a
configuration collects them and raises a single `ConfigurationError` with all of them.
"""

import json
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any

import msgspec

from podium.api.errors import InputError
from podium.api.go_quoting import quoted

_ESCAPED_IN_JSON = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


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


def invalid(path: str, value: Any, detail: str) -> FieldProblem:
    return FieldProblem(path, f"Invalid value: {shown(value)}: {detail}")


def required(path: str, detail: str = "") -> FieldProblem:
    return FieldProblem(path, f"Required value: {detail}" if detail else "Required value")


def duplicate(path: str, value: Any) -> FieldProblem:
    return FieldProblem(path, f"Duplicate value: {shown(value)}")


def unsupported(path: str, value: str, supported: Sequence[str]) -> FieldProblem:
    choices = ", ".join(shown(choice) for choice in supported)
    return FieldProblem(path, f"Unsupported value: {shown(value)}: supported values: {choices}")


def forbidden(path: str, detail: str) -> FieldProblem:
    return FieldProblem(path, f"Forbidden: {detail}")


def shown(value: Any) -> str:
    """A value as it appears inside a message: strings quoted, all else Go's compact JSON."""
    if isinstance(value, str):
        return quoted(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPED_IN_JSON)


def joined(problems: Iterable[FieldProblem]) -> str:
    """The text of several problems: a single one stands bare, more are a list in brackets."""
    texts = list(dict.fromkeys(str(problem) for problem in problems))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
