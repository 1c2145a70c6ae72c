"""ElasticQuota of `kubernetes-sigs/scheduler-plugins`, the custom resource: what a namespace is
guaranteed and what it may have at most.
"""

from typing import Literal

from podium.kubernetes.kinds.meta import KubeObject, KubeStruct, ResourceList


class ElasticQuotaSpec(KubeStruct, frozen=True):
    min: ResourceList | None = None
    max: ResourceList | None = None


class ElasticQuotaStatus(KubeStruct, frozen=True):
    """`used` is what running pods of the namespace request."""

    used: ResourceList | None = None


class ElasticQuota(KubeObject, frozen=True):
    api_version: Literal["scheduling.x-k8s.io/v1alpha1"] = "scheduling.x-k8s.io/v1alpha1"
    kind: Literal["ElasticQuota"] = "ElasticQuota"
    spec: ElasticQuotaSpec = ElasticQuotaSpec()
    status: ElasticQuotaStatus = ElasticQuotaStatus()
