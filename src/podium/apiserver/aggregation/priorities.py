"""The order in which clients are told of the groups that the server has by itself.

upstream: `DefaultGenericAPIServicePriorities`, and `apiVersionPriorities` of kube-apiserver.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple


class Priority(NamedTuple):
    """Larger ones come first: of the group among groups, then of the version in its group."""

    group: int
    version: int


OF_CUSTOM_RESOURCES: Final = Priority(1000, 100)
OF_METRICS: Final = Priority(100, 100)
"""upstream: as metrics-server registers itself."""

_GROUPS: Final = {
    "": 18000,
    "apps": 17800,
    "events.k8s.io": 17750,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "autoscaling": 17500,
    "batch": 17400,
    "certificates.k8s.io": 17300,
    "networking.k8s.io": 17200,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800,
    "admissionregistration.k8s.io": 16700,
    "apiextensions.k8s.io": 16700,
    "scheduling.k8s.io": 16600,
    "coordination.k8s.io": 16500,
    "node.k8s.io": 16300,
    "discovery.k8s.io": 16200,
    "resource.k8s.io": 16200,
    "flowcontrol.apiserver.k8s.io": 16100,
}
_MOST_VERSIONS: Final = 15
_VERSIONS: Final[Mapping[tuple[str, str], int]] = {
    ("", "v1"): 1,
    ("autoscaling", "v2"): 30,
    ("flowcontrol.apiserver.k8s.io", "v1"): 21,
    ("resource.k8s.io", "v1"): 21,
    ("resource.k8s.io", "v1beta2"): 15,
    ("scheduling.k8s.io", "v1alpha2"): 2,
}


def built_in_priority(group: str, version: str) -> Priority | None:
    """None: the server does not register the version, which is that of APIServices alone."""
    found = _GROUPS.get(group)
    if found is None:
        return None
    return Priority(found, _VERSIONS.get((group, version), _MOST_VERSIONS))
