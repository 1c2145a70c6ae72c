"""Steps of Play: what the page may ask for, and nothing else. Decoded strictly."""

from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta, Struct

from podium.golang.document_structs import Count, Document, DocumentPart

MAX_STEP_BYTES: Final = 64 * 1024

Name = Annotated[str, Meta(pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", max_length=253)]


class CreateStep(Struct, frozen=True, forbid_unknown_fields=True, tag_field="step", tag="create"):
    yaml: str


class DeleteStep(Struct, frozen=True, forbid_unknown_fields=True, tag_field="step", tag="delete"):
    """`object_kind` as kubectl takes it, with its group."""

    object_kind: str = msgspec.field(name="kind")
    name: Name
    namespace: Name | None = None


class CordonStep(Struct, frozen=True, forbid_unknown_fields=True, tag_field="step", tag="cordon"):
    node: Name


class UncordonStep(
    Struct, frozen=True, forbid_unknown_fields=True, tag_field="step", tag="uncordon"
):
    node: Name


class DrainStep(Struct, frozen=True, forbid_unknown_fields=True, tag_field="step", tag="drain"):
    node: Name


class KillStep(Struct, frozen=True, forbid_unknown_fields=True, tag_field="step", tag="kill"):
    node: Name


class ReviveStep(Struct, frozen=True, forbid_unknown_fields=True, tag_field="step", tag="revive"):
    node: Name


class SetWeightsStep(
    Struct, frozen=True, forbid_unknown_fields=True, tag_field="step", tag="weights"
):
    """Plugins that are not named have the weight that they were started with."""

    profile: str
    weights: dict[str, int]


Step = (
    CreateStep
    | DeleteStep
    | CordonStep
    | UncordonStep
    | DrainStep
    | KillStep
    | ReviveStep
    | SetWeightsStep
)
ClusterStep = (
    CreateStep | DeleteStep | CordonStep | UncordonStep | DrainStep | KillStep | ReviveStep
)


_DECODER: Final[msgspec.json.Decoder[Step]] = msgspec.json.Decoder(Step)


class CreatedObject(DocumentPart, frozen=True):
    """An object that a step has created."""

    kind: str
    """Its kind as kubectl takes it."""
    name: str
    """Its name."""
    namespace: str
    """Its namespace, empty where there is none."""


class StepOutcome(Struct):
    """What became of a step; `objects` were created, `problem` is what stood in the way."""

    commands: list[str]
    done: list[str] = msgspec.field(default_factory=list)
    objects: list[CreatedObject] = msgspec.field(default_factory=list)
    problem: str | None = None


class UnknownStep(ValueError):
    """A step that Play does not know; says what is wrong with it."""


def read_step(body: bytes | bytearray) -> Step:
    """Raises UnknownStep."""
    try:
        return _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise UnknownStep(f"this is no step: {problem}") from None


class PlayStep(Document, frozen=True):
    """What became of a step that was taken on the page."""

    KIND: ClassVar[str] = "PlayStep"

    mark: Count
    """The number of the last decision before the step."""
    done: tuple[str, ...]
    """What was done, in the words of kubectl."""
    objects: tuple[CreatedObject, ...]
    """What was created."""
    problem: str | None
    """What stood in the way, in the words of the API server."""
    commands: tuple[str, ...]
    """What does the same in a terminal."""

    @classmethod
    def of(cls, outcome: StepOutcome, mark: int) -> "PlayStep":
        return cls(
            mark=mark,
            done=tuple(outcome.done),
            objects=tuple(outcome.objects),
            problem=outcome.problem,
            commands=tuple(outcome.commands),
        )
