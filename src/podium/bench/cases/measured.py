"""Basic pods where one more scorer decides, by what was measured of the nodes.

The default profile with PrometheusScore, NetworkTraffic or TargetLoadPacking beside its own
scorers; set beside `SchedulingBasic` they tell what a data-driven score costs. Measurements of all
nodes have come before the first pod, and the next ones would come after the last.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from msgspec.json import encode

from podium.bench.cases import resources
from podium.bench.templates import BenchmarkPlan, Scene, node_name
from podium.user_code.shipped import SOURCE_ANSWERS, load_entry_point

_ADDRESS: Final = "http://127.0.0.1:9090"
_QUERY: Final = "node_load1"
_TRAFFIC: Final = 'sum_over_time(node_network_receive_bytes_total{device="ens192"}[5m0s])'


def by_query(plan: BenchmarkPlan) -> Scene:
    args = {"prometheusAddress": _ADDRESS, "query": _QUERY}
    values = {node_name(index): float(index * 7919 % 1000) for index in range(plan.nodes)}
    return _scene(plan, "PrometheusScore", args, f"PrometheusScore {_ADDRESS} {_QUERY}", values)


def by_traffic(plan: BenchmarkPlan) -> Scene:
    args = {"prometheusAddress": _ADDRESS}
    values = {node_name(index): float(index * 7919 % 100_003) for index in range(plan.nodes)}
    return _scene(plan, "NetworkTraffic", args, f"NetworkTraffic {_ADDRESS} {_TRAFFIC}", values)


def by_load(plan: BenchmarkPlan) -> Scene:
    loads = {
        node_name(index): {"metrics": [{"type": "CPU", "operator": "AVG", "value": index % 90}]}
        for index in range(plan.nodes)
    }
    args = {"watcherAddress": _ADDRESS}
    # Every pod was bound long before the end of the window but those of the run itself.
    answer = {"window": {"end": 4e9}, "data": {"NodeMetricsMap": loads}}
    # Brings an HTTP client, which no other workload loads and whose memory would be counted.
    measured = load_entry_point(SOURCE_ANSWERS, "load-watcher")(encode(answer))
    return _scene(plan, "TargetLoadPacking", args, f"load-watcher {_ADDRESS}", measured)


def _scene(
    plan: BenchmarkPlan, plugin: str, args: Mapping[str, Any], source: str, answer: object
) -> Scene:
    profile = {
        "schedulerName": "default-scheduler",
        "plugins": {"score": {"enabled": [{"name": plugin, "weight": 1}]}},
        "pluginConfig": [{"name": plugin, "args": args}],
    }
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }
    basic = resources.basic(plan)
    return replace(basic, configuration=configuration, answers={source: answer})
