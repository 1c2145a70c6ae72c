"""A decision in numbers, for whoever cannot keep all of it: reports, and records of a scheduler.

A decision holds arrays over all nodes; a digest says how many nodes were looked at and why the
chosen one is ahead of the next, or what stood in the way. Documents about attempts derive from its
figures, and `why` puts them into one clause for tables and lines.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from podium.golang.document_structs import Count, DocumentPart
from podium.scheduler.engine.decision import Decision, NodeScore
from podium.scheduler.framework.diagnosis import reason_counts
from podium.scheduler.framework.explanations.finding import some


class ChoiceFigures(DocumentPart, frozen=True, kw_only=True):
    """Why the chosen node is ahead of the next one."""

    tied_nodes: Count = 0
    """Nodes with the highest total, the chosen one among them."""
    score: int | None = None
    """The chosen node's total; null where there was nothing to compare."""
    scores: Mapping[str, NodeScore] = {}
    """The chosen node's scores, by plugin."""
    runner_up: str | None = None
    """The best node with a smaller total."""
    lead: Count = 0
    """How far the chosen node is ahead of it."""
    decided_by: str | None = None
    """The plugin that gave the chosen node the largest lead."""


class AttemptFigures(ChoiceFigures, frozen=True, kw_only=True):
    """An attempt in numbers."""

    examined_nodes: Count = 0
    """Nodes that filters looked at."""
    feasible_nodes: Count = 0
    """Those that fit."""


class Digest(AttemptFigures, frozen=True, kw_only=True):
    """The same with the reasons for which nodes were rejected, and how many nodes have each."""

    reasons: Mapping[str, int] = {}


def pick_figures(digest: Digest, figures: type[ChoiceFigures]) -> dict[str, Any]:
    """As fields, for what is made of them."""
    return {name: getattr(digest, name) for name in figures.__struct_fields__}


def digest_of(decision: Decision) -> Digest:
    examined = sum(result.count for result in decision.results)
    if decision.chosen is None:
        reasons = reason_counts(decision.diagnosis) if decision.diagnosis else {}
        return Digest(examined_nodes=examined, reasons=reasons)
    feasible, total = decision.feasible, decision.total
    if total is None:
        return Digest(
            examined_nodes=examined,
            feasible_nodes=len(feasible),
            tied_nodes=len(decision.best_rows),
        )
    names = decision.node_names
    at = next(i for i, row in enumerate(feasible) if names[row] == decision.chosen)
    score = int(total[at])
    below = np.flatnonzero(total < score)
    second, lead, by = -1, 0, None
    if len(below):
        second = int(below[np.argmax(total[below])])
        lead = score - int(total[second])
        leads = {
            s.plugin: int(s.normalized[at] - s.normalized[second]) * s.weight
            for s in decision.scores
        }
        by = max(leads, key=lambda plugin: leads[plugin])
    return Digest(
        examined_nodes=examined,
        feasible_nodes=len(feasible),
        tied_nodes=len(decision.best_rows),
        score=score,
        scores=decision.node_scores(at),
        runner_up=names[feasible[second]] if second >= 0 else None,
        lead=lead,
        decided_by=by,
    )


def rejections(decision: Decision) -> dict[str, int]:
    """Plugin -> number of nodes that it ruled out, the most first."""
    found: Counter[str] = Counter()
    outcome, diagnosis = decision.pre_filter, decision.diagnosis
    if diagnosis is None or decision.chosen is not None:
        return {}
    if outcome is not None and outcome.status is not None:
        found[", ".join(sorted(diagnosis.rejectors))] = diagnosis.node_count
        return dict(found)
    for result in decision.results:
        for status, positions in result.groups():
            found[status.plugin] += len(positions)
    if outcome is not None and outcome.nodes is not None:
        found[", ".join(sorted(outcome.narrowed_by))] += diagnosis.node_count - found.total()
    return {plugin: nodes for plugin, nodes in found.most_common() if nodes > 0}


def why(digest: Digest, victims: Sequence[str] = ()) -> str:
    """Why a pod went where it went; `victims` are the pods that had to leave for it."""
    if victims:
        return f"takes the place of {some(victims)}"
    return lead(digest)


def lead(digest: Digest) -> str:
    """What one attempt had to choose from."""
    if digest.feasible_nodes <= 1:
        return (
            "the only node it may go to"
            if digest.examined_nodes <= 1
            else "the only node that fits"
        )
    among = f"{digest.feasible_nodes:,} that fit"
    if digest.score is None:
        return f"one of {among}, nothing to compare"
    tied = digest.tied_nodes
    best = f"one of {tied} best among {among}" if tied > 1 else f"best of {among}"
    if not digest.runner_up:
        return best
    return f"{best}, {digest.lead} ahead of {digest.runner_up} ({digest.decided_by})"
