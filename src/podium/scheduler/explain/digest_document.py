"""A decision's numbers as plain data, for the page and for the records that a scheduler serves."""

from podium.golang.json_values import JsonValue
from podium.scheduler.engine.decision import NodeScore
from podium.scheduler.explain.decision_digest import Digest


def choice_document(digest: Digest) -> dict[str, JsonValue]:
    """Why the chosen node is ahead of the next one; nulls and zeros if none was chosen."""
    return {
        "tiedNodes": digest.tied_nodes,
        "score": digest.score,
        "scores": scores_document(digest.scores),
        "runnerUp": digest.runner_up or None,
        "lead": digest.lead,
        "decidedBy": digest.decided_by or None,
    }


def scores_document(scores: dict[str, NodeScore]) -> dict[str, JsonValue]:
    """What each plugin gave a node."""
    return {
        plugin: {"raw": score.raw, "normalized": score.normalized, "weighted": score.weighted}
        for plugin, score in scores.items()
    }
