"""Operators and comprehensions whose parts are evaluated only as far as needed, as closures.

`&&`, `||`, `?:`, `==`, `!=` and `in` as closures.

The logical operators absorb errors in both directions: one operand that decides the result wins
over another that fails. Comparisons with a literal on the right, the usual case, skip the general
test of kinds.

Comprehensions as Python loops. A list is walked element by element, a map key by key; macros with
two variables get index and element, or key and value. `all` and `exists` absorb the errors of their
predicates like `&&` and `||`, the other macros do not. Each turn is paid for before it is taken,
and again what only a turn whose condition holds costs (`chosen`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from podium.kubernetes.cel.errors import CelError, cost_exceeded, no_such_overload
from podium.kubernetes.cel.evaluation import METER, Code, Frame, Meter
from podium.kubernetes.cel.functions.operators import sorted_by_keys
from podium.kubernetes.cel.overload_calls import not_iterable
from podium.kubernetes.cel.values import (
    contains,
    count_parts,
    equal,
    from_key,
    not_equal,
    size_of,
    to_key,
)


def all_of(operands: Sequence[Code]) -> Code:
    return chain_terms(lambda _: operands, decisive=False)


def any_of(operands: Sequence[Code]) -> Code:
    return chain_terms(lambda _: operands, decisive=True)


def chain_terms(terms: Callable[[Frame], Iterable[Code]], *, decisive: bool) -> Code:
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


Steps = Callable[[Frame], Iterator[Any]]
"""Walks a range: sets the loop variables in the frame and yields the first of them."""


def steps_over(source: Code, positions: tuple[int, ...], turn: int) -> Steps:
    first = positions[0]
    second = positions[1] if len(positions) > 1 else -1

    def walk(frame: Frame) -> Iterator[Any]:
        found = source(frame)
        meter = frame[METER]
        pairs: Iterable[tuple[Any, Any]]
        if isinstance(found, dict):
            pairs = ((from_key(key), value) for key, value in found.items())
        elif type(found) is list:
            if second < 0:
                for item in found:
                    meter.left -= turn
                    if meter.left < 0:
                        raise cost_exceeded()
                    frame[first] = item
                    yield item
                return
            pairs = enumerate(found)
        else:
            raise not_iterable(found, in_pairs=second >= 0)
        for name, value in pairs:
            meter.left -= turn
            if meter.left < 0:
                raise cost_exceeded()
            frame[first] = name
            if second >= 0:
                frame[second] = value
            yield name

    return walk


def quantifier(steps: Steps, condition: Code, *, decisive: bool) -> Code:
    """`exists` (decided by a true) and `all` (decided by a false)."""
    return chain_terms(lambda frame: (condition for _ in steps(frame)), decisive=decisive)


def chosen_steps(steps: Steps, condition: Code | None, chosen: int) -> Steps:
    """Only those turns whose condition holds; `chosen` is what they cost more."""
    if condition is None:
        return steps

    def walk(frame: Frame) -> Iterator[Any]:
        meter = frame[METER]
        for name in steps(frame):
            holds = condition(frame)
            if holds is True:
                meter.charge(chosen)
                yield name
            elif holds is not False:
                raise no_such_overload()

    return walk


def exists_one(steps: Steps) -> Code:
    def run(frame: Frame) -> bool:
        return sum(1 for _ in steps(frame)) == 1

    return run


def select_elements(steps: Steps) -> Code:
    """`filter`."""

    def run(frame: Frame) -> list[Any]:
        return list(steps(frame))

    return run


def make_list(steps: Steps, body: Code) -> Code:
    """`map` and `transformList`."""

    def run(frame: Frame) -> list[Any]:
        return [body(frame) for _ in steps(frame)]

    return run


def make_map(steps: Steps, body: Code) -> Code:
    """`transformMap`: same keys, new values."""

    def run(frame: Frame) -> dict[Any, Any]:
        return {to_key(name): body(frame) for name in steps(frame)}

    return run


def make_entries(steps: Steps, body: Code) -> Code:
    """`transformMapEntry`: each body is a map that is merged into the result."""

    def run(frame: Frame) -> dict[Any, Any]:
        merged: dict[Any, Any] = {}
        meter = frame[METER]
        for _ in steps(frame):
            entries = body(frame)
            if not isinstance(entries, dict):
                raise no_such_overload()
            meter.charge(len(entries))
            for key, value in entries.items():
                if key in merged:
                    raise CelError(f"insert failed: key {from_key(key)} already exists")
                merged[key] = value
        return merged

    return run


def sort_by(steps: Steps, body: Code) -> Code:
    """`sortBy`: the elements in the order of what the body says of them."""

    def run(frame: Frame) -> list[Any]:
        keyed = [(body(frame), name) for name in steps(frame)]
        keys = [key for key, _ in keyed]
        frame[METER].charge(sorting_cost(keys))
        return sorted_by_keys(keys, [name for _, name in keyed])

    return run


def sorting_cost(keys: list[Any]) -> int:
    """What comparing all of them with each other costs."""
    factor = 2.1 if keys and isinstance(keys[0], str | bytes) else 2.0
    return int(len(keys) ** 2 * factor) + 11
