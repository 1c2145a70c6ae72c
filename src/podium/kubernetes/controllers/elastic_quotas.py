"""What an ElasticQuota's status says is used: the requests of its namespace's running pods.

Every resource that one of the bounds names is there, with 0 if nobody asks for it.
"""

from collections.abc import Iterable

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.quantity_spelling import total
from podium.kubernetes.rules.quota_usage import Amounts, pod_amounts

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
