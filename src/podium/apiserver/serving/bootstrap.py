"""What a cluster has from its first moment: system namespaces, priority classes, default roles,
flow control, the range of service addresses.

Made through the same requests as everything else, when it is missing: at the first start, and
after somebody has deleted it.
"""

from typing import Final

from podium.apiserver.access.default_roles import default_objects
from podium.apiserver.access.grants import GROUP
from podium.apiserver.bodies.reading import Read
from podium.apiserver.requests import body_decoding, creating, updating
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.registry import Registry
from podium.golang.json_values import JsonObject, copied
from podium.kubernetes.admission import SYSTEM_CLASSES
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.resources import default_flow_control
from podium.kubernetes.strategy import SERVICE_RANGE

_SERVICE_RANGE: Final = "kubernetes"
_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")


def bootstrap(registry: Registry, gates: FeatureGates) -> None:
    """Create what every cluster has and this one lacks."""
    for name in _NAMESPACES:
        _ensure(registry, "namespaces", "", {"metadata": {"name": name}})
    for written in SYSTEM_CLASSES:
        _ensure(registry, "priorityclasses", "scheduling.k8s.io", copied(written))
    for plural, obj in default_objects(gates):
        _ensure(registry, plural, GROUP, obj)
    for plural, obj in default_flow_control.default_objects():
        _ensure(registry, plural, "flowcontrol.apiserver.k8s.io", copied(obj))
    _ensure_service_range(registry)


def _ensure_service_range(registry: Registry) -> None:
    ranges = registry.table.named("servicecidrs", "networking.k8s.io")
    if registry.find(ranges, "", _SERVICE_RANGE) is not None:
        return
    made = {"metadata": {"name": _SERVICE_RANGE}, "spec": {"cidrs": [SERVICE_RANGE]}}
    _ensure(registry, ranges.plural, ranges.group, made)
    call = Call(registry.now(), user_agent="podium-apiserver")
    found = registry.read(ranges, registry.get(ranges, "", _SERVICE_RANGE))
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": call.now, "reason": ""}
    ready["message"] = "Kubernetes default Service CIDR is ready"
    found["status"] = {"conditions": [ready]}
    updating.update(registry, ranges, "status", "", _SERVICE_RANGE, found, call)


def _ensure(registry: Registry, plural: str, group: str, obj: JsonObject) -> None:
    resource = registry.table.named(plural, group)
    namespace = obj["metadata"].get("namespace", "")
    if registry.find(resource, namespace, obj["metadata"]["name"]) is not None:
        return
    call = Call(registry.now(), user_agent="podium-apiserver")
    taken = body_decoding.take(registry, resource, Read(obj, ()), call)
    creating.create(registry, resource, namespace, taken, call)
