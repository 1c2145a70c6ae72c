"""From the plain values of a document, its apiVersion and kind first, to typed Structs.

msgspec could convert, but it stops at the first unknown field and words its refusals in its own
way. Users of kube-scheduler see every unknown field at once and a wrong type in Go's terms
(`cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism of type
int32`), so the Structs are walked here instead. A null is the same as an absent field, in a list
it is an empty entry, and field names are case-sensitive.

A Struct may say how Go names it: `GO_TYPE` (default `v1.<class name>`), and `GO_EMBEDDED` for the
fields that live in an embedded Go struct and carry its name in messages. `OLD_NAMES` are further
names of its fields, taken if the caller says so and the field is not there under its own.

Unlike `podium.golang.decoding` it ends where a duration ends upstream's reading, and tells each
mistake twice: in Go's words and for people.

Everything that strict decoding objects to, collected so that a user sees it all at once.

The apiVersion and kind of a document, with upstream's words for the ways to get them wrong.
upstream: the two are looked up by Go's own JSON decoder, to which `Kind` and `KIND` are `kind` as
well and the last one counts, while the rest of a document is read with respect to case. A file that
says `Kind:` is therefore recognised, and refused for an unknown field.
"""

import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Generic, NamedTuple, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo, fields

from podium.golang.durations import Duration
from podium.golang.errors import closest, did_you_mean
from podium.golang.json_reader import members
from podium.golang.quoting import go_quote
from podium.scheduler.config.decode_values import (
    PLAIN_FLOAT,
    PLAIN_INT,
    ConfigDecodeError,
    EndingError,
    Float32,
    GoNumber,
    Int32,
    Int64,
    Place,
    decode_bytes,
    decode_duration,
    decode_float,
    decode_int,
    json_kind,
)
from podium.scheduler.config.errors import (
    ConfigFinding,
    ConfigurationError,
    FieldProblem,
    old_spelling,
)

__all__ = [
    "ConfigDecodeError",
    "DecodedStruct",
    "Float32",
    "Int32",
    "Int64",
    "UnknownField",
    "decode",
    "json_kind",
]

_WRONG: Final = object()
# Beyond these nobody reads what else is wrong, or what was probably meant.
_MAX_TOLD: Final = 100
StructT = TypeVar("StructT", bound=msgspec.Struct)
ValueT = TypeVar("ValueT")


class UnknownField(NamedTuple):
    """A field that its Struct does not have, and the one that was probably meant (or "").

    A field of the Struct that is written a second time in JSON is reported in the same list.
    """

    path: str
    suggestion: str
    problem: str = "unknown field"

    @property
    def text(self) -> str:
        return f"{self.problem} {go_quote(self.path)}"


class DecodedStruct(NamedTuple, Generic[ValueT]):
    """A decoded Struct and the fields of the document that had no place in it."""

    value: ValueT
    unknown_fields: tuple[UnknownField, ...]
    old_spellings: tuple[ConfigFinding, ...] = ()


class _Found:
    """What was found so far: unknown fields, and values of the wrong type.

    upstream: a wrong type does not stop the decoding, and of several the first one is reported.
    """

    def __init__(self, absent: frozenset[str], *, takes_old: bool) -> None:
        self.absent = absent
        self.takes_old = takes_old
        self.old_spellings: list[ConfigFinding] = []
        self.unknown: list[UnknownField] = []
        self.wrong: list[ConfigDecodeError] = []

    def refusal(self, first: ConfigDecodeError) -> ConfigDecodeError:
        """An error with everything that is wrong."""
        others = (error for error in self.wrong if error is not first)
        unknown = (
            FieldProblem(field.path, field.problem, did_you_mean(field.suggestion))
            for field in dict.fromkeys(self.unknown)
        )
        problems = (p for error in (first, *others) for p in error.problems)
        return ConfigDecodeError(str(first), (*problems, *unknown))


def decode(
    raw: Mapping[str, Any],
    shape: type[StructT],
    absent: frozenset[str] = frozenset(),
    *,
    takes_old: bool = False,
) -> DecodedStruct[StructT]:
    """Read a mapping as `shape`. Unknown fields are listed, wrong types raise a DecodeError.

    `absent` names fields of the Struct that the document's version does not have, by their paths
    without indexes (`profiles.plugins.multiPoint`). `takes_old` allows for old names of fields.
    """
    found = _Found(absent, takes_old=takes_old)
    try:
        value = _decode_struct(raw, shape, Place(_go_name(shape), "", ""), found)
    except EndingError as error:
        raise found.refusal(error) from None
    if found.wrong:
        raise found.refusal(found.wrong[0])
    return DecodedStruct(value, tuple(dict.fromkeys(found.unknown)), tuple(found.old_spellings))


def _decode_struct(
    raw: Mapping[str, Any], shape: type[StructT], place: Place, found: _Found
) -> StructT:
    known = {info.encode_name: info for info in fields(shape)}
    unread: frozenset[str] = getattr(shape, "UNREAD", frozenset())
    embedded: Mapping[str, str] = getattr(shape, "GO_EMBEDDED", {})
    values: dict[str, Any] = {}
    seen: set[str] = set()
    old_names: Mapping[str, str] = getattr(shape, "OLD_NAMES", {}) if found.takes_old else {}
    for name, value in members(raw):
        path = f"{place.path}.{name}" if place.path else name
        if name in old_names and old_names[name] not in raw:
            found.old_spellings.append(old_spelling(path, name, old_names[name]))
            name = old_names[name]
        go_name = f"{embedded[name]}.{name}" if name in embedded else name
        go_path = f"{place.go_path}.{go_name}" if place.go_path else go_name
        info: FieldInfo | None = None if go_path in found.absent else known.get(name)
        if info is None:
            if name not in unread:
                guess = closest(name, list(known)) if len(found.unknown) < _MAX_TOLD else ""
                found.unknown.append(UnknownField(path, guess))
            continue
        if name in seen:
            found.unknown.append(UnknownField(path, "", "duplicate field"))
        seen.add(name)
        if value is not None or info.type is Duration:
            inner = Place(_go_name(shape), go_path, path)
            decoded = _decode_or_note(value, info.type, inner, found)
            if decoded is not _WRONG:
                values[info.name] = decoded
    return shape(**values)


def _decode_or_note(raw: Any, shape: Any, place: Place, found: _Found) -> Any:
    """A value, or `_WRONG` once it is noted what is wrong with it."""
    try:
        return _decode_value(raw, shape, place, found)
    except EndingError:
        raise
    except ConfigDecodeError as error:
        if len(found.wrong) < _MAX_TOLD:
            found.wrong.append(error)
        return _WRONG


def _decode_value(raw: Any, shape: Any, place: Place, found: _Found) -> Any:
    shape, number = _bare(shape)
    if isinstance(shape, type) and issubclass(shape, Duration):
        return decode_duration(raw, place)
    if raw is None:
        return _empty(shape)
    if shape is Any:
        return raw
    if get_origin(shape) is tuple:
        if not isinstance(raw, list | tuple):
            raise place.refusal(raw, _go_type(shape))
        of_entry = get_args(shape)[0]
        entries = (
            _decode_or_note(entry, of_entry, place.at_index(i), found)
            for i, entry in enumerate(raw)
        )
        return tuple(_empty(_bare(of_entry)[0]) if e is _WRONG else e for e in entries)
    if get_origin(shape) is dict:
        if not isinstance(raw, Mapping):
            raise place.refusal(raw, _go_type(shape))
        of_value = get_args(shape)[1]
        return {key: _decode_value(v, of_value, place, found) for key, v in raw.items()}
    if isinstance(shape, type) and issubclass(shape, msgspec.Struct):
        if not isinstance(raw, Mapping):
            raise place.refusal(raw, _go_type(shape))
        return _decode_struct(raw, shape, place, found)
    if shape is int:
        return decode_int(raw, number or PLAIN_INT, place)
    if shape is float:
        return decode_float(raw, number or PLAIN_FLOAT, place)
    if shape is bytes:
        return decode_bytes(raw, place)
    if not isinstance(raw, shape):
        raise place.refusal(raw, _go_type(shape))
    return raw


def _bare(shape: Any) -> tuple[Any, GoNumber | None]:
    """The type inside `T | None` and `Annotated[T, ...]`, with the number's Go type if it has one.

    A choice between several real types (a quantity may be text or a number) is left to whoever
    reads the value.
    """
    number: GoNumber | None = None
    if get_origin(shape) is Annotated:
        shape, *notes = get_args(shape)
        number = next((note for note in notes if isinstance(note, GoNumber)), None)
    if get_origin(shape) in (Union, types.UnionType):
        choices = [choice for choice in get_args(shape) if choice is not type(None)]
        if len(choices) != 1:
            return Any, None
        inner, inner_number = _bare(choices[0])
        return inner, inner_number or number
    return shape, number


def _empty(shape: Any) -> Any:
    """What a null entry of a list stands for: Go's zero value."""
    if shape is Any:
        return None
    if get_origin(shape) is tuple:
        return ()
    if get_origin(shape) is dict:
        return {}
    return shape()


def _go_name(shape: type[msgspec.Struct]) -> str:
    return _go_type(shape).rpartition(".")[2]


def _go_type(shape: Any) -> str:
    shape, number = _bare(shape)
    if number is not None:
        return number.name
    if get_origin(shape) is tuple:
        return f"[]{_go_type(get_args(shape)[0])}"
    if get_origin(shape) is dict:
        return f"map[string]{_go_type(get_args(shape)[1])}"
    if isinstance(shape, type) and issubclass(shape, msgspec.Struct):
        return str(getattr(shape, "GO_TYPE", f"v1.{shape.__name__}"))
    return {str: "string", bool: "bool", int: "int32", float: "float64"}.get(shape, "interface {}")


class StrictErrors:
    """Fields with no place in the format, or with two: upstream's texts, and where they are.

    Names of earlier times are collected beside them, or with `takes_old=False` are errors too.
    """

    def __init__(self, repeated_keys: Sequence[str] = (), *, takes_old: bool = True) -> None:
        self.takes_old = takes_old
        self.old_spellings: list[ConfigFinding] = []
        self._texts: list[str] = []
        self._problems: list[FieldProblem] = []
        if repeated_keys:
            self._texts.append("\n  ".join(("yaml: unmarshal errors:", *repeated_keys)))
            self._problems.extend(FieldProblem("", text) for text in repeated_keys)

    def add(self, fields: Sequence[UnknownField], *, before: str = "", at: str = "") -> None:
        """Note fields; `before` opens their text, `at` is the path they hang below."""
        if not fields:
            return
        self._texts.append(before + ", ".join(field.text for field in fields))
        self._problems.extend(
            FieldProblem(f"{at}{field.path}", field.problem, did_you_mean(field.suggestion))
            for field in fields
        )

    @property
    def problems(self) -> tuple[FieldProblem, ...]:
        return tuple(self._problems)

    def __bool__(self) -> bool:
        return bool(self._texts)

    def error(self, further: Sequence[FieldProblem]) -> ConfigurationError:
        """The refusal; `further` mistakes are reported with these, though upstream stops here."""
        return ConfigurationError(
            f"strict decoding error: {', '.join(self._texts)}",
            [*self._problems, *further],
            remedy=next((problem.remedy for problem in self._problems if problem.remedy), ""),
        )


SCHEME: Final = 'in scheme "pkg/scheduler/apis/config/scheme/scheme.go:29"'
INTERNAL: Final = "__internal"
"""The version of upstream's own types, which have no place in files and can be named there."""

_PREFIX: Final = "couldn't get version/kind; json parse error: json: cannot unmarshal"
_STRUCT: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)
HEADER_FIELDS: Final = ("apiVersion", "kind")
_FIELDS: Final = {field.lower(): field for field in HEADER_FIELDS}
# Letters outside ASCII that are equal to one inside when case does not count.
_FOLDS: Final = str.maketrans({"\u017f": "s", "\u212a": "k"})


def header_of(raw: object) -> tuple[str, str]:
    """The apiVersion and kind of a document; empty where absent. Raises DecodeError.

    The apiVersion is in its canonical form: without the slash when it has no group, and empty when
    it has a group but no version.
    """
    if not isinstance(raw, Mapping):
        raise ConfigDecodeError(f"{_PREFIX} {json_kind(raw)} into Go value of type {_STRUCT}")
    found = dict.fromkeys(HEADER_FIELDS, "")
    for name, value in members(raw):
        field = _FIELDS.get(name.translate(_FOLDS).lower())
        if field is None or value is None:
            continue
        if not isinstance(value, str):
            raise ConfigDecodeError(
                f"{_PREFIX} {json_kind(value)} into Go struct field .{field} of type string"
            )
        found[field] = value
    return _canonical(found["apiVersion"]), found["kind"]


def not_registered(kind: str, api_version: str) -> str:
    """What upstream says of a kind that it does not know in this version."""
    group, _, version = api_version.rpartition("/")
    if version == INTERNAL:
        place = f"the internal version of group {go_quote(group)}"
    else:
        place = f"version {go_quote(api_version)}"
    return f"no kind {go_quote(kind)} is registered for {place} {SCHEME}"


def _canonical(api_version: str) -> str:
    group, slash, version = api_version.partition("/")
    if "/" in version:
        raise ConfigDecodeError(f"unexpected GroupVersion string: {api_version}")
    if not slash:
        return api_version
    return f"{group}/{version}" if group and version else version
