"""Values of JSON and YAML read as Go types, in one pass over plain values.

A struct becomes a closure over a table from field names to plans, made when the struct is first
met. A plan says which Python class is taken without a further look, whether an empty value stays,
and what reads all other values. The way to a field is passed on as linked pairs and spelt out only
when something is wrong with it.

What all of Go's readers have in common is here: a null is a field that is not set, and the zero
value in a list or map; a value of the wrong type does not end the reading, and of several mistakes
the first is told, unless a type that decodes itself (a quantity, a time, a duration) has one: that
ends it. What differs between them, or between those who ask, are the options of a `GoReader`.

msgspec decodes into Structs ten times as fast, and is what reads sound objects
(`kubernetes/kinds/strict_decoding.py`, `client/extenders/wire.py`). It knows neither nulls nor
other capitalisations nor several mistakes, and its words are its own; what it refuses is read here.
"""

import base64
import math
import struct as struct_module
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Final, TypeAlias

from podium.golang.base64_text import Base64Error, decode_base64
from podium.golang.json_reader import RepeatedMembers, WrittenFloat
from podium.golang.json_values import DecodedValue, JsonObject, JsonValue
from podium.golang.mistakes import Mistake, StrictProblem, Way
from podium.golang.shapes import (
    AnyValue,
    Field,
    Form,
    ListOf,
    MapOf,
    Omitted,
    Scalar,
    Shape,
    Struct,
)

MAX_TOLD: Final = 100
"""Beyond these nobody reads what else is wrong."""
_MAX_STRICT: Final = 10_000
"""Beyond these fields that do not exist are passed over in silence: texts of others may be long."""
_DUPLICATE: Final = "duplicate field"


class Reading:
    """A value that was read, and what was found while it was."""

    value: DecodedValue = None
    """Means nothing if there are mistakes."""
    takes_old_names = False
    _ending: Mistake | None = None

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []
        self.strict: list[StrictProblem] = []
        """What strict readers refuse: fields that do not exist, or that are there twice."""
        self.old_names: list[tuple[Way, str, str]] = []
        """Where an old name of a field was taken, the name, and the one of today."""

    def refuse(self, mistake: Mistake) -> None:
        if mistake.ends and self._ending is None:
            self._ending = mistake
        if len(self.mistakes) < MAX_TOLD:
            self.mistakes.append(mistake)

    def object_to(self, problem: StrictProblem) -> None:
        if len(self.strict) < _MAX_STRICT:
            self.strict.append(problem)

    def mismatch(self, value: DecodedValue, shape: Shape, way: Way) -> None:
        self.refuse(Mistake(value, shape, way))

    @property
    def refusal(self) -> Mistake | None:
        """The one of the mistakes that Go tells."""
        return self._ending or (self.mistakes[0] if self.mistakes else None)

    def tell_refusal_first(self) -> Iterator[Mistake]:
        """All mistakes, first what Go tells."""
        if (first := self.refusal) is not None:
            yield first
        yield from (each for each in self.mistakes if each is not first)


Reader: TypeAlias = Callable[[DecodedValue, Way, Reading], DecodedValue]
"""Reads a value that is not null at the end of a way; notes what is wrong."""
_Plan: TypeAlias = tuple[type | None, bool, Reader]


class UntakenError(ValueError):
    """What a type that decodes itself has against a value: a text of its own, or that the value is
    not of the type that it reads."""

    def __init__(self, text: str = "", wanted: Scalar | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.wanted = wanted


SelfDecoding: TypeAlias = Mapping[Form, Callable[[DecodedValue], DecodedValue]]
"""How types that decode themselves do it; they raise UntakenError."""


class GoReader:
    """Reads values of any shape.

    `self_decoding` has the types that decode themselves. With `writes_back` the value is what Go
    writes back: what is empty is left out where Go omits it, and there where it does not; otherwise
    it is what was read. With `folds_case` names of fields count in any capitalisation, as for
    encoding/json; for sigs.k8s.io/json and sigs.k8s.io/yaml they do not. `anything` makes what is
    kept of a value without a type.
    """

    def __init__(
        self,
        self_decoding: SelfDecoding,
        *,
        writes_back: bool = False,
        folds_case: bool = False,
        anything: Callable[[DecodedValue], DecodedValue] | None = None,
    ) -> None:
        self._self_decoding = self_decoding
        self._writes_back = writes_back
        self._folds_case = folds_case
        self._anything = anything
        self._readers: dict[Shape, Reader] = {}

    def read(
        self, shape: Shape, value: DecodedValue, way: Way = None, *, takes_old_names: bool = False
    ) -> Reading:
        """`way` is where the value stands."""
        found = Reading()
        if takes_old_names:
            found.takes_old_names = True
        reader = self._readers.get(shape) or self._reader_of(shape)
        found.value = self._zero(shape) if value is None else reader(value, way, found)
        return found

    def _reader_of(self, shape: Shape) -> Reader:
        reader = self._readers.get(shape)
        if reader is None:
            reader = self._readers[shape] = self._new_reader(shape)
        return reader

    def _new_reader(self, shape: Shape) -> Reader:
        match shape:
            case Scalar():
                return self._scalar_reader(shape)
            case AnyValue():
                return self._any_reader()
            case ListOf():
                return self._list_reader(shape)
            case MapOf():
                return self._map_reader(shape)
            case Struct():
                return self._struct_reader(shape)

    def _any_reader(self) -> Reader:
        anything = self._anything
        if anything is None:
            return _as_it_is
        return lambda value, _way, _found: anything(value)

    # --- structs --------------------------------------------------------------------------------

    def _struct_reader(self, struct: Struct) -> Reader:
        plans: dict[str, _Plan] = {}
        folded: dict[str, str] = {}
        always: list[tuple[str, DecodedValue, bool]] = []
        reads_null: set[str] = set()

        def prepare() -> None:
            # Not before the first value: structs refer to each other in circles.
            plans.update(dict.fromkeys(struct.unread, (None, False, _drop)))
            for field in struct.fields.values():
                plans[field.name] = self._plan(field)
                if isinstance(field.shape, Scalar) and field.shape.form is Form.DURATION:
                    reads_null.add(field.name)
                if self._writes_back and _is_always_written(field):
                    empty = None if field.is_pointer else zero(field.shape)
                    always.append((field.name, empty, isinstance(empty, dict)))
            if self._folds_case:
                folded.update((name.casefold(), name) for name in plans)

        def find(key: str, value: JsonObject, found: Reading) -> str:
            """The field that is meant by a name that no field has, or nothing."""
            if folded:
                return folded.get(key.casefold(), "")
            name = struct.old_names.get(key, "") if found.takes_old_names else ""
            return "" if name in value else name

        def read(value: DecodedValue, way: Way, found: Reading) -> DecodedValue:
            if value.__class__ is not dict:
                if isinstance(value, RepeatedMembers):
                    return read_repeated(value, way, found)
                if not isinstance(value, Mapping):
                    return found.mismatch(value, struct, way)
            if not plans:
                prepare()
            out = {}
            for key, item in value.items():
                plan = plans.get(key)
                if plan is None:
                    name = find(key, value, found)
                    if not name:
                        found.object_to(StrictProblem(way, key, struct))
                        continue
                    if not folded:
                        found.old_names.append((way, key, name))
                    plan, key = plans[name], name
                taken, keeps, reader = plan
                if item.__class__ is taken:
                    if item or keeps:
                        out[key] = item
                elif item is not None or key in reads_null:
                    inner = reader(item, (way, key, struct), found)
                    if inner or keeps:
                        out[key] = inner
            for key, empty, is_object in always:
                if key not in out:
                    out[key] = _fresh(empty) if is_object else empty
            return out

        def read_repeated(value: RepeatedMembers, way: Way, found: Reading) -> DecodedValue:
            out: JsonObject = read({}, way, found)
            seen: set[str] = set()
            for key, item in value.pairs:
                name = key if key in plans else find(key, value, found)
                if not name:
                    found.object_to(StrictProblem(way, key, struct))
                    continue
                if name in seen:
                    found.object_to(StrictProblem(way, key, struct, _DUPLICATE))
                seen.add(name)
                read_one = read({key: item}, way, found)
                if name in read_one:
                    out[name] = read_one[name]
            return out

        return read

    def _plan(self, field: Field) -> _Plan:
        keeps = (
            not self._writes_back
            or field.is_pointer
            or field.omitted is Omitted.NEVER
            or _is_go_struct(field.shape)
        )
        taken: type | None = None
        if isinstance(field.shape, Scalar):
            taken = {Form.STRING: str, Form.BOOL: bool}.get(field.shape.form)
        return taken, keeps, self._reader_of(field.shape)

    # --- lists and maps -------------------------------------------------------------------------

    def _list_reader(self, shape: ListOf) -> Reader:
        item_shape, read_item = shape.item, self._reader_of(shape.item)
        is_text = isinstance(item_shape, Scalar) and item_shape.form is Form.STRING
        zero_of = self._zero

        def read(value: DecodedValue, way: Way, found: Reading) -> DecodedValue:
            if value.__class__ is not list and not isinstance(value, list | tuple):
                return found.mismatch(value, shape, way)
            out = []
            for index, item in enumerate(value):
                if item is None:
                    out.append(zero_of(item_shape))
                elif is_text and item.__class__ is str:
                    out.append(item)
                else:
                    out.append(read_item(item, (way, index, None), found))
            return out

        return read

    def _map_reader(self, shape: MapOf) -> Reader:
        value_shape, read_item = shape.value, self._reader_of(shape.value)
        is_text = isinstance(value_shape, Scalar) and value_shape.form is Form.STRING
        zero_of = self._zero

        def read(value: DecodedValue, way: Way, found: Reading) -> DecodedValue:
            if value.__class__ is not dict:
                if not isinstance(value, Mapping):
                    return found.mismatch(value, shape, way)
                if isinstance(value, RepeatedMembers):
                    found.strict.extend(
                        StrictProblem(way, key, None, _DUPLICATE) for key in value.repeated
                    )
            out = {}
            for key, item in value.items():
                if item is None:
                    out[key] = zero_of(value_shape)
                elif is_text and item.__class__ is str:
                    out[key] = item
                else:
                    out[key] = read_item(item, (way, (key,), None), found)
            return out

        return read

    def _zero(self, shape: Shape) -> DecodedValue:
        """What a null in a list or map stands for."""
        if self._writes_back:
            empty = zero(shape)
            return _fresh(empty) if isinstance(empty, dict) else empty
        match shape:
            case Scalar():
                return _ZEROS_AS_READ.get(shape.form, _ZEROS.get(shape.form))
            case ListOf():
                return []
            case Struct() | MapOf():
                return {}
        return None if self._anything is None else self._anything(None)

    # --- scalars --------------------------------------------------------------------------------

    def _scalar_reader(self, shape: Scalar) -> Reader:
        if shape.form in self._self_decoding:
            return _self_decoding_reader(shape, self._self_decoding[shape.form])
        match shape.form:
            case Form.STRING:
                return _class_reader(shape, str)
            case Form.BOOL:
                return _class_reader(shape, bool)
            case Form.FLOAT | Form.FLOAT32:
                return _float_reader(shape)
            case Form.BYTES:
                return self._bytes_reader(shape)
        return _int_reader(shape, INTEGERS[shape.form])

    def _bytes_reader(self, shape: Scalar) -> Reader:
        as_text = self._writes_back
        read_byte = _int_reader(_BYTE, INTEGERS[Form.UINT8])

        def read(value: DecodedValue, way: Way, found: Reading) -> DecodedValue:
            if isinstance(value, list | tuple):
                before = len(found.mistakes)
                numbers = [0 if each is None else read_byte(each, way, found) for each in value]
                data = bytes(numbers) if len(found.mistakes) == before else b""
            elif value.__class__ is str:
                try:
                    data = decode_base64(value)
                except Base64Error as error:
                    return found.refuse(Mistake(value, shape, way, str(error)))
            else:
                return found.mismatch(value, shape, way)
            return base64.b64encode(data).decode() if as_text else data

        return read


def _as_it_is(value: DecodedValue, _way: Way, _found: Reading) -> DecodedValue:
    return value


def _drop(_value: DecodedValue, _way: Way, _found: Reading) -> DecodedValue:
    return None


def _self_decoding_reader(shape: Scalar, decode: Callable[[DecodedValue], DecodedValue]) -> Reader:
    def read(value: DecodedValue, way: Way, found: Reading) -> DecodedValue:
        try:
            return decode(value)
        except UntakenError as error:
            wanted = error.wanted or shape
            return found.refuse(Mistake(value, wanted, way, error.text, ends=True))

    return read


def _class_reader(shape: Scalar, taken: type) -> Reader:
    def read(value: DecodedValue, way: Way, found: Reading) -> DecodedValue:
        if value.__class__ is not taken:
            return found.mismatch(value, shape, way)
        return value

    return read


INTEGERS: Final = {
    Form.INT32: range(-(2**31), 2**31),
    Form.INT64: range(-(2**63), 2**63),
    Form.UINT8: range(256),
}
_BYTE: Final = Scalar(Form.UINT8, "uint8")


def _int_reader(shape: Scalar, allowed: range) -> Reader:
    lowest, highest = allowed[0], allowed[-1]

    def read(value: DecodedValue, way: Way, found: Reading) -> DecodedValue:
        if value.__class__ is not int or not lowest <= value <= highest:
            return found.mismatch(value, shape, way)
        return value

    return read


def _float_reader(shape: Scalar) -> Reader:
    is_single = shape.form is Form.FLOAT32

    def read(value: DecodedValue, way: Way, found: Reading) -> DecodedValue:
        if value.__class__ is not int and not isinstance(value, float):
            return found.mismatch(value, shape, way)
        number = single(value) if is_single else value
        if number is None or not -math.inf < number < math.inf:
            return found.mismatch(value, shape, way)
        return float(number) if isinstance(number, WrittenFloat) else number

    return read


def single(number: float) -> float | None:
    """The nearest number of 32 bits; None if it is too large for that."""
    try:
        rounded: float = struct_module.unpack("<f", struct_module.pack("<f", number))[0]
    except OverflowError:
        return None
    return rounded


# --- zero values --------------------------------------------------------------------------------


@cache
def zero_struct(struct: Struct) -> JsonObject:
    """What Go writes for a struct that was never set. Not to be changed."""
    return {
        field.name: None if field.is_pointer else zero(field.shape)
        for field in struct.fields.values()
        if _is_always_written(field)
    }


def zero(shape: Shape) -> JsonValue:
    """What Go writes for a value that was never set. Not to be changed."""
    match shape:
        case Struct():
            return zero_struct(shape)
        case Scalar():
            return _ZEROS[shape.form]
        case _:
            return None


_ZEROS: Final[dict[Form, JsonValue]] = {
    Form.STRING: "",
    Form.BOOL: False,
    Form.INT32: 0,
    Form.INT64: 0,
    Form.UINT8: 0,
    Form.FLOAT: 0,
    Form.FLOAT32: 0,
    Form.BYTES: None,
    Form.QUANTITY: "0",
    Form.TIME: None,
    Form.MICRO_TIME: None,
    Form.DURATION: "0s",
    Form.INT_OR_STRING: 0,
}
_ZEROS_AS_READ: Final[dict[Form, DecodedValue]] = {Form.QUANTITY: 0, Form.BYTES: b""}
_GO_STRUCTS: Final = frozenset({Form.QUANTITY, Form.TIME, Form.MICRO_TIME, Form.INT_OR_STRING})


def _is_go_struct(shape: Shape) -> bool:
    if isinstance(shape, Scalar):
        return shape.form in _GO_STRUCTS
    return isinstance(shape, Struct | AnyValue)


def _is_always_written(field: Field) -> bool:
    if field.omitted is Omitted.NEVER:
        return True
    # upstream: Go's omitempty knows no empty structs.
    return (
        field.omitted is Omitted.WHEN_EMPTY and not field.is_pointer and _is_go_struct(field.shape)
    )


def _fresh(empty: JsonObject) -> JsonObject:
    return {key: _fresh(item) if item.__class__ is dict else item for key, item in empty.items()}
