"""What a document of Podium's own says first: the version of its format, and its kind.

Commands print such documents and a scheduler serves them. Within a version fields are added and
never renamed, moved or given another type. `docs/schemas` has a JSON Schema for every kind, in the
file with its name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from podium.golang.document_structs import Document

API_VERSION: Final = "podium/v1"

Kind = Literal[
    "ClusterView",
    "ConfigurationView",
    "FragmentationView",
    "GangView",
    "NodeStory",
    "NodeView",
    "PageOverview",
    "PlayExamples",
    "PlayStep",
    "PlayView",
    "PodAnalysis",
    "PodRecord",
    "PodSearch",
    "PodView",
    "QueueRecord",
    "QueueView",
    "ReportOverview",
    "SourceRecordList",
    "ThroughputView",
]
"""Kinds that come alone, of documents that are plain data; a struct says its own."""


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


def add_version(kind: Kind, fields: Mapping[str, object]) -> dict[str, object]:
    """The document with its version and kind; what another process has sent keeps its own."""
    return _add(kind, fields)


def add_version_to(document: Document | DocumentList | ReceivedDocument) -> dict[str, object]:
    """The same for a document that is a struct."""
    if isinstance(document, ReceivedDocument):
        return _add(document.kind, document.fields)
    if isinstance(document, DocumentList):
        return _add(
            f"{document.kind.KIND}List", {"items": list(map(add_version_to, document.items))}
        )
    return _add(document.KIND, msgspec.to_builtins(document))


def encode_document(document: Document) -> bytes:
    """A document as JSON, without a copy of what it is made of."""
    head = f'{{"apiVersion":"{API_VERSION}","kind":"{document.KIND}",'.encode()
    return head + msgspec.json.encode(document)[1:]


def _add(kind: str, fields: Mapping[str, object]) -> dict[str, object]:
    return {"apiVersion": API_VERSION, "kind": kind, **fields}
