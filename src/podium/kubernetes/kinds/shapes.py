"""The shapes of Structs, for what msgspec does not do while it decodes.

msgspec decodes quickly and says little: its errors leave out map keys, it skips unknown fields
without a word, and it refuses a null wherever the type has none, where Kubernetes reads one as
"not set". So a shape is derived once from every Struct, and each shape can

- `settle` raw data: turn nulls into what Kubernetes' own decoder makes of them, and find the
  exact field whose type is wrong;
- `refuse_unknown` names in raw data that are neither fields nor in a Struct's `UNREAD` set;
- `check` a decoded value: its quantities parse, its integers fit 64 bits.

Each raises an `ObjectError` with the field's path; what else is wrong is in its `others`.

Three other readers know Go's types: `config/decode.py`, `extenders/go_shapes.py` and
`kubernetes/schema/decoding.py` speak Go's words, because their users compare them with upstream's.
Objects in files have no such reader upstream; here the words are for people, with a remedy.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from msgspec import inspect

from podium.golang.errors import ObjectError, closest, did_you_mean, raise_first
from podium.golang.field_paths import ROOT, Path, render
from podium.golang.json_values import DecodedValue
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.rules.quantity import QuantityError, nano

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1


Wrong = list[ObjectError]


class Shape(Protocol):
    @property
    def nested(self) -> bool:
        """Whether there are Structs inside, whose field names can be wrong."""

    @property
    def counted(self) -> bool:
        """Whether there are numbers or quantities inside, at any depth."""

    def zero(self) -> object:
        """What a null in a list or map stands for."""

    def settle_into(self, raw: object, path: Path, wrong: Wrong) -> object:
        """`raw` without nulls; values that are not of their type are told in `wrong`."""

    def find_unknown(self, raw: DecodedValue, path: Path, wrong: Wrong) -> None:
        """Tell of unknown fields. What is not of its type is passed over."""

    def find_uncountable(self, value: DecodedValue, path: Path, wrong: Wrong) -> None:
        """Tell of what is to be counted in the decoded value, and cannot be."""


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A value without parts; `types` are the Python types it may have, none for any."""

    noun: str
    types: tuple[type, ...]
    empty: object

    @property
    def nested(self) -> bool:
        return False

    @property
    def counted(self) -> bool:
        return int in self.types

    def zero(self) -> object:
        return self.empty

    def settle_into(self, raw: object, path: Path, wrong: Wrong) -> object:
        if self.types and type(raw) not in self.types:
            wrong.append(_mismatch(path, self.noun, raw))
            return self.empty
        return raw

    def find_unknown(self, raw: DecodedValue, path: Path, wrong: Wrong) -> None:
        pass

    def find_uncountable(self, value: DecodedValue, path: Path, wrong: Wrong) -> None:
        if float in self.types:
            try:
                nano(value)
            except QuantityError as error:
                wrong.append(ObjectError(render(path), str(error)))
        elif type(value) is int and not INT64_MIN <= value <= INT64_MAX:
            wrong.append(ObjectError(render(path), "the number does not fit 64 bits"))


TEXT = Leaf("a string", (str,), "")
INTEGER = Leaf("an integer", (int,), 0)
FLAG = Leaf("true or false", (bool,), False)
QUANTITY = Leaf("a quantity", (str, int, float), 0)
INT_OR_TEXT = Leaf("an integer or a string", (int, str), 0)
ANYTHING = Leaf("anything", (), None)


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """A list."""

    element: Shape
    nested: bool
    counted: bool

    def zero(self) -> object:
        return []

    def settle_into(self, raw: object, path: Path, wrong: Wrong) -> object:
        if not isinstance(raw, list | tuple):
            wrong.append(_mismatch(path, "a list", raw))
            return []
        element = self.element
        return [
            element.settle_into(element.zero() if value is None else value, (path, index), wrong)
            for index, value in enumerate(raw)
        ]

    def find_unknown(self, raw: DecodedValue, path: Path, wrong: Wrong) -> None:
        if not isinstance(raw, list | tuple):
            return
        for index, value in enumerate(raw):
            if value is not None:
                self.element.find_unknown(value, (path, index), wrong)

    def find_uncountable(self, value: DecodedValue, path: Path, wrong: Wrong) -> None:
        for index, inner in enumerate(value):
            self.element.find_uncountable(inner, (path, index), wrong)


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """A map with free keys."""

    value: Shape
    nested: bool
    counted: bool

    def zero(self) -> object:
        return {}

    def settle_into(self, raw: object, path: Path, wrong: Wrong) -> object:
        if not isinstance(raw, Mapping):
            wrong.append(_mismatch(path, "an object", raw))
            return {}
        shape = self.value
        return {
            key: shape.settle_into(shape.zero() if value is None else value, (path, key), wrong)
            for key, value in raw.items()
        }

    def find_unknown(self, raw: DecodedValue, path: Path, wrong: Wrong) -> None:
        if not isinstance(raw, Mapping):
            return
        for key, value in raw.items():
            if value is not None:
                self.value.find_unknown(value, (path, key), wrong)

    def find_uncountable(self, value: DecodedValue, path: Path, wrong: Wrong) -> None:
        for key, inner in value.items():
            # upstream: a null map value may stand where a time would (disruptedPods).
            if inner is not None:
                self.value.find_uncountable(inner, (path, key), wrong)


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    name: str
    attribute: str
    shape: Shape


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """A Struct."""

    fields: Mapping[str, Field]
    known: frozenset[str]
    nested_fields: tuple[Field, ...]
    counted_fields: tuple[Field, ...]

    @property
    def nested(self) -> bool:
        return True

    @property
    def counted(self) -> bool:
        return bool(self.counted_fields)

    def zero(self) -> object:
        return {}

    def settle_into(self, raw: object, path: Path, wrong: Wrong) -> object:
        if not isinstance(raw, Mapping):
            wrong.append(_mismatch(path, "an object", raw))
            return {}
        return {
            name: self.fields[name].shape.settle_into(value, (path, name), wrong)
            for name, value in raw.items()
            if value is not None and name in self.fields
        }

    def find_unknown(self, raw: DecodedValue, path: Path, wrong: Wrong) -> None:
        if not isinstance(raw, Mapping):
            return
        for stranger in () if raw.keys() <= self.known else [n for n in raw if n not in self.known]:
            remedy = did_you_mean(closest(str(stranger), sorted(self.known)))
            remedy = remedy or "remove it, or check its indentation"
            wrong.append(ObjectError(render((path, stranger)), "unknown field", remedy))
        for field in self.nested_fields:
            value = raw.get(field.name)
            # The status is written by programs, newer ones included: nothing in it is a typo.
            if value is not None and not (field.name == "status" and path is ROOT):
                field.shape.find_unknown(value, (path, field.name), wrong)

    def find_uncountable(self, value: DecodedValue, path: Path, wrong: Wrong) -> None:
        for field in self.counted_fields:
            inner = getattr(value, field.attribute)
            if inner is not None:
                field.shape.find_uncountable(inner, (path, field.name), wrong)

    # the same for a whole object, raising

    def settle(self, raw: object, path: Path = ROOT) -> object:
        """Raises ObjectError where a value is not of its type."""
        wrong: Wrong = []
        settled = self.settle_into(raw, path, wrong)
        raise_first(wrong)
        return settled

    def refuse_unknown(self, raw: DecodedValue, path: Path = ROOT) -> None:
        """Raises ObjectError for fields that do not exist."""
        wrong: Wrong = []
        self.find_unknown(raw, path, wrong)
        raise_first(wrong)

    def check(self, value: DecodedValue, path: Path = ROOT) -> None:
        """Raises ObjectError if something that is to be counted cannot be."""
        wrong: Wrong = []
        self.find_uncountable(value, path, wrong)
        raise_first(wrong)


def shape_of(struct: type[KubeStruct]) -> Record:
    """The shape of a Struct, derived from its annotations when first asked for."""
    shape = _SHAPES.get(struct)
    if shape is None:
        shape = _SHAPES[struct] = _derived(struct)
    return shape


_SHAPES: dict[type[KubeStruct], Record] = {}


def _derived(struct: type[KubeStruct]) -> Record:
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    fields = [Field(f.encode_name, f.name, _shape(f.type)) for f in info.fields]
    return Record(
        {field.name: field for field in fields},
        struct.UNREAD.union(field.name for field in fields),
        tuple(field for field in fields if field.shape.nested),
        tuple(field for field in fields if field.shape.counted),
    )


_LEAVES: dict[type[inspect.Type], Leaf] = {
    inspect.StrType: TEXT,
    inspect.LiteralType: TEXT,
    inspect.IntType: INTEGER,
    inspect.BoolType: FLAG,
    inspect.AnyType: ANYTHING,
}


def _shape(info: inspect.Type) -> Shape:
    match info:
        case inspect.UnionType():
            kinds = [kind for kind in info.types if not isinstance(kind, inspect.NoneType)]
            if len(kinds) == 1:
                return _shape(kinds[0])
            return QUANTITY if len(kinds) == 3 else INT_OR_TEXT
        case inspect.StructType(cls=struct) if issubclass(struct, KubeStruct):
            return shape_of(struct)
        case inspect.VarTupleType():
            element = _shape(info.item_type)
            return Items(element, element.nested, element.counted)
        case inspect.DictType():
            value = _shape(info.value_type)
            return Entries(value, value.nested, value.counted)
    return _LEAVES[type(info)]


def _mismatch(path: Path, wanted: str, found: object) -> ObjectError:
    remedy = ""
    if wanted == TEXT.noun and isinstance(found, bool | int | float):
        remedy = "put the value in quotes"
    elif wanted == INTEGER.noun and isinstance(found, str) and found.removeprefix("-").isdigit():
        remedy = f"write {found} without quotes"
    elif wanted == FLAG.noun and isinstance(found, str):
        remedy = "write true or false without quotes"
    elif wanted == "a list" and isinstance(found, Mapping):
        remedy = 'start each entry with "- "'
    return ObjectError(render(path), f"expected {wanted}, got {described(found)}", remedy)


def described(found: object) -> str:
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


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
