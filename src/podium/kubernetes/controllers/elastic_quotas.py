"""ElasticQuotas: their status says what running pods of their namespace request.

The kind is a custom resource, so this controller wakes up when the server begins to serve it. A
namespace has one quota; of several the oldest is kept, and the others are left alone. Every
resource that one of the bounds names is in `status.used`, with 0 if nobody asks for it.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import NOTHING, Plan, Wake, event_about, status_patch
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.kinds.meta import Quantity
from podium.kubernetes.kinds.scheduler_plugins import ElasticQuota
from podium.kubernetes.resources.resource_types import ELASTIC_QUOTAS
from podium.kubernetes.rules.merge_patch import PatchType
from podium.kubernetes.rules.quantity import nano
from podium.kubernetes.rules.quantity_spelling import total
from podium.kubernetes.rules.quota_usage import Amounts, pod_amounts
from podium.kubernetes.rules.timestamps import Moment

SYNCED = ("Synced", "Elastic Quota {} synced successfully")
"""(reason, note) of the event after a change; the note names `namespace/name`."""


def elastic_quota_used(quota: JsonObject, pods: Iterable[JsonObject]) -> Amounts:
    """`status.used` of a quota, given the pods of its namespace."""
    spec = quota.get("spec") or {}
    used: Amounts = {name: "0" for bound in ("min", "max") for name in spec.get(bound) or {}}
    for pod in pods:
        if (pod.get("status") or {}).get("phase") == "Running":
            for name, amount in pod_amounts(pod.get("spec") or {}, "requests").items():
                used[name] = total(used.get(name, "0"), amount)
    return used


_COMPONENT: Final = "ElasticQuotaController"


def decide(quota: ElasticQuota, pods: Iterable[Pod], moment: Moment) -> Plan:
    """`pods` are those of its namespace."""
    if quota.metadata.is_terminating:
        return NOTHING
    used = elastic_quota_used(msgspec.to_builtins(quota), map(_as_json, pods))
    known = quota.status.used or {}
    if _amounts(used) == _amounts(known):
        return NOTHING
    reason, note = SYNCED
    named = f"{quota.metadata.namespace}/{quota.metadata.name}"
    written = {"used": {**dict.fromkeys(known), **used}}
    return Plan(
        [
            status_patch(ELASTIC_QUOTAS, quota, written, PatchType.MERGE),
            event_about(quota, _COMPONENT, "Normal", reason, note.format(named), moment),
        ]
    )


class ElasticQuotas:
    """Keys are namespaces."""

    name = "elasticquotas"

    def __init__(self, stores: Stores) -> None:
        self._quotas = stores.elastic_quotas
        self._pods = stores.pods

    def watch(self, wake: Wake) -> None:
        def quota_changed(old: ElasticQuota | None, new: ElasticQuota | None) -> None:
            for quota in (new or old,):
                if quota is not None:
                    wake(quota.metadata.namespace)

        def pod_changed(old: Pod | None, new: Pod | None) -> None:
            if _as_counted(old) == _as_counted(new):
                return
            for pod in (new or old,):
                if pod is not None:
                    wake(pod.metadata.namespace)

        self._quotas.listen(quota_changed)
        self._pods.listen(pod_changed)

    def plan(self, key: str, moment: Moment) -> Plan:
        quotas = self._quotas.in_namespace.of(key)
        if not quotas:
            return NOTHING
        first = min(quotas, key=_age)
        return decide(first, self._pods.in_namespace.of(key), moment)


def _age(quota: ElasticQuota) -> tuple[str, str]:
    return quota.metadata.creation_timestamp or "", quota.metadata.name


def _as_counted(pod: Pod | None) -> object:
    """What of a pod quotas look at; nothing unless it runs."""
    return pod.spec if pod is not None and pod.status.phase == "Running" else None


def _as_json(pod: Pod) -> Any:
    return msgspec.to_builtins(pod)


def _amounts(used: Mapping[str, Quantity]) -> dict[str, int]:
    return {name: nano(amount) for name, amount in used.items()}
