"""The values that a scheduler and an extender send each other, decoded as Go does it.

Both sides of the protocol use this one description: the client writes what the server reads. Every
member is always written, unused ones as null, because extenders that are not written in Go look for
them. Objects are kept as the bytes they came in: they are passed on more often than they are looked
at.

The names of the classes are Go's, because decoding errors show them.
Source: `staging/src/k8s.io/kube-scheduler/extender/v1/types.go`.

Decoding as Go does it: lenient about names and nulls, strict about types, in Go's words. What is
spelled exactly as expected is decoded by msgspec in one step. Everything else is read as
encoding/json reads it (`podium.golang.decoding`): member names in any capitalisation, nulls,
members nobody asked for, bytes that are no UTF-8, something after the value. Source: `send` in
`pkg/scheduler/extender.go`, which reads answers with a `json.Decoder`. Extenders are programs in
all languages; for configurations and objects of the API, other capitalisations are mistakes.

Contract: whatever is wrong with the bytes is a `DecodingProblem`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Protocol, TypeVar

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType, field, inspect

from podium.golang.decoding import GoReader
from podium.golang.errors import PodiumError
from podium.golang.json_reader import JSONSyntaxError, WrittenFloat, mend_halves, read_first
from podium.golang.mistakes import Way
from podium.golang.shapes import Form, ListOf, MapOf, Shape, Struct, StructShapes
from podium.kubernetes.schema.decoding import SELF_DECODING

Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class WireStruct(msgspec.Struct, rename="pascal", forbid_unknown_fields=True, frozen=True):
    """Decoded in one step if it is spelled as upstream spells it; `lenient` reads the rest.

    `GO_TYPES` has the Go types of fields for which their Python type does not tell.
    """

    GO_TYPES: ClassVar[Mapping[str, str]] = MappingProxyType({})


class NodeList(WireStruct, rename="camel", frozen=True):
    GO_TYPES = MappingProxyType({"items": "[]v1.Node"})

    kind: Raw | UnsetType = UNSET
    api_version: Raw | UnsetType = UNSET
    metadata: Raw = Raw(b"{}")
    items: tuple[Raw, ...] | None = None


class ExtenderArgs(WireStruct, frozen=True):
    """Asks to filter or to prioritize: node objects or node names, never both."""

    GO_TYPES = MappingProxyType({"pod": "v1.Pod", "nodes": "v1.NodeList"})

    pod: Raw = Raw(b"null")
    nodes: NodeList | None = None
    node_names: tuple[str, ...] | None = None


class ExtenderFilterResult(WireStruct, frozen=True):
    GO_TYPES = MappingProxyType(
        {
            "failed_nodes": "v1.FailedNodesMap",
            "failed_and_unresolvable_nodes": "v1.FailedNodesMap",
        }
    )

    nodes: NodeList | None = None
    node_names: tuple[str, ...] | None = None
    failed_nodes: dict[str, str] | None = None
    failed_and_unresolvable_nodes: dict[str, str] | None = None
    error: str = ""


class HostPriority(WireStruct, frozen=True):
    host: str = ""
    score: Int64 = 0


class Victims(WireStruct, frozen=True):
    GO_TYPES = MappingProxyType({"pods": "[]*v1.Pod"})

    pods: tuple[Raw, ...] | None = None
    num_pdb_violations: Int64 = field(default=0, name="NumPDBViolations")


class MetaPod(WireStruct, frozen=True):
    uid: str = field(default="", name="UID")


class MetaVictims(WireStruct, frozen=True):
    GO_TYPES = MappingProxyType({"pods": "[]*v1.MetaPod"})

    pods: tuple[MetaPod, ...] | None = None
    num_pdb_violations: Int64 = field(default=0, name="NumPDBViolations")


class ExtenderPreemptionArgs(WireStruct, frozen=True):
    GO_TYPES = MappingProxyType(
        {
            "pod": "v1.Pod",
            "node_name_to_victims": "map[string]*v1.Victims",
            "node_name_to_meta_victims": "map[string]*v1.MetaVictims",
        }
    )

    pod: Raw = Raw(b"null")
    node_name_to_victims: dict[str, Victims] | None = None
    node_name_to_meta_victims: dict[str, MetaVictims] | None = None


class ExtenderPreemptionResult(WireStruct, frozen=True):
    GO_TYPES = MappingProxyType({"node_name_to_meta_victims": "map[string]*v1.MetaVictims"})

    node_name_to_meta_victims: dict[str, MetaVictims] | None = None


class ExtenderBindingArgs(WireStruct, frozen=True):
    GO_TYPES = MappingProxyType({"pod_uid": "types.UID"})

    pod_name: str = ""
    pod_namespace: str = ""
    pod_uid: str = field(default="", name="PodUID")
    node: str = ""


class ExtenderBindingResult(WireStruct, frozen=True):
    error: str = ""


Encoded = bytes | bytearray | msgspec.Raw
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

UNDECODABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
SHAPES: Final = StructShapes()


class DecodingProblem(PodiumError, ValueError):
    """Bytes that are not what they should be; the text is Go's."""


class BodyDecoder(Protocol[T_co]):
    """What decodes bytes into one type.

    `broken` says why the data may not be all there is: the text if it is indeed cut short.
    """

    def __call__(self, data: Encoded, broken: str = "") -> T_co: ...


def body_decoder(kind: type[T], go_type: str = "") -> BodyDecoder[T]:
    """A decoder for one type; `go_type` is its Go name where that is not the Struct's own."""
    exact = msgspec.json.Decoder(kind)
    lenient = lenient_decoder(kind, go_type)

    def decode(data: Encoded, broken: str = "") -> T:
        try:
            return exact.decode(data)
        except UNDECODABLE as error:
            if broken and "truncated" in str(error):
                raise DecodingProblem(broken) from None
        return lenient(data, broken)

    return decode


def lenient_decoder(kind: type[T], go_type: str = "", way: Way = None) -> BodyDecoder[T]:
    """One for what is known not to be spelled exactly, and is at the end of a way."""
    info = inspect.type_info(kind)
    shape = SHAPES.shape(info, go_type)
    constant = _constant_fields(info)

    def decode(data: Encoded, broken: str = "") -> T:
        try:
            found = _READER.read(shape, _value(bytes(data), broken), way)
        except RecursionError:
            raise DecodingProblem("exceeded max depth") from None
        if (refusal := found.refusal) is not None:
            raise DecodingProblem(refusal.message)
        for name in constant:
            found.value.pop(name, None)
        return msgspec.convert(found.value, kind)

    return decode


def names_within(kind: type[msgspec.Struct]) -> frozenset[str]:
    """The names of all members of a Struct and of what is in it."""
    names: set[str] = set()
    unread: list[Shape] = [SHAPES.struct(kind)]
    while unread:
        match unread.pop():
            case Struct(fields=fields):
                names.update(fields)
                unread.extend(field.shape for field in fields.values())
            case ListOf(item=inner) | MapOf(value=inner):
                unread.append(inner)
    return frozenset(names)


def _constant_fields(info: inspect.Type) -> list[str]:
    """The kind of an object whose kind is known: upstream takes any text."""
    fields = info.fields if isinstance(info, inspect.StructType) else ()
    return [field.encode_name for field in fields if isinstance(field.type, inspect.LiteralType)]


def _value(data: bytes, broken: str) -> Any:
    text = data.decode("utf-8", "replace")
    try:
        value = read_first(text)
    except JSONSyntaxError as error:
        if not error.ended:
            raise DecodingProblem(str(error)) from None
        cut_short = broken or ("unexpected EOF" if text.strip(" \t\r\n") else "EOF")
        raise DecodingProblem(cut_short) from None
    return mend_halves(value) if "\\u" in text else value


def _as_json(value: Any) -> msgspec.Raw:
    """A value without a type, kept as JSON; whoever looks into it decodes it."""
    return msgspec.Raw(msgspec.json.encode(_as_written(value)))


def _as_written(value: Any) -> Any:
    match value:
        case WrittenFloat():
            return msgspec.Raw(value.text.encode())
        case dict():
            return {key: _as_written(inner) for key, inner in value.items()}
        case list():
            return [_as_written(inner) for inner in value]
    return value


def _read_quantity(value: Any) -> Any:
    """As it was written: nobody writes it back."""
    SELF_DECODING[Form.QUANTITY](value)
    return value.text if isinstance(value, WrittenFloat) else value


_READER: Final = GoReader(
    {
        Form.QUANTITY: _read_quantity,
        Form.INT_OR_STRING: SELF_DECODING[Form.INT_OR_STRING],
    },
    folds_case=True,
    anything=_as_json,
)
