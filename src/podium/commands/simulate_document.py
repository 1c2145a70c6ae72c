"""A simulation's report as plain data, for `-o json` and `-o yaml`.

Names are Kubernetes' where it has one. Nothing is left out and nothing is rounded: cpu is in
milli-cores, memory and storage in bytes, everything else in units.
"""

from typing import Any

from podium.kubernetes.rules.requests import CPU, EPHEMERAL_STORAGE, MEMORY
from podium.offline.simulate import PodOutcome, PodResult, SimulationReport
from podium.offline.simulate.report import group_by_cause
from podium.scheduler.engine.observer import Line
from podium.scheduler.explain.cause_document import cause_document
from podium.scheduler.explain.digest_document import digest_document

UNITS = {CPU: "milli", MEMORY: "bytes", EPHEMERAL_STORAGE: "bytes"}


def report_document(report: SimulationReport, *, timeline: bool = False) -> dict[str, Any]:
    document = {
        "summary": {
            "nodes": len(report.utilisation.nodes),
            "runningPods": report.running_pods,
            "pendingPods": len(report.pods),
            **{_camel(outcome): report.count(outcome) for outcome in PodOutcome},
            "evictions": len(report.evictions),
            "allFit": report.all_fit,
            "seed": report.seed,
        },
        "pods": [_pod(result) for result in report.pods],
        "causes": _causes(report),
        "evictions": [
            {
                "pod": eviction.key,
                "node": eviction.node,
                "priority": eviction.victim.spec.priority or 0,
                "by": eviction.by,
            }
            for eviction in report.evictions
        ],
        "nodes": [_node(report, name) for name in report.utilisation.nodes],
        "notes": list(report.notes),
    }
    if timeline:
        document["timeline"] = [
            {"pod": key, "life": [line_document(line) for line in life]}
            for key, life in report.timeline.lives()
        ]
    return document


def _causes(report: SimulationReport) -> list[dict[str, Any]]:
    """Each first cause once, with the pods that have it."""
    groups = group_by_cause(result for result in report.pods if not result.placed)
    return [
        {**cause_document(cause), "pods": [result.key for result in results]}
        for cause, results in groups
        if cause is not None
    ]


def line_document(line: Line) -> dict[str, Any]:
    """A line of the pod log; `about` and `detail` mean what `Line` says for its kind."""
    return {
        "atSeconds": line.at,
        "what": line.what,
        "plugins": list(line.plugins),
        "about": line.about or None,
        "detail": line.detail or None,
    }


def _pod(result: PodResult) -> dict[str, Any]:
    digest, metadata = result.digest, result.pod.metadata
    return {
        "namespace": metadata.namespace,
        "name": metadata.name,
        "outcome": result.outcome.value,
        "node": result.node or None,
        "reserved": (result.reserved or None) if result.placed else None,
        "message": result.message,
        "causes": [
            {
                "code": cause.code,
                "plugin": cause.plugin or None,
                "subject": cause.subject,
                "sentence": cause.sentence,
            }
            for cause in result.causes
        ],
        "schedulerName": result.pod.spec.scheduler_name,
        "priority": result.pod.spec.priority or 0,
        "turnedAwayFrom": (result.turned_away_from or None) if not result.placed else None,
        "attempts": result.attempts,
        **digest_document(digest),
        "reasons": [
            {"reason": reason, "nodes": nodes}
            for reason, nodes in sorted(digest.reasons.items(), key=lambda kv: (-kv[1], kv[0]))
        ],
        "evicted": list(result.victims),
    }


def _node(report: SimulationReport, name: str) -> dict[str, Any]:
    resources = {}
    for resource in report.utilisation.resources:
        use = report.utilisation.of(name, resource)
        resources[resource] = {
            "unit": UNITS.get(resource, "count"),
            "allocatable": use.allocatable,
            "before": use.before,
            "after": use.after,
        }
    return {"name": name, "requested": resources}


def _camel(outcome: PodOutcome) -> str:
    first, *rest = outcome.value.split("-")
    return first + "".join(word.capitalize() for word in rest)
