"""The packing policies as score plugins: one class each, told apart by the policy of their name.

They score what GPUShare follows, which therefore has to be in the profile, and tell it which card
a pod that shares one is to have. Pods without GPUs are scored too: they take CPU that GPUs need.

Scores of all nodes for each kind of pod, remembered: only rows that changed are scored again. A row
changed if the logs of nodes or of pods name it, or if its cards did. The framework could remember
these scores too, but asks again for all rows where a plugin normalises.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from hashlib import blake2b
from types import MappingProxyType
from typing import ClassVar, Final, Literal

import numpy as np

from podium.addons.collection.args_header import ArgsHeader
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.packing.card_columns import CardSize, card_need, packing_columns, pod_tag
from podium.addons.gpu.packing.fragmentation import rows_by_size
from podium.addons.gpu.packing.node_columns import NodeColumns, best_fitting_device
from podium.addons.gpu.packing.node_columns import Pod as PackedPod
from podium.addons.gpu.packing.policies import POLICIES
from podium.addons.gpu.packing.typical_pods import PodKind
from podium.addons.gpu.plugin.arguments import CardChooser
from podium.addons.gpu.plugin.card_metrics import TypicalEstimate, cpu_left
from podium.addons.gpu.plugin.followed_cards import FollowedCards
from podium.addons.gpu.plugin.gpu_share import GPUShare
from podium.plugin import (
    Cluster,
    Cycle,
    Handle,
    Ints,
    PreScorePlugin,
    Rows,
    ScorePlugin,
    Status,
    indices,
)

MAX_SCORE = 100


class PackingArgs(ArgsHeader, frozen=True, kw_only=True, rename="camel"):
    ties: Literal["first", "chance"] = "first"
    """Among equally good nodes the first of the scheduler's table, which keeps load together, or
    any of them, as the scheduler has it."""


class PackingPlugin(CardChooser, ScorePlugin):
    Args = PackingArgs
    in_range = True
    args: PackingArgs

    def __init__(self, args: PackingArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._scores = PackingScores(handle.cluster, self._score_rows)
        self._typical: TypicalEstimate | None = None

    # --- nodes ------------------------------------------------------------------------------------

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        cards = self._cards()
        version = (self._estimate().version, len(cards.table.kinds), cards.table.places)
        scores: Ints = self._scores.read(self._kind(cycle), cards.table, version)[rows]
        return scores.copy() if isinstance(rows, slice) else scores

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:  # noqa: ARG002
        if self.args.ties == "chance" or not len(scores):
            return scores
        best = np.flatnonzero(scores == scores.max())
        first = best[indices(rows)[best].argmin()]
        result: Ints = np.minimum(scores, MAX_SCORE - 1)
        result[first] += 1
        return result

    def _score_rows(self, kind: PodKind, rows: Ints) -> Ints:
        table, policy = self._cards().table, POLICIES[self.name]
        columns, scores = self._columns(rows), np.zeros(len(rows), np.int64)
        for size, part in self._by_size(rows):
            pod = _pack_kind(kind, size)
            scored = policy(columns.take(part), pod, self._estimate().of(table, size))
            scores[part] = scored.scores
        # Rows that have no room for the pod may be anything.
        result: Ints = np.clip(scores, 0, MAX_SCORE)
        return result

    # --- cards ------------------------------------------------------------------------------------

    def choose_card(self, cycle: Cycle, row: int) -> int | None:
        rows, kind = np.array([row]), self._kind(cycle)
        table = self._cards().table
        [(size, _)] = self._by_size(rows)
        pod, columns = _pack_kind(kind, size), self._columns(rows)
        if pod.gpus != 1 or not pod.is_share:
            return None
        if cycle.pod.uid in self.handle.cluster.placements:
            # Reserve comes when the pod's CPU is taken already, and its card is not.
            columns.cpu_left[:] += pod.cpu_milli
        scored = POLICIES[self.name](columns, pod, self._estimate().of(table, size))
        left = columns.left[0]
        place = best_fitting_device(left, pod.gpu_milli)
        if scored.devices is not None:
            place = int(scored.devices[0])
        return table.nodes[row].cards[place].index if left[place] >= pod.gpu_milli else None

    # --- what they are made of --------------------------------------------------------------------

    def _columns(self, rows: Ints) -> NodeColumns:
        cards = self._cards()
        tags = np.fromiter((_tags(cards, row) for row in rows.tolist()), np.int64, len(rows))
        return packing_columns(cards.table, rows, cpu_left(self.handle.cluster, rows), tags)

    def _by_size(self, rows: Ints) -> list[tuple[CardSize, Ints]]:
        return rows_by_size(self._cards().table, rows)

    def _kind(self, cycle: Cycle) -> PodKind:
        known = self._required_share().known_request(cycle.pod)
        need = card_need(None if known is None else known[0])
        return PodKind(cycle.pod.shape.accounted.get("cpu", 0), need)

    def _estimate(self) -> TypicalEstimate:
        if self._typical is None:
            self._typical = TypicalEstimate(self.handle, self._required_share().request_of)
        self._typical.follow(self._cards().table)
        return self._typical

    def _cards(self) -> FollowedCards:
        return self._required_share().follow_cards()

    def _required_share(self) -> GPUShare:
        share = self.handle.profile.plugins.get(GPUShare.name)
        if not isinstance(share, GPUShare):
            raise LookupError(f"{GPUShare.name}, whose cards are scored, is not in the profile")
        return share


class DotProd(PackingPlugin):
    name = "DotProd"


class GpuClustering(PackingPlugin):
    name = "GpuClustering"


class GpuPacking(PackingPlugin):
    name = "GpuPacking"


class BestFit(PackingPlugin):
    name = "BestFit"


class FGD(PackingPlugin):
    name = "FGD"


class FGDStranded(PackingPlugin):
    name = "FGDStranded"


class RandomArgs(PackingArgs, frozen=True, kw_only=True, rename="camel"):
    seed: int = 0


class Random(PreScorePlugin, PackingPlugin):
    """One of the nodes that fit has 100 and all others 0; the card is drawn as well. Draws follow
    from the seed and the pod's name."""

    name = "Random"
    Args = RandomArgs
    builds_on: ClassVar[Mapping[str, str]] = MappingProxyType({"score": "preScore"})
    args: RandomArgs

    def pre_score(self, cycle: Cycle, rows: Rows) -> Status | None:
        numbers = indices(rows)
        cycle.write(self.name, int(numbers[self._draw(cycle, "node", len(numbers))]))
        return None

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        drawn = cycle.read(self.name, int)
        scores: Ints = np.where(indices(rows) == drawn, MAX_SCORE, 0).astype(np.int64)
        return scores

    def choose_card(self, cycle: Cycle, row: int) -> int | None:
        rows = np.array([row])
        [(size, _)] = self._by_size(rows)
        pod = _pack_kind(self._kind(cycle), size)
        fitting = np.flatnonzero(self._columns(rows).left[0] >= pod.gpu_milli).tolist()
        if pod.gpus != 1 or not pod.is_share or not fitting:
            return None
        place = fitting[self._draw(cycle, "card", len(fitting))]
        return self._cards().table.nodes[row].cards[place].index

    def _draw(self, cycle: Cycle, what: str, below: int) -> int:
        text = f"{self.args.seed}/{what}/{cycle.pod.key}"
        return int.from_bytes(blake2b(text.encode(), digest_size=8).digest()) % below


def _pack_kind(kind: PodKind, size: CardSize) -> PackedPod:
    return PackedPod(kind.cpu_milli, kind.need.milli(size), kind.need.cards)


def _tags(cards: FollowedCards, row: int) -> int:
    """The kinds of GPU pods on a row."""
    tags = 0
    for held in cards.held(row).values():
        tags |= pod_tag(held.cards, held.uses)
    return tags


MAX_KINDS: Final = 512

ScoreRows = Callable[[PodKind, Ints], Ints]


class _Entry:
    __slots__ = ("made_for", "scores", "seen_cards", "seen_nodes", "seen_usage")

    def __init__(self) -> None:
        self.scores: Ints = np.empty(0, np.int64)
        self.made_for: Hashable = None
        self.seen_nodes = self.seen_usage = self.seen_cards = -1


class PackingScores:
    def __init__(self, cluster: Cluster, score_rows: ScoreRows) -> None:
        self._cluster = cluster
        self._score_rows = score_rows
        self._entries: OrderedDict[PodKind, _Entry] = OrderedDict()

    def read(self, kind: PodKind, table: CardTable, version: Hashable) -> Ints:
        """The scores of all rows; not to be changed. `version` stands for what matters beside the
        row's own node, pods and cards."""
        entry = self._entries.get(kind)
        if entry is None:
            entry = self._entries[kind] = _Entry()
            if len(self._entries) > MAX_KINDS:
                self._entries.popitem(last=False)
        self._entries.move_to_end(kind)
        size = self._cluster.nodes.size
        if entry.made_for != (version, size):
            rows = np.arange(size)
            entry.scores = np.zeros(size, np.int64)
            entry.made_for = (version, size)
        else:
            rows = self._find_changed_rows(entry, table)
        entry.seen_nodes = self._cluster.nodes.log.generation
        entry.seen_usage = self._cluster.usage.log.generation
        entry.seen_cards = table.version
        if len(rows):
            entry.scores[rows] = self._score_rows(kind, rows)
        return entry.scores

    def _find_changed_rows(self, entry: _Entry, table: CardTable) -> Ints:
        size = len(entry.scores)
        of_nodes = self._cluster.nodes.log.since(entry.seen_nodes)
        of_pods = self._cluster.usage.log.since(entry.seen_usage)
        if of_nodes is None or of_pods is None:
            return np.arange(size)
        changed = table.generations[:size] > entry.seen_cards
        told = [row for row in {*of_nodes, *of_pods} if 0 <= row < size]
        if told:
            changed[told] = True
        return np.flatnonzero(changed)
