"""Comprehensions as Python loops.

A list is walked element by element, a map key by key; macros with two variables get index and
element, or key and value. `all` and `exists` absorb the errors of their predicates like `&&` and
`||`, the other macros do not.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from podium.cel.errors import CelError, no_such_overload
from podium.cel.evaluation import METER, Code, Frame
from podium.cel.ordering import sorted_by_keys
from podium.cel.values import from_key, to_key

Steps = Callable[[Frame], Iterator[Any]]
"""Walks a range: sets the loop variables in the frame and yields the first of them."""


def steps_over(source: Code, positions: tuple[int, ...]) -> Steps:
    first = positions[0]
    second = positions[1] if len(positions) > 1 else -1

    def walk(frame: Frame) -> Iterator[Any]:
        found = source(frame)
        meter = frame[METER]
        pairs: Iterable[tuple[Any, Any]]
        if isinstance(found, dict):
            pairs = ((from_key(key), value) for key, value in found.items())
        elif type(found) is list:
            pairs = enumerate(found) if second >= 0 else ((item, None) for item in found)
        else:
            raise no_such_overload()
        for name, value in pairs:
            if meter is not None:
                meter.charge(2)
            frame[first] = name
            if second >= 0:
                frame[second] = value
            yield name

    return walk


def quantifier(steps: Steps, condition: Code, *, decisive: bool) -> Code:
    """`exists` (decided by a true) and `all` (decided by a false)."""
    neutral = not decisive

    def run(frame: Frame) -> bool:
        problem: CelError | None = None
        for _ in steps(frame):
            try:
                value = condition(frame)
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


def exists_one(steps: Steps, condition: Code) -> Code:
    def run(frame: Frame) -> bool:
        return sum(1 for _ in steps(frame) if _true(condition(frame))) == 1

    return run


def select_elements(steps: Steps, condition: Code) -> Code:
    """`filter`."""

    def run(frame: Frame) -> list[Any]:
        return [name for name in steps(frame) if _true(condition(frame))]

    return run


def make_list(steps: Steps, condition: Code | None, body: Code) -> Code:
    """`map` and `transformList`."""

    def run(frame: Frame) -> list[Any]:
        return [body(frame) for _ in steps(frame) if condition is None or _true(condition(frame))]

    return run


def make_map(steps: Steps, condition: Code | None, body: Code) -> Code:
    """`transformMap`: same keys, new values."""

    def run(frame: Frame) -> dict[Any, Any]:
        return {
            to_key(name): body(frame)
            for name in steps(frame)
            if condition is None or _true(condition(frame))
        }

    return run


def make_entries(steps: Steps, condition: Code | None, body: Code) -> Code:
    """`transformMapEntry`: each body is a map that is merged into the result."""

    def run(frame: Frame) -> dict[Any, Any]:
        merged: dict[Any, Any] = {}
        for _ in steps(frame):
            if condition is not None and not _true(condition(frame)):
                continue
            entries = body(frame)
            if not isinstance(entries, dict):
                raise no_such_overload()
            for key, value in entries.items():
                if key in merged:
                    raise CelError(f"insert failed: key {from_key(key)} already exists")
                merged[key] = value
        return merged

    return run


def _true(value: Any) -> bool:
    if type(value) is not bool:
        raise no_such_overload()
    return value


def sort_by(steps: Steps, body: Code) -> Code:
    """`sortBy`: the elements in the order of what the body says of them."""

    def run(frame: Frame) -> list[Any]:
        keyed = [(body(frame), name) for name in steps(frame)]
        return sorted_by_keys([key for key, _ in keyed], [name for _, name in keyed])

    return run
