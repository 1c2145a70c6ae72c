"""Why a quota keeps a pod waiting, in words and numbers."""

from collections.abc import Mapping

from podium.addons.collection.capacity_scheduling.elastic_quotas import FIXED
from podium.addons.collection.capacity_scheduling.quota_state import QuotaState, sum_amounts
from podium.golang.arithmetic import INT64_MAX
from podium.plugin import PodInfo
from podium.scheduler.framework.plugin import RefusalCause


def explain(state: QuotaState, pod: PodInfo) -> RefusalCause | None:
    """What is exceeded, if something still is."""
    namespace = pod.shape.namespace
    used = state.used(namespace)
    if state.is_over_max_with(state.in_quota):
        name, bound = _first_exceeded(state.in_quota, used, state.quota.max, INT64_MAX)
        text = (
            f"The ElasticQuota of namespace {namespace} allows {_amount(name, bound)} {name}:"
            f" {_amount(name, used.get(name, 0))} used,"
            f" {_amount(name, state.in_quota.get(name, 0))} asked for"
        )
        return RefusalCause("quota-max-exceeded", namespace, f"{text}.", {"resource": name})
    if state.is_total_over_min_with(state.in_all):
        total = sum_amounts(state.used(each) for each in state.quotas)
        guaranteed = sum_amounts(bounds.min for bounds in state.quotas.values())
        name, bound = _first_exceeded(state.in_all, total, guaranteed, 0)
        text = (
            f"All ElasticQuotas together guarantee {_amount(name, bound)} {name}:"
            f" {_amount(name, total.get(name, 0))} used,"
            f" {_amount(name, state.in_all.get(name, 0))} asked for; nothing is left to borrow"
        )
        return RefusalCause("quota-total-exceeded", namespace, f"{text}.", {"resource": name})
    return None


def _first_exceeded(
    asked: Mapping[str, int], used: Mapping[str, int], bound: Mapping[str, int], unnamed: int
) -> tuple[str, int]:
    for name in (*FIXED, *sorted({*asked} | {*used})):
        most = bound.get(name, unnamed)
        if asked.get(name, 0) + used.get(name, 0) > most:
            return name, most
    return FIXED[0], bound.get(FIXED[0], unnamed)


def _amount(name: str, amount: int) -> str:
    if name == "cpu":
        return str(amount / 1000).removesuffix(".0")
    mebibytes = 1 << 20
    if name in FIXED and amount and amount % mebibytes == 0:
        return f"{amount // mebibytes}Mi"
    return str(amount)
