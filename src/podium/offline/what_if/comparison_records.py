"""A comparison of configurations as records, under the contract of `records.py`."""

from podium.offline.what_if.comparison_answer import ComparisonAnswer
from podium.offline.what_if.records import Record


def metric_records(answer: ComparisonAnswer) -> list[Record]:
    """Each configuration and metric over all seeds; differences are to the first."""
    found: list[Record] = []
    for index, name in enumerate(answer.names):
        for metric in answer.metrics:
            summary = answer.summary(index, metric)
            difference = summary.difference
            found.append(
                {
                    "configuration": name,
                    "metric": metric,
                    "mean": summary.mean,
                    "lowest": summary.lowest,
                    "highest": summary.highest,
                    "difference": difference.mean if difference else None,
                    "difference_lowest": difference.lowest if difference else None,
                    "difference_highest": difference.highest if difference else None,
                    "p_value": difference.p_value if difference else None,
                }
            )
    return found


def run_records(answer: ComparisonAnswer) -> list[Record]:
    """Each run with its metrics."""
    return [
        {
            "configuration": answer.names[run.configuration],
            "seed": run.seed,
            **{metric: run.metrics.get(metric, 0.0) for metric in answer.metrics},
        }
        for run in answer.runs
    ]


def difference_records(answer: ComparisonAnswer) -> list[Record]:
    """Each pod and configuration that does otherwise than the first, with the first seed."""
    found: list[Record] = []
    for index, name in enumerate(answer.names):
        for places in answer.different_pods:
            first, other = places[0], places[index]
            if first == other:
                continue
            namespace, _, pod = first.pod.partition("/")
            found.append(
                {
                    "namespace": namespace,
                    "name": pod,
                    "configuration": name,
                    "first_node": first.node or None,
                    "node": other.node or None,
                    "first_outcome": first.outcome,
                    "outcome": other.outcome,
                }
            )
    return found
