"""A run of a scenario as plain data, for `-o json` and `-o yaml`."""

from collections.abc import Iterable
from typing import Any

from podium.offline.scenarios.running import ScenarioRun
from podium.offline.scenarios.scenario_file import ScenarioFile
from podium.offline.what_if.comparison_answer import ComparisonAnswer, Judgement
from podium.offline.what_if.comparison_records import metric_records
from podium.offline.what_if.conditions import Condition


def scenario_document(
    run: ScenarioRun, config: str, judged: Iterable[tuple[Condition, bool]], notes: Iterable[str]
) -> dict[str, Any]:
    report = run.report
    return {
        "scenario": run.scenario,
        "configuration": config,
        "seed": run.seed,
        "durationSeconds": report.duration_s,
        "metrics": run.metrics,
        "workloads": [
            {
                "name": each.workload,
                "arrived": each.arrived,
                "placed": each.placed,
                "finished": each.finished,
                "running": each.running,
                "pending": each.pending,
                "gone": each.gone,
                "evictions": each.evictions,
                "nodeLosses": each.node_losses,
                "waitP50Seconds": each.wait_s(50),
                "waitP99Seconds": each.wait_s(99),
            }
            for each in run.workloads
            if each.arrived
        ],
        "pendingReasons": [
            {"reason": reason, "pods": pods} for reason, pods in report.pending_reasons.items()
        ],
        "samples": [
            {
                "atSeconds": sample.at_s,
                "nodes": sample.nodes,
                "pending": sample.pending,
                "running": sample.running,
                "utilisation": sample.utilisation,
            }
            for sample in report.samples
        ],
        "pods": [
            {
                "name": pod.key,
                "workload": pod.workload,
                "state": pod.state.value,
                "arrivedSeconds": pod.arrived_s,
                "firstAttemptSeconds": pod.first_attempt_s,
                "boundSeconds": pod.bound_s,
                "waitedSeconds": pod.waited_s,
                "node": pod.node or None,
                "endedSeconds": pod.ended_s,
                "evictions": pod.evictions,
                "nodeLosses": pod.node_losses,
                "reason": pod.reason,
            }
            for pod in report.pods
        ],
        "conditions": [
            {"condition": condition.text, "holds": holds} for condition, holds in judged
        ],
        "notes": list(notes),
    }


def scenario_comparison_document(
    scenario: str, answer: ComparisonAnswer, judgements: Iterable[Judgement]
) -> dict[str, Any]:
    return {
        "scenario": scenario,
        "seeds": list(answer.seeds),
        "metrics": metric_records(answer),
        "runs": [
            {
                "configuration": answer.names[run.configuration],
                "seed": run.seed,
                "metrics": {name: run.metrics.get(name, 0.0) for name in answer.metrics},
            }
            for run in answer.runs
        ],
        "conditions": [
            {
                "condition": each.condition.text,
                "configurations": [answer.names[index] for index in each.configurations],
            }
            for each in judgements
        ],
    }


def summary_document(scenario: ScenarioFile) -> dict[str, Any]:
    return {
        "name": scenario.name,
        "description": scenario.description,
        "durationSeconds": scenario.duration_s,
        "nodes": len(scenario.cluster.nodes) + sum(pool.count for pool in scenario.pools),
        "tenants": [tenant.name for tenant in scenario.tenants],
    }
