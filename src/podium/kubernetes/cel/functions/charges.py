"""What calls cost once their values are known.

The formulas are cel-go's and Kubernetes' (`interpreter/runtimecost.go`,
`apiserver/pkg/cel/library/cost.go`), in units. Where upstream's count leaves out work that takes
time here, it is added and the function says so: the units of a request bound its processor time.
A cost is called with the arguments and the result.
"""

from typing import Any

from podium.golang.regexp import PatternError, compile_pattern
from podium.kubernetes.cel.values import size_of

_CALL_AND_LIST = 11
_PARSE = 20
FAILED_PATTERN = 300
_COPIED_PER_UNIT = 50
"""Elements or characters that are copied in the time of a unit."""


def a_tenth(size: int) -> int:
    return -(-size // 10)


def reading(text: Any, *_: Any) -> int:
    """The first text once."""
    return a_tenth(len(text))


def parsing(*values: Any) -> int:
    """A text into a value of another kind.

    upstream counts its characters only, though Python takes microseconds for the shortest one.
    """
    texts = (len(value) for value in values if isinstance(value, str | bytes))
    return _PARSE + a_tenth(sum(texts))


def converting(value: Any, *_: Any) -> int:
    """upstream counts one unit, of texts too."""
    return 1 + len(value) // 5 if isinstance(value, str | bytes) else 1


def looking_up(*_: Any) -> int:
    """The parts of a moment; upstream counts one unit."""
    return _PARSE


def rewriting(text: str, *_: Any) -> int:
    """Character by character; upstream counts it as reading, which only ASCII is here."""
    return a_tenth(len(text)) if text.isascii() else len(text) // 3 + 1


def quoting(text: str, *_: Any) -> int:
    return len(text) // 3 + 1


def reading_twice(text: Any, *_: Any) -> int:
    return a_tenth(2 * len(text))


def joining(*values: Any) -> int:
    """upstream counts the result only, though every part has to be looked at."""
    return a_tenth(2 * len(values[-1])) + len(values[0]) // 2


def adding(left: Any, right: Any, *_: Any) -> int:
    if isinstance(left, str | bytes):
        return a_tenth(len(left) + len(right))
    return 1


def adding_lists(left: list[Any], right: list[Any], *_: Any) -> int:
    """upstream links the lists; here they are copied."""
    return 1 + (len(left) + len(right)) // _COPIED_PER_UNIT


def comparing(left: Any, right: Any, *_: Any) -> int:
    if isinstance(left, str | bytes) and isinstance(right, str | bytes):
        return a_tenth(min(len(left), len(right)))
    return 1


def finding(text: str, part: str, *_: Any) -> int:
    """`contains`: each character of one against each of the other."""
    return a_tenth(len(text)) * a_tenth(len(part))


def matching(text: str, pattern: str, *_: Any) -> int:
    """upstream guesses by its length what a pattern is made of: `a{1000}` counts as two parts."""
    guessed = a_tenth(1 + len(text)) * -(-len(pattern) // 4)
    try:
        instructions = compile_pattern(pattern).instructions
    except PatternError:
        return guessed + FAILED_PATTERN
    return max(guessed, len(text) * instructions // 10)


def compiling(pattern: str) -> int:
    """A pattern that is no literal, when it is first met; upstream counts nothing."""
    return FAILED_PATTERN + 3 * compile_pattern(pattern).instructions


def matching_all(text: str, pattern: str, *rest: Any) -> int:
    """upstream counts no result; here each match takes as long as ten units."""
    return matching(text, pattern) + 10 * len(rest[-1])


def replacing(text: str, *rest: Any) -> int:
    """upstream counts the text only, though the result may be much longer."""
    return reading_twice(text) + len(rest[-1]) // _COPIED_PER_UNIT


def splitting(text: str, *rest: Any) -> int:
    """upstream counts the text only; here each part is an object."""
    return reading_twice(text) + len(rest[-1]) // 2


def formatting(template: str, *rest: Any) -> int:
    """upstream counts the template only."""
    return a_tenth(len(template)) + len(rest[-1]) // 5


def traversing(value: Any, *_: Any) -> int:
    """Every element of a list, and every ten characters of the texts in it."""
    if isinstance(value, str | bytes):
        return len(value) // 10
    if isinstance(value, list):
        # upstream: a text of less than ten characters costs nothing; here it takes its time
        return sum(map(traversing, value)) + len(value)
    return 1


def making_list(*values: Any) -> int:
    return len(values[-1]) + _CALL_AND_LIST


def flattening(values: list[Any], *rest: Any) -> int:
    """upstream counts the outer list; the result may be much longer."""
    depth = rest[0] if len(rest) > 1 else 1
    return len(values) * min(depth, 1_000_000) + _CALL_AND_LIST + len(rest[-1])


def comparing_all(values: list[Any], *_: Any) -> int:
    """`sort` and `distinct`: each element with each."""
    factor = 2.1 if values and isinstance(values[0], str | bytes) else 2.0
    return int(len(values) ** 2 * factor) + _CALL_AND_LIST


def pairing(first: list[Any], second: list[Any], *_: Any) -> int:
    return 1 + len(first) * len(second)


def pairing_twice(first: list[Any], second: list[Any], *_: Any) -> int:
    return 1 + 2 * len(first) * len(second)


def sized(value: Any, *_: Any) -> int:
    return max(1, a_tenth(size_of(value)))
