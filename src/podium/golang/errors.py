"""The errors a user can cause with a file or an object, worded for that user, and the root of all.

Whoever uses Podium as a library and wants to catch whatever it refuses catches `PodiumError`.

Contract: the text of such an error says where the problem is, what it is and what would be right,
on one line, and makes sense without a traceback. `InputError` knows the file; `ObjectError` is
raised where only the object is at hand and becomes an `InputError` once its document is known.
"""

from collections.abc import Sequence
from difflib import get_close_matches


class PodiumError(Exception):
    """Something that Podium cannot do, for a reason that is not a mistake of its own."""


class InputError(PodiumError):
    """Something in a user's input is wrong.

    >>> str(InputError("is missing", source="pods.yaml", document=2, line=14, path="metadata.name"))
    'pods.yaml: document 2 (line 14): metadata.name: is missing'
    """

    def __init__(
        self,
        problem: str,
        *,
        source: str = "",
        document: int | None = None,
        path: str = "",
        line: int | None = None,
        remedy: str = "",
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.source = source
        self.document = document
        self.path = path
        self.line = line
        self.remedy = remedy

    @property
    def place(self) -> str:
        """Where it is: file, document, line and field, as far as they are known."""
        spot = "" if self.document is None else f"document {self.document}"
        if self.line is not None:
            spot = f"{spot} (line {self.line})" if spot else f"line {self.line}"
        return ": ".join(part for part in (self.source, spot, self.path) if part)

    @property
    def lines(self) -> tuple[str, ...]:
        """The error for people, a line for each problem; a newline within one is not ours."""
        return (_sentence(self.place, self.problem, self.remedy),)

    def __str__(self) -> str:
        return "\n".join(self.lines)


class ObjectError(PodiumError):
    """An object is not what its kind demands; `path` leads to the field, "" is the object."""

    def __init__(self, path: str, problem: str, remedy: str = "") -> None:
        super().__init__(path, problem, remedy)
        self.path = path
        self.problem = problem
        self.remedy = remedy
        self.others: tuple[ObjectError, ...] = ()
        """What else is wrong with the same object, for who wants to tell all of it."""

    def __str__(self) -> str:
        return _sentence(self.path, self.problem, self.remedy)


def raise_first(wrong: Sequence[ObjectError]) -> None:
    """Raise the first of some problems of one object, which carries the others; none, none."""
    if wrong:
        wrong[0].others = (*wrong[0].others, *wrong[1:])
        raise wrong[0]


class UnknownKind(ObjectError):
    """The object is of a kind scheduling does not read; in a dump of a cluster most are.

    `suggestion` names the kind that was probably meant, "" when the kind resembles none: a caller
    that passes over foreign kinds should still refuse what looks like a slip of the pen.
    """

    def __init__(self, api_version: str, kind: str, suggestion: str = "") -> None:
        super().__init__(
            "kind",
            f"{kind} ({api_version}) is not a kind that scheduling reads",
            did_you_mean(suggestion),
        )
        self.api_version = api_version
        self.kind = kind
        self.suggestion = suggestion


def closest(word: str, known: Sequence[str], cutoff: float = 0.7) -> str:
    """The known word that `word` was probably meant to be, or ""; letter case is forgiven first."""
    folded = {candidate.lower(): candidate for candidate in known}
    matches = get_close_matches(word.lower(), folded, n=1, cutoff=cutoff)
    return folded[matches[0]] if matches else ""


def did_you_mean(suggestion: str) -> str:
    return f"did you mean {suggestion}?" if suggestion else ""


def _sentence(place: str, problem: str, remedy: str) -> str:
    text = f"{place}: {problem}" if place else problem
    return f"{text}; {remedy}" if remedy else text
