"""Replays as plain data, for `-o json` and `-o yaml`."""

from typing import Any

from podium.offline.traces.decision_check import CheckedDecision, DecisionCheck, Verdict
from podium.offline.traces.node_use import NodeUse
from podium.offline.traces.replay_report import Outcome, ReplayedPod, ReplayReport, Waits


def replay_document(report: ReplayReport, config: str) -> dict[str, Any]:
    totals = report.run.totals
    return {
        "trace": report.source,
        "recordedAt": report.started_at,
        "durationSeconds": report.duration_s,
        "config": config,
        "seed": report.run.seed,
        "agreement": report.agreement,
        "outcomes": {outcome.value: report.count(outcome) for outcome in Outcome},
        "recorded": {
            **_waits_document(report.recorded),
            **_nodes_document(report.recorded_nodes),
        },
        "here": {
            **_waits_document(report.here),
            **_nodes_document(report.nodes),
            "pending": totals.pending,
            "evictions": totals.evictions,
            "attempts": totals.attempts,
        },
        "utilisation": report.utilisation,
        "pendingReasons": report.run.pending_reasons,
        "samples": [
            {
                "at": each.at_s,
                "nodes": each.nodes,
                "pending": each.pending,
                "running": each.running,
                "utilisation": each.utilisation,
            }
            for each in report.run.samples
        ],
        "pods": [_pod_document(each) for each in report.pods],
        "notes": list(report.notes),
    }


def check_document(check: DecisionCheck) -> dict[str, Any]:
    return {
        "trace": check.source,
        "recordedAt": check.started_at,
        "durationSeconds": check.duration_s,
        "agreement": check.agreement,
        "verdicts": {verdict.value: check.count(verdict) for verdict in Verdict},
        "decisions": [_decision_document(each) for each in check.decisions],
        "notes": list(check.notes),
    }


def _waits_document(waits: Waits) -> dict[str, Any]:
    return {
        "placed": waits.placed,
        "waitP50Seconds": waits.p50_s,
        "waitP99Seconds": waits.p99_s,
        "waitMaxSeconds": waits.max_s,
    }


def _nodes_document(use: NodeUse) -> dict[str, Any]:
    return {"nodesInUseMean": use.mean, "nodesInUseMax": use.most}


def _pod_document(pod: ReplayedPod) -> dict[str, Any]:
    return {
        "pod": pod.key,
        "arrivedAt": pod.arrived_s,
        "outcome": pod.outcome.value,
        "recordedNode": pod.recorded_node or None,
        "node": pod.node or None,
        "recordedWaitSeconds": pod.recorded_wait_s,
        "waitSeconds": pod.wait_s,
        "reason": pod.reason,
    }


def _decision_document(decision: CheckedDecision) -> dict[str, Any]:
    return {
        "pod": decision.key,
        "at": decision.at_s,
        "verdict": decision.verdict.value,
        "recordedNode": decision.recorded_node,
        "best": list(decision.best),
        "bestCount": decision.best_count,
        "recordedTotal": decision.recorded_total,
        "bestTotal": decision.best_total,
        "reason": decision.reason,
    }
