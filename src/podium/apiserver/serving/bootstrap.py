"""What a cluster has from its first moment: system namespaces, priority classes, default roles.

Made through the same requests as everything else, when it is missing: at the first start, and
after somebody has deleted it.
"""

from typing import Final

from podium.api.json_values import JsonObject, copied
from podium.apiserver.access.default_roles import default_objects
from podium.apiserver.access.grants import GROUP
from podium.apiserver.admission import SYSTEM_CLASSES
from podium.apiserver.bodies.reading import Read
from podium.apiserver.requests import body_decoding, creating
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.registry import Registry
from podium.config.feature_gates import FeatureGates

_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")


def bootstrap(registry: Registry, gates: FeatureGates) -> None:
    """Create what every cluster has and this one lacks."""
    for name in _NAMESPACES:
        _ensure(registry, "namespaces", "", {"metadata": {"name": name}})
    for written in SYSTEM_CLASSES:
        _ensure(registry, "priorityclasses", "scheduling.k8s.io", copied(written))
    for plural, obj in default_objects(gates):
        _ensure(registry, plural, GROUP, obj)


def _ensure(registry: Registry, plural: str, group: str, obj: JsonObject) -> None:
    resource = registry.table.named(plural, group)
    namespace = obj["metadata"].get("namespace", "")
    if registry.find(resource, namespace, obj["metadata"]["name"]) is not None:
        return
    call = Call(registry.now(), user_agent="podium-apiserver")
    taken = body_decoding.take(registry, resource, Read(obj, ()), call)
    creating.create(registry, resource, namespace, taken, call)
