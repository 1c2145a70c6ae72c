"""Regular expressions of schemas, which are written for Go and matched as Go matches them.

Whoever may create a definition chooses the expression, and whoever may create an object the text:
with an expression that goes back and forth (`^(a+)+$`) a few letters would stop the server for
good. RE2, the ancestor of Go's package, reads the same language and takes time in proportion to
the text.
"""

from functools import lru_cache
from typing import Any, Final

import re2

_OPTIONS: Final = re2.Options()
_OPTIONS.log_errors = False
_GO_WORDS: Final = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
}


class BadPattern(ValueError):
    """Not an expression; the text is Go's."""


def matches(pattern: str, text: str) -> bool:
    """Whether the text has a part that the expression describes; raises BadPattern."""
    return _compiled(pattern).search(text) is not None


def check_pattern(pattern: str) -> None:
    """Raises BadPattern."""
    _compiled(pattern)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    try:
        return re2.compile(pattern, _OPTIONS)
    except re2.error as problem:
        what, _, where = problem.args[0].decode("utf-8", "replace").partition(": ")
        told = _GO_WORDS.get(what, what)
        raise BadPattern(f"error parsing regexp: {told}: `{where}`") from None
