"""The best placement beside the scheduler's as plain data, for `-o json` and `-o yaml`."""

from collections.abc import Iterable
from typing import Any

from podium.commands.simulate_document import UNITS
from podium.offline.what_if.optimum_answer import OptimumAnswer


def optimum_document(answer: OptimumAnswer, notes: Iterable[str]) -> dict[str, Any]:
    return {
        "objective": answer.objective,
        "schedulerIsBest": answer.is_scheduler_best,
        "proven": answer.is_proven,
        "checked": answer.is_checked,
        "refusal": answer.refusal or None,
        "timeLimitSeconds": answer.time_limit_s,
        "timedOut": answer.timed_out,
        "boundIgnores": list(answer.ignored),
        "pods": {
            "pending": answer.pods,
            "placedByScheduler": answer.scheduler_placed,
            "placedByOptimum": answer.optimum_placed,
            "evictedByScheduler": answer.evictions,
            "leftOut": list(answer.left_out),
        },
        "measures": [
            {
                "name": each.name,
                "better": "more" if each.is_maximised else "less",
                "scheduler": each.scheduler,
                "optimum": each.optimum,
                "bound": each.bound,
                "gap": each.gap,
                "proven": each.is_proven,
            }
            for each in answer.measures
        ],
        "resources": {
            each.resource: {
                "unit": UNITS.get(each.resource, "count"),
                "asked": each.asked,
                "scheduler": each.scheduler,
                "optimum": each.optimum,
            }
            for each in answer.resources
        },
        "different": [
            {
                "pod": each.pod,
                "scheduler": each.scheduler or None,
                "optimum": each.optimum or None,
            }
            for each in answer.different
        ],
        "placement": [{"pod": pod, "node": node} for pod, node in answer.placement.items()],
        "notes": list(notes),
    }
