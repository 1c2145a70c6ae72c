"""Configurations side by side as plain data, for `-o json` and `-o yaml`."""

from collections.abc import Iterable
from typing import Any

from podium.offline.what_if.comparison_answer import ComparisonAnswer, Judgement, MetricSummary
from podium.offline.what_if.run_metrics import Yardstick


def comparison_document(
    answer: ComparisonAnswer,
    judgements: Iterable[Judgement],
    yardstick: Yardstick,
    notes: Iterable[str],
) -> dict[str, Any]:
    judged = list(judgements)
    return {
        "seeds": list(answer.seeds),
        "typicalPod": {
            "cpu": yardstick.typical_pod.cpu_milli,
            "memory": yardstick.typical_pod.memory_bytes,
        },
        "configurations": [
            {
                "name": name,
                "metrics": [
                    {"name": metric, **_summary(answer.summary(index, metric))}
                    for metric in answer.metrics
                ],
            }
            for index, name in enumerate(answer.names)
        ],
        "runs": [
            {
                "configuration": answer.names[run.configuration],
                "seed": run.seed,
                "metrics": {name: run.metrics.get(name, 0.0) for name in answer.metrics},
            }
            for run in answer.runs
        ],
        "podCount": answer.pod_count,
        "differentPods": [
            {
                "pod": places[0].pod,
                "places": [
                    {"configuration": name, "outcome": place.outcome, "node": place.node or None}
                    for name, place in zip(answer.names, places, strict=True)
                ],
            }
            for places in answer.different_pods
        ],
        "conditions": [
            {
                "condition": each.condition.text,
                "holds": bool(each.configurations),
                "configurations": [answer.names[index] for index in each.configurations],
            }
            for each in judged
        ],
        "failed": any(each.configurations for each in judged),
        "notes": list(notes),
    }


def _summary(summary: MetricSummary) -> dict[str, Any]:
    difference = summary.difference
    return {
        "mean": summary.mean,
        "lowest": summary.lowest,
        "highest": summary.highest,
        "difference": None
        if difference is None
        else {
            "mean": difference.mean,
            "lowest": difference.lowest,
            "highest": difference.highest,
            "pValue": difference.p_value,
        },
    }
