"""Regular expressions as RE2 defines them, in time linear in the text.

CEL promises RE2: no back-references, ASCII `\\d` and `\\w`, `$` at the very end, and no pattern
that can hang. Python's `re` breaks each of these promises, so patterns are parsed and run here.
"""

from functools import lru_cache

from podium.cel.re2.machine import Machine, assemble
from podium.cel.re2.syntax import PatternError, parse_pattern

__all__ = ["Machine", "PatternError", "compile_pattern"]


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Machine:
    return assemble(parse_pattern(pattern))
