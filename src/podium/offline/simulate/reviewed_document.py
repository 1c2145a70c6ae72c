"""What documents about a simulated cluster say first: what its input lacks or contradicts."""

from podium.golang.document_structs import Count, Document, DocumentPart, PodKey


class IncompleteKind(DocumentPart, frozen=True):
    """A kind that the input lacks and that matters."""

    kind: str
    """The kind of object."""
    sentence: str
    """What is missing, and who refers to it."""
    referred_by: tuple[str, ...]
    """Objects that refer to it."""
    affects: str
    """What may be wrong without it."""
    command: str | None
    """A command that dumps a cluster with all kinds; null where the cluster was asked and did not
    show them."""


class DifferingMessage(DocumentPart, frozen=True):
    """A pod of which the cluster's scheduler has said something else."""

    pod: PodKey
    recorded: str
    """What the cluster's scheduler said."""
    computed: str
    """What this run says; empty if the pod fits."""
    node: str | None
    """Where the pod goes in this run."""


class ComparedMessages(DocumentPart, frozen=True):
    """Messages that the cluster's scheduler has left on pods, compared with those of this run."""

    compared: Count = 0
    """Pods that had one."""
    differences: tuple[DifferingMessage, ...] = ()
    """Where they differ."""


class ReviewedDocument(Document, frozen=True, kw_only=True):
    """A document with what to know before the answer, which whoever has read the input adds."""

    incomplete: tuple[IncompleteKind, ...] = ()
    """Kinds that the input lacks and that matter: the answer may be wrong."""
    recorded_messages: ComparedMessages = ComparedMessages()
    """Messages that the cluster's scheduler has left on pods, compared with those of this run."""
