"""In a few words, why a pod went where it went: one clause, for tables and for lines."""

from collections.abc import Sequence

from podium.scheduler.explain.decision_digest import Digest
from podium.scheduler.framework.explanations.finding import some


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
