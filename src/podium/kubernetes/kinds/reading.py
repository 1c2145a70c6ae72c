"""Raw data read into Structs, for what msgspec does not do while it decodes.

msgspec decodes quickly and says little: its errors leave out map keys, it skips unknown fields
without a word, and it refuses a null wherever the type has none, where Kubernetes reads one as
"not set". What it does not take is read by `podium.golang.decoding` with the shapes of the Structs.

Errors here are worded for people, with a remedy: they are about objects that no API server would be
sent as they are, such as those of a dump, of custom kinds and of Podium's own files. What a server
would be sent is refused in its words (`kubernetes/schema/decoding.py`), with the same remedies.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from podium.golang.arithmetic import INT64_MAX, INT64_MIN
from podium.golang.decoding import GoReader, UntakenError
from podium.golang.errors import ObjectError, closest, did_you_mean
from podium.golang.json_values import DecodedValue
from podium.golang.mistakes import (
    NUMBERS,
    ROOT,
    Mistake,
    Path,
    StrictProblem,
    Way,
    render,
    steps_of,
)
from podium.golang.shapes import Form, ListOf, Scalar, Shape, StructShapes
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.rules.quantity import QuantityError, nano

SHAPES: Final = StructShapes()
_STATUS: Final = "status"
_MAX_ADVICE: Final = 5
_NOUNS: Final = {
    Form.STRING: "a string",
    Form.TIME: "a string",
    Form.MICRO_TIME: "a string",
    Form.BYTES: "a string",
    Form.BOOL: "true or false",
    Form.INT_OR_STRING: "an integer or a string",
    Form.QUANTITY: "a quantity",
    Form.FLOAT: "a number",
}
_QUANTITY_REMEDY: Final = "write a quantity such as 500m, 2 or 1Gi"


class RawReading(NamedTuple):
    """`settled` is raw data without nulls and unknown fields; what is wrong with it counts more."""

    settled: DecodedValue
    wrong: list[ObjectError]
    unknown: list[ObjectError]


def read_raw(raw: object, struct: type[KubeStruct], at: Path = ROOT) -> RawReading:
    """Raw data that should be a Struct; `at` is where it is in its object."""
    found = _READER.read(SHAPES.struct(struct), raw, _way_of(at))
    wrong = [
        ObjectError(render(each.path), _problem(each), remedy_of(each, ""))
        for each in found.mistakes
    ]
    return RawReading(found.value, wrong, unknown_fields(found.strict))


def unknown_fields(found: Iterable[StrictProblem], *, in_go: bool = False) -> list[ObjectError]:
    """Fields that do not exist, or are there twice, with what was probably meant; with `in_go` as
    Go tells them. The status is written by programs, newer ones included: nothing in it is a typo.
    """
    return [
        ObjectError(render(each.field_path), each.text if in_go else each.problem, remedy)
        for each, remedy in _with_remedies(found)
    ]


def advice_on(found: Iterable[StrictProblem]) -> str:
    """The remedies for some such fields of one object, in one line."""
    told = [(each.path, remedy) for each, remedy in _with_remedies(found)]
    if len(told) == 1:
        return told[0][1]
    return ", ".join(f"{path}: {remedy}" for path, remedy in told[:_MAX_ADVICE])


def is_in_status(way: Way) -> bool:
    """Whether a field is in the status of an object."""
    return next(reversed(list(steps_of(way))), None) == _STATUS


def _with_remedies(found: Iterable[StrictProblem]) -> Iterable[tuple[StrictProblem, str]]:
    for each in found:
        if is_in_status(each.way):
            continue
        if each.struct is None or each.name in each.struct.fields:
            yield each, "remove one of the two"
            continue
        known = sorted(each.struct.unread.union(each.struct.fields))
        yield each, did_you_mean(closest(each.name, known)) or "remove it, or check its indentation"


def _way_of(path: Path) -> Way:
    if not path:
        return None
    above, step = path
    return (_way_of(above), step if isinstance(step, int) else str(step), None)


# --- words --------------------------------------------------------------------------------------


def remedy_of(mistake: Mistake, otherwise: str | None = None) -> str:
    """What would be right in place of a value, if the mistake is a common one; else `otherwise`, or
    of what type the value should be."""
    found, wanted = mistake.value, mistake.shape
    form = wanted.form if isinstance(wanted, Scalar) else None
    if form is Form.STRING and isinstance(found, bool | int | float):
        return "put the value in quotes"
    if form in NUMBERS and isinstance(found, str) and found.removeprefix("-").isdigit():
        return f"write {found} without quotes"
    if form is Form.BOOL and isinstance(found, str):
        return "write true or false without quotes"
    if isinstance(wanted, ListOf) and isinstance(found, Mapping):
        return 'start each entry with "- "'
    if otherwise is not None:
        return otherwise
    if form is Form.QUANTITY:
        return _QUANTITY_REMEDY
    if mistake.own_text or (form in NUMBERS and _is_integer(found)):
        return ""
    return f"write {noun_of(wanted)}"


def noun_of(shape: Shape) -> str:
    if isinstance(shape, Scalar):
        return _NOUNS.get(shape.form, "an integer")
    return "a list" if isinstance(shape, ListOf) else "an object"


def describe_value(found: object) -> str:
    """A value as a user would name it."""
    match found:
        case None:
            return "null"
        case bool():
            return "true" if found else "false"
        case int() | float():
            return f"the number {_short(str(found))}"
        case str():
            return f'the string "{_short(found)}"'
        case Mapping():
            return "an object"
    return "a list"


def _make_error(mistake: Mistake) -> ObjectError:
    return ObjectError(render(mistake.path), _problem(mistake), remedy_of(mistake, ""))


def _problem(mistake: Mistake) -> str:
    form = mistake.shape.form if isinstance(mistake.shape, Scalar) else None
    if mistake.own_text:
        return mistake.own_text
    if form in (Form.INT64, Form.INT_OR_STRING) and _is_integer(mistake.value):
        return "the number does not fit 64 bits"
    return f"expected {noun_of(mistake.shape)}, got {describe_value(mistake.value)}"


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."


# --- types that decode themselves ---------------------------------------------------------------


def _read_quantity(value: DecodedValue) -> DecodedValue:
    if value.__class__ not in (str, int, float):
        raise UntakenError
    try:
        nano(value)
    except QuantityError as error:
        raise UntakenError(str(error)) from None
    return value


def _read_int_or_string(value: DecodedValue) -> DecodedValue:
    if value.__class__ is not str and not (
        value.__class__ is int and INT64_MIN <= value <= INT64_MAX
    ):
        raise UntakenError
    return value


_READER: Final = GoReader({Form.QUANTITY: _read_quantity, Form.INT_OR_STRING: _read_int_or_string})
