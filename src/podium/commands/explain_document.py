"""A pod's decision as plain data, for `-o json` and `-o yaml`: every node, every plugin."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from podium.commands.extender_view import consulted_document
from podium.offline.simulate import ExplainedPod
from podium.scheduler.engine.decision import Decision
from podium.scheduler.explain.cause_document import cause_document
from podium.scheduler.explain.digest_document import scores_document
from podium.scheduler.explain.explanation import Explanation, Ranked
from podium.scheduler.framework.status import Status


def explanation_document(
    explained: ExplainedPod,
    *,
    only_node: str | None,
    groups: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    result = explained.result
    return {
        "namespace": result.pod.metadata.namespace,
        "name": result.pod.metadata.name,
        "outcome": result.outcome.value,
        "node": result.node or None,
        "reserved": (result.reserved or None) if result.placed else None,
        "message": result.message,
        "causes": [cause_document(cause) for cause in explained.causes],
        "premise": explained.premise,
        "runsOn": explained.runs_on or None,
        "schedulerName": result.pod.spec.scheduler_name,
        "priority": result.pod.spec.priority or 0,
        "attempts": [
            _attempt(explanation, only_node, groups) for explanation in explained.attempts
        ],
    }


def _attempt(
    explanation: Explanation, only_node: str | None, groups: Mapping[str, str]
) -> dict[str, Any]:
    decision = explanation.decision
    nodes = _nodes(explanation)
    document: dict[str, Any] = {
        "attempt": decision.attempt,
        "node": decision.bound,
        "message": decision.message,
        "causes": [cause_document(cause) for cause in explanation.causes],
        "nominatedNode": decision.nominated_node or None,
        "preemption": _preemption(decision),
        "examinedNodes": sum(result.count for result in decision.results),
        "feasibleNodes": explanation.feasible_count,
        "bestNodes": decision.best,
        "preFilter": _pre_filter(decision),
        "filters": {
            "asked": explanation.examination.plugins,
            "skipped": explanation.examination.skipped,
        },
        "weights": explanation.weights,
        "preScoreSkipped": sorted(decision.pre_score_skipped),
        "nodes": [node for node in nodes if only_node in (None, node["name"])],
    }
    if groups:
        examined = explanation.examination
        document["filters"]["groups"] = {
            name: groups[name] for name in (*examined.plugins, *examined.skipped) if name in groups
        }
    if decision.consulted:
        document["extenders"] = consulted_document(decision)
    return document


def _nodes(explanation: Explanation) -> list[dict[str, Any]]:
    """Nodes that fit, best first, then the others by reason."""
    found = [_fitting(explanation, entry) for entry in explanation.ranked()]
    for group in explanation.rejections():
        found.extend(_rejection_document(explanation, name, group.status) for name in group.nodes)
    return found


def _fitting(explanation: Explanation, entry: Ranked) -> dict[str, Any]:
    return {
        "name": entry.name,
        "fits": True,
        "chosen": entry.name == explanation.decision.chosen,
        "rank": entry.rank,
        "total": entry.total,
        "scores": scores_document(entry.scores),
        "devices": {
            driver: {"inUse": use.before, "total": use.allocatable}
            for driver, use in explanation.devices(entry.name).items()
        },
    }


def _rejection_document(explanation: Explanation, name: str, status: Status) -> dict[str, Any]:
    objections = explanation.objections(name)
    return {
        "name": name,
        "fits": False,
        "status": _status(status),
        "objections": {
            plugin: {**_status(said), "details": explanation.details(plugin, name)}
            for plugin, said in objections.items()
        },
    }


def _preemption(decision: Decision) -> dict[str, Any] | None:
    outcome = decision.post_filter
    if outcome is None:
        return None
    return {
        "status": outcome.code.label,
        "message": outcome.message,
        "nominatedNode": outcome.nominated_node or None,
        "victims": [victim.key for victim in outcome.victims],
    }


def _pre_filter(decision: Decision) -> dict[str, Any] | None:
    outcome = decision.pre_filter
    if outcome is None:
        return None
    return {
        "nodes": None if outcome.nodes is None else sorted(outcome.nodes),
        "skipped": sorted(outcome.skipped),
        "status": _status(outcome.status) if outcome.status else None,
    }


def _status(status: Status) -> dict[str, Any]:
    return {
        "plugin": status.plugin,
        "code": status.code.label,
        "reasons": list(status.reasons),
    }
