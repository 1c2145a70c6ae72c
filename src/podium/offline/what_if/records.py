"""Answers as records: flat dicts of texts, numbers, truths and None, the same keys in each.

Names are Kubernetes' where it has one, in Python's spelling. cpu is in milli-cores, memory in
bytes, shares are between 0 and 1. Contract: within a major release keys are added, never renamed.
"""

from collections.abc import Iterable

from podium.golang.document_structs import DocumentPart
from podium.kubernetes.rules.requests import CPU, MEMORY, PODS
from podium.offline.simulate.report import PodOutcome, SimulationReport
from podium.offline.what_if.consequences import Consequences
from podium.offline.what_if.failures import Failure

Record = dict[str, str | int | float | bool | None]

_UNITS = {CPU: "cpu_milli", MEMORY: "memory_bytes", PODS: "pods"}


def pick(part: DocumentPart, *names: str) -> Record:
    """Some fields of an answer under their own names."""
    return {name: getattr(part, name) for name in names}


def pod_records(report: SimulationReport) -> list[Record]:
    """Each pending pod and what has come of it."""
    return [
        {
            "namespace": result.pod.metadata.namespace,
            "name": result.pod.metadata.name,
            "outcome": result.outcome.value,
            "node": result.node or None,
            "priority": result.pod.spec.priority or 0,
            "attempts": result.attempts,
            "feasible_nodes": result.digest.feasible_nodes,
            "score": result.digest.score,
            "message": result.message or None,
            "cause": next((cause.sentence for cause in result.causes), None),
            "evicted": len(result.victims),
        }
        for result in report.pods
    ]


def node_records(report: SimulationReport) -> list[Record]:
    """Each node, with what pods request of it before and after the run."""
    use = report.utilisation
    found: list[Record] = []
    for node in use.nodes:
        record: Record = {"node": node}
        for resource in use.resources:
            name, of_node = _UNITS.get(resource, resource), use.of(node, resource)
            record[f"{name}_allocatable"] = of_node.allocatable
            record[f"{name}_before"] = of_node.before
            record[f"{name}_after"] = of_node.after
        found.append(record)
    return found


def summarise(report: SimulationReport) -> Record:
    """Figures of a whole run in one record."""
    record: Record = {
        "seed": report.seed,
        "nodes": len(report.utilisation.nodes),
        "running_pods": report.running_pods,
        "pending_pods": len(report.pods),
    }
    for outcome in PodOutcome:
        record[outcome.value.replace("-", "_")] = report.count(outcome)
    record["evictions"] = len(report.evictions)
    for resource in (CPU, MEMORY, PODS):
        total = report.utilisation.total(resource)
        record[f"{resource}_share_before"] = total.fraction_before
        record[f"{resource}_share_after"] = total.fraction_after
    return record


def change_records(found: Consequences) -> list[Record]:
    """Each pod that something happens to: `moved`, `stranded` without a node, `gone` for want of a
    controller, or `kept` by a disruption budget."""
    records: list[Record] = [
        _change(each.pod, "moved", each.before, each.after) for each in found.moved
    ]
    for lost in found.stranded:
        why = lost.causes[0].sentence if lost.causes else lost.message
        records.append(_change(lost.pod, "stranded", lost.before, "", why))
    records += [_change(each.pod, "gone", each.before, "") for each in found.gone]
    records += [_change(each.pod, "kept", each.node, each.node, each.why) for each in found.kept]
    return sorted(records, key=lambda record: (str(record["namespace"]), str(record["name"])))


def _change(pod: str, what: str, before: str | None, after: str, why: str = "") -> Record:
    namespace, _, name = pod.partition("/")
    return {
        "namespace": namespace,
        "name": name,
        "what": what,
        "before": before or None,
        "after": after or None,
        "why": why or None,
    }


def failure_records(failures: Iterable[Failure]) -> list[Record]:
    """Each node or zone that fails by itself, and how many pods of it find a place again."""
    return [
        {
            "name": each.what,
            "survived": each.is_survived,
            "nodes": each.nodes,
            "pods": each.pods,
            "moved": len(each.consequences.moved),
            "stranded": len(each.consequences.stranded),
            "gone": len(each.consequences.gone),
            "preempted": len(each.consequences.preempted),
            "why": next((lost.message for lost in each.consequences.stranded), None),
        }
        for each in failures
    ]
