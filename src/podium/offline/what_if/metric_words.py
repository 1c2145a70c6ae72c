"""What tables and reports call a metric. Documents and `--fail-if` have its identifier.

One table for `compare`, `scenario`, `sweep` and their reports; docs/compare.md and
docs/scenarios.md say what each means.
"""

from collections.abc import Iterable
from typing import Final

_WORDS: Final = {
    "arrived": "pods arrived",
    "placed": "pods placed",
    "finished": "pods finished",
    "running": "pods running in the end",
    "pending": "pods pending",
    "pending_mean": "pods pending, mean over time",
    "gone": "pods gone for good",
    "evictions": "pods evicted",
    "node_losses": "pods that lost their node",
    "wait_mean_s": "wait, mean (s)",
    "wait_p50_s": "wait, median (s)",
    "wait_p99_s": "wait, 99th percentile (s)",
    "wait_max_s": "wait, longest (s)",
    "pods_share": "places for pods taken",
    "zone_skew": "skew between zones (pods)",
    "node_skew": "skew between nodes (pods)",
    "nodes_used": "nodes used",
    "nodes_used_max": "nodes used, most at once",
    "nodes_mean": "nodes, mean over time",
    "node_hours": "node hours",
    "node_failures": "node failures",
    "scale_ups": "nodes added by the autoscaler",
    "scale_downs": "nodes removed by the autoscaler",
    "cost": "cost of nodes",
}
_OF_A_RESOURCE: Final = {
    "_share": "requested",
    "_fragmentation": "fragmented",
}


def describe_metric(metric: str) -> str:
    """In words, with the unit where the value does not show it."""
    if metric in _WORDS:
        return _WORDS[metric]
    for suffix, words in _OF_A_RESOURCE.items():
        if metric.endswith(suffix):
            return f"{metric.removesuffix(suffix)} {words}"
    return metric


def describe_metrics(metrics: Iterable[str]) -> dict[str, str]:
    return {metric: describe_metric(metric) for metric in metrics}
