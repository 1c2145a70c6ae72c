"""What a document of Podium's own says first: the version of its format, and its kind.

Commands print such documents and a scheduler serves them. Within a version fields are added and
never renamed, moved or given another type. `docs/schemas` has a JSON Schema for every kind, in the
file with its name.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from podium.golang.document_structs import Document

API_VERSION: Final = "podium.dev/v1"
OLD_API_VERSION: Final = "podium/v1"
"""The version's earlier spelling, which files that are read may still have."""

ListedKind = Literal[
    "Agreement",
    "ApiserverBenchmark",
    "ConfigurationCheck",
    "EngineBenchmark",
    "ExtenderBenchmark",
    "ExtensionPoints",
    "Plugin",
    "ScenarioSummary",
]
"""Kinds that come several at a time."""

Kind = Literal[
    "ClusterView",
    "ConfigurationView",
    "DumpCommand",
    "EngineBenchmark",
    "FragmentationView",
    "GangView",
    "LiveBenchmark",
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

    kind: Kind
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class DocumentList:
    """Documents of one kind that are one document, in which each is a document in itself."""

    kind: ListedKind
    items: Sequence[Document]


def add_version(kind: Kind, fields: Mapping[str, object]) -> dict[str, object]:
    """The document with its version and kind; what another process has sent keeps its own."""
    return _add(kind, fields)


def add_version_to(document: Document | DocumentList | ReceivedDocument) -> dict[str, object]:
    """The same for a document that is a struct."""
    if isinstance(document, ReceivedDocument):
        return add_version(document.kind, document.fields)
    if isinstance(document, DocumentList):
        return make_list(document.kind, map(msgspec.to_builtins, document.items))
    return _add(document.KIND, msgspec.to_builtins(document))


def make_list(kind: ListedKind, items: Iterable[Mapping[str, object]]) -> dict[str, object]:
    """One document of many, each of which is a document in itself."""
    return _add(f"{kind}List", {"items": [_add(kind, each) for each in items]})


def _add(kind: str, fields: Mapping[str, object]) -> dict[str, object]:
    return {"apiVersion": API_VERSION, "kind": kind, **fields}
