"""What documents of Podium's own are made of: typed structs, from which all their forms come.

JSON, YAML and records are written from the fields, in their order; `tools/document_schemas.py`
writes the JSON Schema from their types, with the docstring of a class and the text below a field as
descriptions. Contract: what is encoded is valid by the schema as it is, so a field without a value
is null or empty; only one that may be `UNSET` is left out.
"""

from typing import Annotated, ClassVar, Literal, TypeVar

from msgspec import Meta, Struct, structs

Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(ge=0)]
Yes = Annotated[bool, Meta(extra_json_schema={"const": True})]
No = Annotated[bool, Meta(extra_json_schema={"const": False})]
Unit = Literal["milli", "bytes", "count"]
"""Of a resource: milli-cores, bytes, or how many."""
PodKey = Annotated[str, Meta(pattern="^[^/]*/[^/]+$", description="A pod as namespace/name.")]
Moment = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$",
        description="A moment in UTC, to the microsecond.",
    ),
]
Notes = Annotated[tuple[str, ...], Meta(description="What one should know beside the answer.")]


class DocumentPart(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A part of a document; names of its fields are Python's here and Kubernetes' in JSON."""


class Alternatives(DocumentPart, frozen=True):
    """A part that comes in several forms: what derives from a class that derives from this. Each
    form has a field whose value only it has."""


class PodOnNode(DocumentPart, frozen=True):
    """A pod with its node."""

    pod: PodKey
    node: str
    """Its node."""


class Document(DocumentPart, frozen=True):
    """A document by itself, printed or served under its kind."""

    KIND: ClassVar[str]
    LISTED: ClassVar[str] = ""
    """What prints several at once, as one list; empty if they come alone."""


_Part = TypeVar("_Part", bound=DocumentPart)


def extend_part(part: DocumentPart, into: type[_Part], **more: object) -> _Part:
    """The same with more fields, or other ones; `into` derives from the part's class."""
    return into(**(structs.asdict(part) | more))
