"""The bounds of ElasticQuotas as the scheduler counts, and the definition of the kind.

A bound that is absent as a whole means nothing guaranteed, and no limit. One that is given and does
not name cpu, memory or ephemeral storage has 0 of it; any other resource that it does not name
counts as 0 against `min` and is unlimited in `max` (`pkg/capacityscheduling/elasticquota.go` of the
collection).
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from podium.addons.collection.custom_kinds import AGE, QUANTITIES, definition, object_schema
from podium.golang.arithmetic import INT64_MAX
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.elastic_quota import ElasticQuota
from podium.kubernetes.kinds.meta import ResourceList
from podium.kubernetes.rules.requests import allocatable_vector
from podium.scheduler.framework.events import WatchedKind

FIXED: Final = ("cpu", "memory", "ephemeral-storage")
"""Resources that every bound has an amount of."""


class Bounds(NamedTuple):
    """A quota's bounds in the scheduler's units: cpu in milli, the rest in units."""

    namespace: str
    min: Mapping[str, int]
    max: Mapping[str, int]


def bounds_of(quota: ElasticQuota) -> Bounds:
    spec = quota.spec
    return Bounds(
        quota.metadata.namespace,
        _amounts(spec.min) if spec.min is not None else dict.fromkeys(FIXED, 0),
        _amounts(spec.max) if spec.max is not None else dict.fromkeys(FIXED, INT64_MAX),
    )


def _amounts(bound: ResourceList) -> dict[str, int]:
    return {**dict.fromkeys(FIXED, 0), **allocatable_vector(bound)}


def _definition() -> JsonObject:
    return definition(
        ElasticQuota,
        "elasticquotas",
        short_names=("eq", "eqs"),
        properties={
            "spec": object_schema(min=QUANTITIES, max=QUANTITIES),
            "status": object_schema(used=QUANTITIES),
        },
        columns=(("Used", "string", ".status.used"), ("Max", "string", ".spec.max"), AGE),
    )


ELASTIC_QUOTAS: Final = WatchedKind(ElasticQuota, "elasticquotas", definition=_definition)
