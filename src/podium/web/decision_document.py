"""The last decision about a pod as a matrix: plugins by nodes, with what each said.

Read off the record of the attempt, for as long as the scheduler has it whole. Of thousands of nodes
the best are shown, and of those that were turned away some for each reason.
"""

from typing import Any, Final

import numpy as np

from podium.live.scheduler_records import SchedulerRecords
from podium.scheduler.cluster.growth import indices
from podium.scheduler.engine import Decision, Engine
from podium.scheduler.explain.digest_document import scores_document
from podium.scheduler.explain.explanation import Explanation
from podium.scheduler.framework.status import Status
from podium.web.gang_document import gang_of
from podium.web.line_words import add_words
from podium.web.page_documents import NotThere

MAX_NODES: Final = 40
MAX_PER_REASON: Final = 12
MAX_REASONS: Final = 40


def pod_document(
    engine: Engine, records: SchedulerRecords, namespace: str, name: str
) -> dict[str, Any]:
    """What is known of a pod, and its decision. Raises NotThere."""
    found = records.pod(namespace, name)
    if found is None:
        raise NotThere("the scheduler knows no such pod")
    key = f"{namespace}/{name}"
    add_words(found["log"])
    pod = engine.state.pods.get(key)
    decision = engine.state.pod_log.decision(key)
    matrix = decision_document(engine, decision) if decision is not None else None
    requests = engine.queue.get(key)
    return {
        **found,
        "requests": requests.info.shape.accounted if requests is not None else None,
        "labels": dict(pod.metadata.labels or {}) if pod is not None else {},
        "gang": gang_of(pod) or None if pod is not None else None,
        "matrix": matrix,
    }


def decision_document(engine: Engine, decision: Decision) -> dict[str, Any]:
    profile = engine.profiles.get(decision.profile)
    skipped = sorted(decision.pre_filter.skipped) if decision.pre_filter is not None else []
    filters = [plugin.name for plugin in profile.filter] if profile is not None else []
    return {
        "attempt": decision.attempt,
        "chosen": decision.chosen,
        "filters": [name for name in filters if name not in skipped],
        "skipped": skipped,
        "scorers": [{"plugin": each.plugin, "weight": each.weight} for each in decision.scores],
        "feasible": len(decision.feasible),
        "nodes": _fitting(decision),
        "rejected": _rejected(decision),
    }


def _fitting(decision: Decision) -> list[dict[str, Any]]:
    """The best nodes, the chosen one first among its equals."""
    total, names = decision.total, decision.node_names
    rows = decision.feasible
    if total is None:
        chosen = [names[row] for row in rows[:MAX_NODES].tolist()]
        return [{"name": name, "total": None, "scores": {}} for name in chosen]
    order: list[int] = np.argsort(-total, kind="stable")[:MAX_NODES].tolist()
    order.sort(key=lambda at: (-int(total[at]), names[int(rows[at])] != decision.chosen))
    return [
        {
            "name": names[int(rows[at])],
            "total": int(total[at]),
            "scores": scores_document(decision.node_scores(at)),
        }
        for at in order
    ]


def _rejected(decision: Decision) -> list[dict[str, Any]]:
    """Nodes by the reason for which they were turned away, the most frequent first."""
    groups: dict[Status, list[str]] = {}
    counts: dict[Status, int] = {}
    for node, status in decision.dropped.items():
        groups.setdefault(status, []).append(node)
        counts[status] = counts.get(status, 0) + 1
    for result in decision.results:
        rows = indices(result.rows)
        for status, positions in result.groups():
            counts[status] = counts.get(status, 0) + len(positions)
            named = groups.setdefault(status, [])
            room = MAX_PER_REASON - len(named)
            named.extend(decision.node_names[row] for row in rows[positions[: max(room, 0)]])
    if decision.pre_filter is not None and decision.pre_filter.status is not None:
        status = decision.pre_filter.status
        counts.setdefault(status, decision.diagnosis.node_count if decision.diagnosis else 0)
    ranked = sorted(counts, key=lambda status: (-counts[status], status.message))
    return [
        {**status_document(status), "count": counts[status], "nodes": groups.get(status, [])}
        for status in ranked[:MAX_REASONS]
    ]


def explanation_document(explanation: Explanation) -> dict[str, Any]:
    """A decision made anew, in which every filter was asked about every node."""
    decision = explanation.decision
    groups = explanation.rejections()[:MAX_REASONS]
    return {
        "attempt": decision.attempt,
        "chosen": decision.chosen,
        "filters": explanation.examination.plugins,
        "skipped": explanation.examination.skipped,
        "scorers": [
            {"plugin": plugin, "weight": weight} for plugin, weight in explanation.weights.items()
        ],
        "feasible": explanation.feasible_count,
        "nodes": [
            {"name": each.name, "total": each.total, "scores": scores_document(each.scores)}
            for each in explanation.ranked(MAX_NODES)
        ],
        "rejected": [
            {
                **status_document(group.status),
                "count": len(group.nodes),
                "nodes": list(group.nodes[:MAX_PER_REASON]),
                "objections": {
                    node: {
                        plugin: [*explanation.details(plugin, node), *status.reasons]
                        for plugin, status in explanation.objections(node).items()
                    }
                    for node in group.nodes[:MAX_PER_REASON]
                },
            }
            for group in groups
        ],
    }


def status_document(status: Status) -> dict[str, Any]:
    return {
        "plugin": status.plugin,
        "code": status.code.label,
        "reasons": list(status.reasons),
    }
