"""`&&`, `||`, `?:`, `==`, `!=` and `in` as closures.

The logical operators absorb errors in both directions: one operand that decides the result wins
over another that fails. Comparisons with a literal on the right, the usual case, skip the general
test of kinds.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from podium.kubernetes.cel.errors import CelError, no_such_overload
from podium.kubernetes.cel.evaluation import METER, Code, Frame, Meter
from podium.kubernetes.cel.values import contains, count_parts, equal, not_equal, size_of, to_key


def all_of(operands: Sequence[Code]) -> Code:
    return absorbing(lambda _: operands, decisive=False)


def any_of(operands: Sequence[Code]) -> Code:
    return absorbing(lambda _: operands, decisive=True)


def absorbing(terms: Callable[[Frame], Iterable[Code]], *, decisive: bool) -> Code:
    """A chain of terms that the first decisive one ends; an error counts if none is."""
    neutral = not decisive

    def run(frame: Frame) -> bool:
        problem: CelError | None = None
        for term in terms(frame):
            try:
                value = term(frame)
            except CelError as found:
                problem = problem or found
                continue
            if value is decisive:
                return not neutral
            if value is not neutral:
                problem = problem or no_such_overload()
        if problem is not None:
            raise problem
        return neutral

    return run


def choice(condition: Code, then: Code, otherwise: Code) -> Code:
    def run(frame: Frame) -> Any:
        decided = condition(frame)
        if decided is True:
            return then(frame)
        if decided is False:
            return otherwise(frame)
        raise no_such_overload()

    return run


def equals(left: Code, right: Code) -> Code:
    def run(frame: Frame) -> bool:
        return equal(left(frame), right(frame))

    return run


def equals_metered(left: Code, right: Code, *, plain: bool) -> Code:
    """`==` of values of any size; `plain` ones are compared by Python, which is much faster."""

    def run(frame: Frame) -> bool:
        first, second = left(frame), right(frame)
        return _equal_metered(first, second, frame[METER], plain)

    return run


def differs_metered(left: Code, right: Code, *, plain: bool) -> Code:
    def run(frame: Frame) -> bool:
        first, second = left(frame), right(frame)
        try:
            return not _equal_metered(first, second, frame[METER], plain)
        except CelError:  # upstream: see `not_equal`
            return True

    return run


def _equal_metered(first: Any, second: Any, meter: Meter, plain: bool) -> bool:
    smaller = min(size_of(first), size_of(second))
    meter.charge(-(-smaller // 10))
    if plain:
        return bool(first == second)
    meter.charge(count_parts(first))
    return equal(first, second)


def equals_text(left: Code, text: str) -> Code:
    """Any value against a literal string: no other kind is ever equal to it."""

    def run(frame: Frame) -> bool:
        return bool(left(frame) == text)

    return run


def differs(left: Code, right: Code) -> Code:
    def run(frame: Frame) -> bool:
        return not_equal(left(frame), right(frame))

    return run


def is_in(element: Code, container: Code) -> Code:
    def run(frame: Frame) -> bool:
        value, found = element(frame), container(frame)
        if type(found) is list:
            return contains(value, found)
        if isinstance(found, dict):
            return _has_key(found, value)
        raise no_such_overload()

    return run


def is_in_metered(element: Code, container: Code, *, plain: bool) -> Code:
    def run(frame: Frame) -> bool:
        value, found = element(frame), container(frame)
        if type(found) is list:
            frame[METER].charge(len(found))
            if plain:
                return value in found
            frame[METER].charge(count_parts(found))
            return contains(value, found)
        if isinstance(found, dict):
            frame[METER].charge(1)
            return _has_key(found, value)
        raise no_such_overload()

    return run


def is_in_texts(element: Code, texts: frozenset[str]) -> Code:
    """`x in ["a", "b"]`."""

    def run(frame: Frame) -> bool:
        value = element(frame)
        return type(value) is str and value in texts

    return run


def _has_key(container: dict[Any, Any], value: Any) -> bool:
    try:
        return to_key(value) in container
    except CelError:
        return False
