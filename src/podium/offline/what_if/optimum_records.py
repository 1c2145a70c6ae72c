"""The best placement beside the scheduler's as records, in the form of `records.py`."""

from podium.offline.what_if.optimum_answer import OptimumAnswer
from podium.offline.what_if.records import Record


def measure_records(answer: OptimumAnswer) -> list[Record]:
    """Each figure by the scheduler and at best, with what cannot be bettered."""
    return [
        {
            "measure": each.name,
            "better": "more" if each.is_maximised else "less",
            "scheduler": each.scheduler,
            "optimum": each.optimum,
            "bound": each.bound,
            "gap": each.gap,
            "proven": each.is_proven,
        }
        for each in answer.measures
    ]


def placement_records(answer: OptimumAnswer) -> list[Record]:
    """Each pod that either placement has on a node, or that they treat differently: those of the
    optimum in an order in which the scheduler lets them in, then the others."""
    different = {each.pod: each for each in answer.different}
    found: list[Record] = []
    for pod, node in answer.placement.items():
        own = different[pod].scheduler if pod in different else node
        found.append(_record(pod, own, node))
    found += [
        _record(each.pod, each.scheduler, "")
        for each in answer.different
        if each.pod not in answer.placement
    ]
    return found


def _record(pod: str, scheduler: str, optimum: str) -> Record:
    namespace, _, name = pod.partition("/")
    return {
        "namespace": namespace,
        "name": name,
        "scheduler_node": scheduler or None,
        "optimum_node": optimum or None,
    }
