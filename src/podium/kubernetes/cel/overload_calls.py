"""Calls of functions as closures: which overload runs, and who pays for its work.

Where the types of the arguments leave one overload it is called without a further look; elsewhere
the values decide. Calls whose work depends on their values pay for it after they have run, also
when they fail.

What is said when a call meets values that no overload of its function takes. Attributes of devices
have a type only at run time, so a selector that compiled can still ask a number for its first
letter. The texts are cel-go's: most functions name themselves and the types they met; operators
name themselves when the first value has no such operation at all.
"""

from collections.abc import Sequence
from typing import Any

from podium.golang.regexp import PatternError, TooLarge
from podium.kubernetes.cel.errors import CelError, cost_exceeded, no_such_overload
from podium.kubernetes.cel.evaluation import METER, Code, Frame, constant
from podium.kubernetes.cel.library import FAILED_PATTERN, Overload, pattern_compile_cost
from podium.kubernetes.cel.values import Opaque, type_name


def fold(overloads: list[Overload], literals: list[Any]) -> Code:
    overload = _pick(overloads, literals)
    try:
        return constant(overload.run(*literals))
    except CelError as problem:
        text = str(problem)

        def fail(_: Frame) -> Any:
            raise CelError(text)

        return fail


def _pick(overloads: list[Overload], values: list[Any]) -> Overload:
    for overload in overloads:
        if overload.fits(values):
            return overload
    raise mismatch(overloads[0].function, values)


def call_certain(overload: Overload, codes: list[Code]) -> Code:
    """The argument types leave one overload and no doubt."""
    run = overload.run
    if len(codes) == 1:
        (only,) = codes
        return lambda frame: run(only(frame))
    if len(codes) == 2:
        first, second = codes
        return lambda frame: run(first(frame), second(frame))
    return lambda frame: run(*[code(frame) for code in codes])


def call_open(overloads: list[Overload], codes: list[Code]) -> Code:
    """The overload depends on the values."""

    def call(frame: Frame) -> Any:
        values = [code(frame) for code in codes]
        return _pick(overloads, values).run(*values)

    return call


def call_metered(overloads: list[Overload], codes: list[Code], *, certain: bool) -> Code:
    only = overloads[0]

    def call(frame: Frame) -> Any:
        values = [code(frame) for code in codes]
        overload = only if certain else _pick(overloads, values)
        try:
            result = overload.run(*values)
        except CelError:
            # An operator may absorb the error, but not the work that it took to find it.
            frame[METER].charge(overload.cost(*values, ""))
            raise
        frame[METER].charge(overload.cost(*values, result))
        return result

    return call


def meter_pattern(code: Code) -> Code:
    """A pattern that is known at run time only has to be compiled then."""

    def run(frame: Frame) -> Any:
        pattern = code(frame)
        if type(pattern) is str:
            try:
                frame[METER].charge_once(pattern, pattern_compile_cost)
            except TooLarge:
                raise cost_exceeded() from None
            except PatternError as problem:
                frame[METER].charge(FAILED_PATTERN + len(pattern))
                raise CelError(str(problem)) from None
        return pattern

    return run


_ARITHMETIC = frozenset({"_+_", "_-_", "_*_", "_/_", "_%_"})
_COMPARISONS = frozenset({"_<_", "_<=_", "_>_", "_>=_", "-_"})
_NAMELESS = frozenset(
    {"!_", "@in", "startsWith", "endsWith", "contains", "matches", "find", "findAll"}
)


def mismatch(function: str, values: Sequence[Any]) -> CelError:
    """The error of a call that no overload fits."""
    if function in _NAMELESS:
        return no_such_overload()
    if function in _ARITHMETIC or function in _COMPARISONS:
        first = values[0]
        lacking = isinstance(first, Opaque | dict) or (
            isinstance(first, bool) and function in _ARITHMETIC
        )
        return CelError(f"no such overload: {function}") if lacking else no_such_overload()
    if function == "size":
        return CelError("no such overload: size")
    met = ", ".join(map(type_name, values))
    return CelError(f"no such overload: {function}({met})")


def not_iterable(value: Any, *, in_pairs: bool) -> CelError:
    """The error of a loop over what is neither a list nor a map; the text shows Go's types."""
    name = type_name(value).rpartition(".")[2]
    package = "cel" if isinstance(value, Opaque) else "types"
    found = f"{package}.{name[:1].upper()}{name[1:]}"
    if in_pairs:
        return CelError(f"unsupported comprehension range type: {found}")
    return CelError(f"got '{found}', expected iterable type")
