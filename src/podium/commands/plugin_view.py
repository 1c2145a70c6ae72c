"""How `podium plugin` shows plugins: those that there are, and one that was tried."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from podium.commands.answering import Answer
from podium.commands.console import Text
from podium.commands.tables import Screen, count, some
from podium.golang.document_structs import Document, DocumentPart
from podium.net.files.versioned_documents import DocumentList

if TYPE_CHECKING:
    from podium.commands.plugin_trial import PluginTrial, PodAnswer

MAX_ROWS: Final = 30
"""Of nodes of one pod on the screen; JSON has all."""


@dataclass(frozen=True, slots=True)
class KnownPlugin:
    """`origin` is who brings it; `by_default` whether the default profile runs it."""

    name: str
    origin: str
    points: Sequence[str]
    by_default: bool


class PluginDocument(Document, frozen=True):
    """A plugin that a configuration can name, an item of `podium plugin list -o json`."""

    KIND: ClassVar[str] = "Plugin"
    LISTED: ClassVar[str] = (
        "The plugins that a configuration can name, printed by `podium plugin list -o json`."
    )

    name: str
    """The plugin's name."""
    origin: str
    """Who brings it: kube-scheduler, scheduler-plugins, package, or the file that was given."""
    points: tuple[str, ...]
    """The extension points at which it runs, in the order in which a pod meets them."""
    enabled_by_default: bool
    """Whether the default profile runs it."""

    @classmethod
    def of(cls, known: KnownPlugin) -> PluginDocument:
        return cls(known.name, known.origin, tuple(known.points), known.by_default)


class TriedPromise(DocumentPart, frozen=True):
    """A promise that was broken."""

    promise: str
    """What the plugin has promised."""
    text: str
    """What it did instead, in the first case that was found."""


class TriedNode(DocumentPart, frozen=True):
    """What the plugin says of one node."""

    name: str
    """The node."""
    reason: str
    """Why the plugin refuses the node; empty if it does not."""
    raw_score: int | None
    """What the plugin's score gave; null where it was not asked."""
    score: int | None
    """The same after normalising, 0 to 100."""


class TriedPod(DocumentPart, frozen=True):
    """A pod that the plugin was asked about."""

    name: str
    """The pod, as namespace/name."""
    remark: str
    """What is to be said of the pod as a whole: skipped, refused before any node, or that the
    plugin broke."""
    nodes: tuple[TriedNode, ...]
    """What the plugin says of each node, the best first."""


class PluginTestDocument(Document, frozen=True):
    """A plugin that was tried out, printed by `podium plugin test -o json`."""

    KIND: ClassVar[str] = "PluginTest"

    plugin: str
    """The plugin's name."""
    points: tuple[str, ...]
    """The extension points at which it runs, in the order in which a pod meets them."""
    broken: tuple[TriedPromise, ...]
    """Promises that are not kept; empty if all are, as far as tried."""
    made_up_sources: tuple[str, ...]
    """Sources that answered with made-up numbers, since nothing outside is asked."""
    pods: tuple[TriedPod, ...]
    """The pods that the plugin was asked about."""

    @classmethod
    def of(cls, trial: PluginTrial) -> PluginTestDocument:
        return cls(
            plugin=trial.name,
            points=tuple(trial.points),
            broken=tuple(TriedPromise(each.promise, each.text) for each in trial.broken),
            made_up_sources=tuple(trial.made_up),
            pods=tuple(
                TriedPod(
                    answer.pod,
                    answer.remark,
                    tuple(
                        TriedNode(each.node, each.reason, each.raw, each.score)
                        for each in answer.nodes
                    ),
                )
                for answer in trial.answers
            ),
        )


@dataclass(frozen=True)
class KnownPluginsView(Answer):
    known: Sequence[KnownPlugin]
    is_yes: bool = True
    has_crashed: bool = False

    def document(self) -> DocumentList:
        return DocumentList(PluginDocument, tuple(map(PluginDocument.of, self.known)))

    def show(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        _show_known(screen, self.known)


@dataclass(frozen=True)
class PluginTrialView(Answer):
    trial: PluginTrial
    has_crashed: bool = False

    @property
    def is_yes(self) -> bool:
        return not self.trial.broken

    def document(self) -> PluginTestDocument:
        return PluginTestDocument.of(self.trial)

    def show(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        _show_trial(screen, self.trial)


def _show_known(screen: Screen, known: Iterable[KnownPlugin]) -> None:
    table = screen.table("Plugin", "From", "On", "Runs at", whole=("Plugin",))
    for each in known:
        on = screen.signs.yes if each.by_default else ""
        table.add_row(each.name, each.origin, on, ", ".join(each.points))
    screen.print(table)


def _show_trial(screen: Screen, trial: PluginTrial) -> None:
    screen.print(Text(f"{trial.name}  runs at {', '.join(trial.points)}", style="bold"))
    if trial.broken:
        screen.print()
        told = count(len(trial.broken), "promise")
        screen.print(Text(f"{screen.signs.no} {told} broken", style="red"))
        for broken in trial.broken:
            screen.print(f"  {broken.promise}")
            screen.print(Text(f"    {screen.signs.arrow} {broken.text}", style="dim"))
    else:
        screen.print(Text(f"{screen.signs.yes} keeps its promises, as far as tried", style="green"))
    if not {"filter", "score"} & {*trial.points}:
        screen.notes(["it neither filters nor scores, so there is nothing to show of single nodes"])
        return
    for answer in trial.answers:
        _show_answer(screen, answer)
    if trial.made_up:
        screen.notes([f"numbers of {some(trial.made_up)} are made up: no source was asked"])


def _show_answer(screen: Screen, answer: PodAnswer) -> None:
    screen.print_heading(f"Pod {answer.pod}", answer.remark)
    if not answer.nodes:
        return
    table = screen.table("Node", "Fits", "Raw", "Score", "Why not", right=("Raw", "Score"))
    for node in answer.nodes[:MAX_ROWS]:
        fits = screen.signs.no if node.reason else screen.signs.yes
        raw, score = ("" if n is None else str(n) for n in (node.raw, node.score))
        table.add_row(node.node, fits, raw, score, node.reason)
    screen.print(table)
    left = len(answer.nodes) - MAX_ROWS
    if left > 0:
        screen.print(Text(f"and {count(left, 'node')} more", style="dim"))
