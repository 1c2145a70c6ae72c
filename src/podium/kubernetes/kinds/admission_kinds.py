"""Kinds that no scheduler reads and that decide all the same what a pod asks for, or whether it is
there at all: admission reads them, and so do controllers. The engine is not given any.
"""

from typing import Literal

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct


class LimitRange(KubeObject, frozen=True):
    api_version: Literal["v1"] = "v1"
    kind: Literal["LimitRange"] = "LimitRange"
    spec: JsonObject | None = None


class RuntimeClass(KubeObject, frozen=True):
    cluster_scoped = True

    api_version: Literal["node.k8s.io/v1"] = "node.k8s.io/v1"
    kind: Literal["RuntimeClass"] = "RuntimeClass"
    handler: str = ""
    overhead: JsonObject | None = None
    scheduling: JsonObject | None = None


class ResourceQuotaSpec(KubeStruct, frozen=True):
    hard: dict[str, str] | None = None
    scopes: tuple[str, ...] | None = None
    scope_selector: JsonObject | None = None


class ResourceQuotaStatus(KubeStruct, frozen=True):
    hard: dict[str, str] | None = None
    used: dict[str, str] | None = None


class ResourceQuota(KubeObject, frozen=True):
    api_version: Literal["v1"] = "v1"
    kind: Literal["ResourceQuota"] = "ResourceQuota"
    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


ADMISSION_KINDS: dict[tuple[str, str], type[KubeObject]] = {
    (struct().api_version, struct().kind): struct
    for struct in (LimitRange, ResourceQuota, RuntimeClass)
}
