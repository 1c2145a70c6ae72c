"""What `podium config` finds, as documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from msgspec import UNSET, UnsetType, convert

from podium.golang.document_structs import Document, DocumentPart
from podium.scheduler.config.effective import expand_lists
from podium.scheduler.config.errors import ConfigFinding
from podium.scheduler.config.examine import ConfigurationMistake, Examination
from podium.scheduler.config.merge import PointLists

PluginNames = tuple[str, ...]
WeightedPlugins = tuple[tuple[str, int], ...]
FindingLevel = Literal["old spelling", "warning"]


class PluginsByPoint(DocumentPart, frozen=True, kw_only=True):
    """Plugins by extension point, in the order in which they run; points without plugins are left
    out."""

    pre_filter: PluginNames | UnsetType = UNSET
    """Plugins that run once a pod, before its nodes are looked at."""
    filter: PluginNames | UnsetType = UNSET
    """Plugins that run for every node: may the pod go there?"""
    post_filter: PluginNames | UnsetType = UNSET
    """Plugins that run when no node was left."""
    reserve: PluginNames | UnsetType = UNSET
    """Plugins that run when the node is chosen."""
    pre_score: PluginNames | UnsetType = UNSET
    """Plugins that run once a pod, before its nodes are scored."""
    score: WeightedPlugins | UnsetType = UNSET
    """Plugins that run for every node that is left, with their weights."""
    pre_bind: PluginNames | UnsetType = UNSET
    """Plugins that run before binding."""
    bind: PluginNames | UnsetType = UNSET
    """Plugins that run to bind."""
    post_bind: PluginNames | UnsetType = UNSET
    """Plugins that run after binding."""
    permit: PluginNames | UnsetType = UNSET
    """Plugins that run before binding, with leave to wait."""
    pre_enqueue: PluginNames | UnsetType = UNSET
    """Plugins that run before a pod may enter the queue."""
    queue_sort: PluginNames | UnsetType = UNSET
    """Plugins that run for the order of the queue."""
    placement_generate: PluginNames | UnsetType = UNSET
    """Plugins that run to propose placements of a group."""
    placement_score: WeightedPlugins | UnsetType = UNSET
    """Plugins that run for every placement of a group, with their weights."""

    @classmethod
    def of(cls, points: Mapping[str, list[Any]]) -> PluginsByPoint:
        """From lists as `expand_lists` makes them."""
        return convert(points, cls)


class FoundProblem(DocumentPart, frozen=True):
    """Something that is wrong."""

    path: str
    """The field; empty where it is none."""
    line: int | None
    """The line of the file, from 1; null where it is not known."""
    text: str
    """What is wrong."""
    remedy: str
    """What would be right; empty where nobody knows."""

    @classmethod
    def of(cls, mistake: ConfigurationMistake) -> FoundProblem:
        return cls(mistake.path, mistake.line, mistake.text, mistake.remedy)


class FoundAdvice(DocumentPart, frozen=True):
    """Something that should be written differently."""

    level: FindingLevel
    """A name of earlier releases that was taken for the one of today, or something that loads and
    does not work."""
    path: str
    """The field; empty where it is none."""
    line: int | None
    """The line of the file, from 1; null where it is not known."""
    text: str
    """What there is to say."""
    remedy: str
    """What to write instead."""

    @classmethod
    def of(cls, finding: ConfigFinding) -> FoundAdvice:
        return cls(finding.level.value, finding.path, finding.line, finding.text, finding.remedy)


class ConfigurationCheck(Document, frozen=True, kw_only=True):
    """What `podium config check` prints about a file."""

    KIND: ClassVar[str] = "ConfigurationCheck"
    LISTED: ClassVar[str] = "What `podium config check` prints about several files."

    file: str
    """The file as it was named."""
    loads: bool
    """Whether it loads."""
    message: str | None
    """What kube-scheduler would exit with; null if it loads."""
    notes: tuple[str, ...]
    """What to know about a file that loads."""
    errors: tuple[str, ...]
    """The message and, if it has parts, each of them."""
    problems: tuple[FoundProblem, ...]
    """Everything that is wrong."""
    findings: tuple[FoundAdvice, ...]
    """What should be written differently in a file that loads."""
    effective: dict[str, Any] | None
    """The effective configuration, in the format of kube-scheduler's --write-config-to; null if the
    file does not load."""
    expanded: tuple[PluginsByPoint, ...] | None
    """Plugins of each profile; null if the file does not load."""

    @classmethod
    def of(cls, file: str, found: Examination, notes: Sequence[str]) -> ConfigurationCheck:
        expanded = found.expanded
        return cls(
            # A name that is no UTF-8 cannot stand in JSON as it is.
            file=file.encode(errors="surrogateescape").decode(errors="replace"),
            loads=found.loads,
            message=found.message,
            notes=tuple(notes),
            errors=tuple(found.errors),
            problems=tuple(map(FoundProblem.of, found.mistakes)),
            findings=tuple(map(FoundAdvice.of, found.findings)),
            effective=found.effective,
            expanded=None if expanded is None else tuple(map(PluginsByPoint.of, expanded)),
        )


class ProfilePoints(Document, frozen=True):
    """The plugins of one profile, an item of `podium config points -o json`."""

    KIND: ClassVar[str] = "ExtensionPoints"
    LISTED: ClassVar[str] = "What `podium config points` prints: the plugins of every profile."

    scheduler_name: str
    """The profile's name."""
    points: PluginsByPoint

    @classmethod
    def all_of(cls, lists: Mapping[str, PointLists]) -> tuple[ProfilePoints, ...]:
        found = zip(lists, expand_lists(lists), strict=True)
        return tuple(cls(name, PluginsByPoint.of(points)) for name, points in found)
