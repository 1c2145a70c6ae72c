"""What a namespace on its way out says of its deletion: what failed, what is left, what holds it.

(`pkg/controller/namespace/deletion/status_condition_utils.go`)
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from podium.client import ResourceType
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.conditions import changed_condition
from podium.kubernetes.kinds.meta import Condition
from podium.kubernetes.rules.moment import Moment

_FAILURE: Final = "NamespaceDeletionContentFailure"
_REMAINING: Final = "NamespaceContentRemaining"
_FINALIZERS: Final = "NamespaceFinalizersRemaining"
_ALL_IS_WELL: Final = {
    "NamespaceDeletionDiscoveryFailure": (
        "ResourcesDiscovered",
        "All resources successfully discovered",
    ),
    "NamespaceDeletionGroupVersionParsingFailure": (
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    _FAILURE: (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    _REMAINING: ("ContentRemoved", "All content successfully removed"),
    _FINALIZERS: ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}


@dataclass(slots=True)
class Contents:
    """What was found in a namespace after everything was told to go."""

    left: Counter[str] = field(default_factory=Counter)
    """By kind, as conditions name them."""
    finalizers: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, resource: ResourceType, finalizers: Sequence[Sequence[str]]) -> None:
        """Objects of a kind that are still there, by what holds each of them."""
        if finalizers:
            self.left[f"{resource.plural}.{resource.group}"] += len(finalizers)
            self.finalizers.update(each for held in finalizers for each in held)


def deletion_conditions(
    present: tuple[Condition, ...] | None, contents: Contents, moment: Moment
) -> list[JsonObject]:
    """The conditions that have to be written."""
    trouble: dict[str, tuple[str, str]] = {}
    if contents.failures:
        told = ", ".join(sorted(contents.failures))
        count = len(contents.failures)
        message = f"Failed to delete all resource types, {count} remaining: {told}"
        trouble[_FAILURE] = ("ContentDeletionFailed", message)
    if contents.left:
        told = _told(contents.left, "{} has {} resource instances")
        trouble[_REMAINING] = ("SomeResourcesRemain", f"Some resources are remaining: {told}")
    if contents.finalizers:
        told = _told(contents.finalizers, "{} in {} resource instances")
        message = f"Some content in the namespace has finalizers remaining: {told}"
        trouble[_FINALIZERS] = ("SomeFinalizersRemain", message)
    found = [
        changed_condition(present, moment, kind, str(kind in trouble), *trouble.get(kind, well))
        for kind, well in _ALL_IS_WELL.items()
    ]
    return [each for each in found if each is not None]


def _told(counts: Counter[str], form: str) -> str:
    return ", ".join(sorted(form.format(*each) for each in counts.items()))
