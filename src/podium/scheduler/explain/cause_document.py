"""A cause as plain data, the same in reports, explanations and on the page."""

from typing import Annotated, Any

from msgspec import Meta, to_builtins

from podium.golang.document_structs import DocumentPart
from podium.scheduler.explain.cause import Cause

CauseCode = Annotated[
    str,
    Meta(pattern="^[a-z][a-z0-9-]*$", description="A stable word for the kind of cause."),
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
    def of(cls, cause: Cause) -> "CauseInFull":
        plugin = cause.plugin or None
        nodes = tuple(cause.nodes)
        return cls(cause.code, plugin, cause.subject, cause.sentence, nodes, cause.facts)


def cause_document(cause: Cause) -> dict[str, Any]:
    """The same as plain data; a cause that is told twice is written out twice."""
    found: dict[str, Any] = to_builtins(CauseInFull.of(cause))
    return found
