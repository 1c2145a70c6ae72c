"""What changes would do as plain data, for `-o json` and `-o yaml`."""

from collections.abc import Iterable, Mapping
from typing import Any

from podium.kubernetes.rules.requests import unit_of
from podium.offline.what_if.answer import WhatIfAnswer
from podium.offline.what_if.consequences import Consequences, Stranded
from podium.offline.what_if.failures import Failure
from podium.offline.what_if.totals import Total, node_use, total_use
from podium.scheduler.explain.cause_document import cause_document


def what_if_document(answer: WhatIfAnswer, notes: Iterable[str]) -> dict[str, Any]:
    found = answer.consequences
    return {
        "changes": list(found.changes),
        "survived": answer.is_survived,
        **consequences_document(found),
        "kept": [{"pod": each.pod, "node": each.node, "why": each.why} for each in found.kept],
        "waiting": {"before": found.waiting_before, "after": found.waiting_after},
        "utilisation": _uses(total_use(answer.before, answer.after)),
        "nodes": [
            {"name": name, "requested": _uses(uses)}
            for name, uses in node_use(answer.before, answer.after).items()
        ],
        "nodeFailures": _failures(answer.nodes),
        "zoneFailures": _failures(answer.zones),
        "notes": list(notes),
    }


def consequences_document(found: Consequences) -> dict[str, Any]:
    return {
        "moved": [
            {"pod": each.pod, "before": each.before or None, "after": each.after}
            for each in found.moved
        ],
        "stranded": [_stranded(each) for each in found.stranded],
        "gone": [{"pod": each.pod, "before": each.before} for each in found.gone],
        "preempted": [
            {"pod": each.pod, "node": each.node, "by": each.by} for each in found.preempted
        ],
    }


def _stranded(each: Stranded) -> dict[str, Any]:
    return {
        "pod": each.pod,
        "before": each.before or None,
        "message": each.message,
        "causes": [cause_document(cause) for cause in each.causes],
    }


def _failures(failures: list[Failure] | None) -> list[dict[str, Any]] | None:
    if failures is None:
        return None
    return [
        {
            "name": each.what,
            "nodes": each.nodes,
            "pods": each.pods,
            "survived": each.is_survived,
            **consequences_document(each.consequences),
        }
        for each in failures
    ]


def _uses(uses: Mapping[str, Total]) -> dict[str, Any]:
    return {
        resource: {
            "unit": unit_of(resource),
            "allocatableBefore": total.allocatable_before,
            "requestedBefore": total.requested_before,
            "allocatableAfter": total.allocatable_after,
            "requestedAfter": total.requested_after,
        }
        for resource, total in uses.items()
    }
