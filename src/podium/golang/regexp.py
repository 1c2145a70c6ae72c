"""Regular expressions as Go reads them, matched by RE2, the ancestor of Go's package.

RE2 takes time in proportion to the text, never more; but in proportion to the expression as well:
`a{1000}c` looks at a thousand places for each character. Whoever may write an expression or a text
chooses both, so what an expression is made of (`instructions`) is known, and callers bound the
product. An expression that would become too large is refused.

Go and the library agree on the language but for the escape `\\C`, a single byte, and for the words
in which they refuse an expression; those are Go's here.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import re2

MAX_PATTERN_LENGTH: Final = 10_000
_OPTIONS: Final = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.max_mem = 1 << 20
_CACHED: Final = 96
"""Each may take the megabyte of `max_mem`."""
_TOO_LARGE: Final = "error parsing regexp: expression too large"
_SINGLE_BYTE: Final = re.compile(r"(?<!\\)(?:\\\\)*\\C")
_QUOTED: Final = re.compile(r"\\Q.*?(?:\\E|$)", re.DOTALL)
_NO_NAME: Final = "invalid named capture group"
_GO_WORDS: Final = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    _NO_NAME: "invalid named capture",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "trailing \\": "trailing backslash at end of expression",
}


class PatternError(ValueError):
    """Not an expression; the text is Go's."""


class TooLarge(PatternError):
    """An expression that would take too much memory."""


class Pattern:
    """A compiled expression."""

    __slots__ = ("_program", "instructions")

    def __init__(self, program: Any) -> None:  # type: ignore[explicit-any]  # re2 has no types
        self._program = program
        self.instructions: int = program.programsize

    def matches(self, text: str) -> bool:
        """Whether the expression describes a part of the text."""
        return self._program.search(text) is not None

    def find(self, text: str) -> str | None:
        """The leftmost part that it describes."""
        found = self._program.search(text)
        return None if found is None else str(found.group())

    def find_all(self, text: str, limit: int) -> Iterator[str]:
        """Parts that do not overlap; all of them if the limit is negative.

        As in Go, an empty part right behind another is left out.
        """
        behind = -1
        for found in self._program.finditer(text):
            if limit == 0:
                return
            if found.start() == found.end() == behind:
                continue
            behind = found.end()
            limit -= 1
            yield str(found.group())


@lru_cache(maxsize=_CACHED)
def compile_pattern(pattern: str) -> Pattern:
    """Raises PatternError."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise TooLarge(_TOO_LARGE)
    try:
        program = re2.compile(pattern, _OPTIONS)
    except re2.error as problem:
        raise _refusal(pattern, problem.args[0].decode("utf-8", "replace")) from None
    if "\\C" in pattern and _SINGLE_BYTE.search(_QUOTED.sub("", pattern)):
        raise PatternError("error parsing regexp: invalid escape sequence: `\\C`")
    return Pattern(program)


def _refusal(pattern: str, told: str) -> PatternError:
    """What Go says of an expression, from what the library says."""
    if told.startswith("pattern too large"):
        return TooLarge(_TOO_LARGE)
    what, _, where = told.partition(": ")
    words = _GO_WORDS.get(what, what)
    if where in ("(?<=", "(?<!"):  # Go takes what follows for a name
        begin = pattern.index(where)
        words, where = _GO_WORDS[_NO_NAME], pattern[begin : pattern.find(">", begin) + 1 or None]
    elif words == "invalid repeat count":
        where = where.removesuffix("?")
    elif what == "invalid UTF-8" and "\\x{" in pattern:
        words, where = "invalid escape sequence", pattern[pattern.rindex("\\x{") :]
    return PatternError(f"error parsing regexp: {words}: `{where}`")
