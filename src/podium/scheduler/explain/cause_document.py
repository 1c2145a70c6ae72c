"""Causes and statuses as parts of documents, the same in reports, explanations and on the page."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from podium.golang.document_structs import DocumentPart
from podium.scheduler.explain.cause import Cause
from podium.scheduler.framework.status import Code, Status

CauseCode = Annotated[
    str,
    Meta(pattern="^[a-z][a-z0-9-]*$", description="A stable word for the kind of cause."),
]
StatusCode = Annotated[
    str,
    Meta(
        description="A status of the scheduling framework.",
        extra_json_schema={"enum": [each.label for each in Code]},
    ),
]


class CauseInFull(DocumentPart, frozen=True):
    """A cause with all that its sentence is made of."""

    code: CauseCode
    plugin: str | None
    """Who rejects."""
    subject: str
    """The thing itself."""
    sentence: str
    """The cause in words."""
    nodes: tuple[str, ...]
    """Nodes that it rules out."""
    facts: dict[str, Any]
    """What the sentence is made of."""

    @classmethod
    def of(cls, cause: Cause) -> CauseInFull:
        plugin = cause.plugin or None
        nodes = tuple(cause.nodes)
        return cls(cause.code, plugin, cause.subject, cause.sentence, nodes, cause.facts)


class PluginStatus(DocumentPart, frozen=True):
    """What a plugin said."""

    plugin: str
    """Who gave it; empty if it was no plugin."""
    code: StatusCode
    reasons: tuple[str, ...]
    """Why, as the pod's message counts it."""

    @classmethod
    def of(cls, status: Status) -> PluginStatus:
        return cls(status.plugin, status.code.label, tuple(status.reasons))
