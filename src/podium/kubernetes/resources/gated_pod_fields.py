"""Fields of pods that belong to feature gates which 1.36 leaves closed.

A pod template is the same in every workload, so the paths are written once, relative to the pod
spec. What is listed here is not kept while its gate is closed; fields of gates that are open by
default, or locked, are ordinary fields.
"""

from collections.abc import Iterator
from typing import Final

GatedField = tuple[str, tuple[str, ...]]
"""A feature gate and the path of a field."""

_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
_STATUSES: Final = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
_PROJECTED: Final = ("volumes", "projected", "sources")


def gated_spec_fields(*spec: str) -> Iterator[GatedField]:
    """The fields of the pod spec at a path."""
    for containers in _CONTAINERS:
        yield "ContainerStopSignals", (*spec, containers, "lifecycle", "stopSignal")
    yield "ClusterTrustBundleProjection", (*spec, *_PROJECTED, "clusterTrustBundle")
    yield "PodCertificateRequest", (*spec, *_PROJECTED, "podCertificate")
    yield "GenericWorkload", (*spec, "schedulingGroup")


def gated_pod_fields() -> tuple[GatedField, ...]:
    """The fields of a pod, its status included."""
    return (
        *gated_spec_fields("spec"),
        *(
            ("ImageVolumeWithDigest", ("status", statuses, "volumeMounts", "volumeStatus"))
            for statuses in _STATUSES
        ),
        ("DRANodeAllocatableResources", ("status", "nodeAllocatableResourceClaimStatuses")),
    )
