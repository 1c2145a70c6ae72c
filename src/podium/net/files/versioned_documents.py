"""What a document of Podium's own says first: the version of its format, and its kind.

Commands print such documents and a scheduler serves them. Within a version fields are added and
never renamed, moved or given another type. `docs/schemas` has a JSON Schema for every kind, in the
file with its name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
from msgspec import UNSET
from msgspec.structs import astuple

from podium.golang.document_structs import Document

API_VERSION: Final = "podium.dev/v1"
OLD_API_VERSION: Final = "podium/v1"
"""The version's earlier spelling, which files that are read may still have."""


@dataclass(frozen=True, slots=True)
class ReceivedDocument:
    """What another process has sent. It is passed on as it came, whatever release wrote it."""

    kind: str
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class DocumentList:
    """Documents of one kind that are one document, in which each is a document in itself."""

    kind: type[Document]
    items: Sequence[Document]


def add_version_to(document: Document | DocumentList | ReceivedDocument) -> dict[str, object]:
    """As plain data, with version and kind; what another process has sent keeps its own."""
    if isinstance(document, ReceivedDocument):
        return _add(document.kind, document.fields)
    if isinstance(document, DocumentList):
        items = list(map(add_version_to, document.items))
        return _add(f"{document.kind.KIND}List", {"items": items})
    return _add(document.KIND, msgspec.to_builtins(document))


def encode_document(document: Document) -> bytes:
    """A document as JSON, without a copy of what it is made of."""
    values = zip(document.__struct_encode_fields__, astuple(document), strict=True)
    fields = {name: value for name, value in values if value is not UNSET}
    return msgspec.json.encode(_add(document.KIND, fields))


def _add(kind: str, fields: Mapping[str, object]) -> dict[str, object]:
    return {"apiVersion": API_VERSION, "kind": kind, **fields}
