"""What a document of Podium's own says first: the version of its format, and its kind.

Commands print such documents and a scheduler serves them. Within a version fields are added and
never renamed, moved or given another type. `docs/schemas` has a JSON Schema for every kind, in the
file with its name.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec

from podium.golang.document_structs import Document

API_VERSION: Final = "podium/v1"

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
    "Capacity",
    "ClusterView",
    "Comparison",
    "ComparisonView",
    "ConfigurationCheck",
    "ConfigurationView",
    "DumpCommand",
    "EngineBenchmark",
    "Explanation",
    "FailureView",
    "FailuresView",
    "FragmentationView",
    "GPUDefragmentation",
    "GPUOverview",
    "GPUPackingStudy",
    "GPUPackingStudyView",
    "GangView",
    "LiveBenchmark",
    "NodeStory",
    "NodeView",
    "Optimum",
    "PageOverview",
    "PlayExamples",
    "PlayStep",
    "PlayView",
    "PluginTest",
    "PodAnalysis",
    "PodRecord",
    "PodSearch",
    "PodView",
    "Proposals",
    "QueueRecord",
    "QueueView",
    "Rebalance",
    "ReportOverview",
    "Replay",
    "ReplayCheck",
    "ScenarioComparison",
    "ScenarioRun",
    "Simulation",
    "SourceRecordList",
    "Story",
    "Sweep",
    "ThroughputView",
    "WhatIf",
]
"""Kinds that come alone."""


def add_version(kind: Kind, fields: Mapping[str, object]) -> dict[str, object]:
    """The document with its version and kind; what another process has sent keeps its own."""
    return _add(kind, fields)


def add_version_to(document: Document) -> dict[str, object]:
    """The same for a document that is a struct."""
    return _add(document.KIND, msgspec.to_builtins(document))


def make_list(kind: ListedKind, items: Iterable[Mapping[str, object]]) -> dict[str, object]:
    """One document of many, each of which is a document in itself."""
    return _add(f"{kind}List", {"items": [_add(kind, each) for each in items]})


def _add(kind: str, fields: Mapping[str, object]) -> dict[str, object]:
    return {"apiVersion": API_VERSION, "kind": kind, **fields}
