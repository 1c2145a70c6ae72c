"""A decision in the form recorded cases have."""

from typing import Any

from podium.scheduler.engine.decision import Decision
from podium.scheduler.framework.status import Status


def expectation(decision: Decision, reserve: dict[str, Any]) -> dict[str, Any]:
    """The `expect` part of a step."""
    found: dict[str, Any] = {}
    if decision.pre_enqueue is not None:
        found["preenqueue"] = _status(decision.pre_enqueue)
    found["prefilter"] = _pre_filter(decision)
    found["filter"] = {
        name: _status(status) if status else None
        for name, status in sorted(decision.filter_statuses().items())
    }
    found["prescore_skipped"] = sorted(decision.pre_score_skipped)
    found["scores"], found["total"] = _scores(decision)
    found["best"] = decision.best
    found["bound"] = decision.bound
    found["message"] = decision.message
    found["preemption"] = _preemption(decision)
    if reserve:
        found["reserve"] = reserve
    return found


def _status(status: Status) -> dict[str, Any]:
    return {
        "plugin": status.plugin,
        "code": status.code.label,
        "reasons": sorted(status.reasons),
    }


def _pre_filter(decision: Decision) -> dict[str, Any] | None:
    outcome = decision.pre_filter
    if outcome is None:
        return None
    narrowed = outcome.nodes is not None and outcome.status is None
    return {
        "nodes": sorted(outcome.nodes) if narrowed and outcome.nodes else None,
        "skipped": sorted(outcome.skipped),
        "status": _status(outcome.status) if outcome.status else None,
    }


def _scores(decision: Decision) -> tuple[dict[str, Any], dict[str, int]]:
    names = [decision.node_names[row] for row in decision.feasible]
    scores = {
        s.plugin: {
            name: {"raw": raw, "normalized": normalized, "weighted": normalized * s.weight}
            for name, raw, normalized in zip(
                names, s.raw.tolist(), s.normalized.tolist(), strict=True
            )
        }
        for s in sorted(decision.scores, key=lambda s: s.plugin)
    }
    total = {} if decision.total is None else dict(zip(names, decision.total.tolist(), strict=True))
    return scores, dict(sorted(total.items()))


def _preemption(decision: Decision) -> dict[str, Any] | None:
    outcome = decision.post_filter
    if outcome is None:
        return None
    return {
        "nominated_node": outcome.nominated_node or None,
        "victims": sorted(victim.key for victim in outcome.victims),
        "status": outcome.code.label,
        "message": outcome.message,
    }
