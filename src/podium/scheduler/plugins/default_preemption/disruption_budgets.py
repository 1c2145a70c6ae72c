"""PodDisruptionBudgets as preemption respects them: as far as possible, not at any price."""

from collections.abc import Sequence

from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.kubernetes.rules.labels import SelectorError, selector_of
from podium.scheduler.cluster.pod_info import PodInfo


def split_by_budget(
    pods: Sequence[PodInfo], budgets: Sequence[PodDisruptionBudget]
) -> tuple[list[PodInfo], list[PodInfo]]:
    """(pods whose leaving would break a budget, the others), order kept.

    Important pods come first and use up the budget first; every matching budget is charged.
    """
    if not budgets:
        return [], list(pods)
    left = [budget.status.disruptions_allowed for budget in budgets]
    violating: list[PodInfo] = []
    others: list[PodInfo] = []
    for pod in pods:
        breaks = False
        for index, budget in enumerate(budgets):
            if covers(budget, pod):
                left[index] -= 1
                breaks |= left[index] < 0
        (violating if breaks else others).append(pod)
    return violating, others


def covers(budget: PodDisruptionBudget, pod: PodInfo) -> bool:
    """Whether a pod's leaving is charged to a budget."""
    if budget.metadata.namespace != pod.shape.namespace or not pod.shape.labels:
        return False
    try:
        selector = selector_of(budget.spec.selector)
    except SelectorError:
        return False
    if selector.empty or not selector.matches(pod.shape.labels):
        return False
    return pod.pod.metadata.name not in (budget.status.disrupted_pods or {})
