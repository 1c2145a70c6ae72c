"""The service by which programs in a cluster find its API server: `default/kubernetes`.

Upstream has a controller that looks after it. Here the service is made at the start and again as
soon as somebody deletes it; its endpoints are brought up to date at every start.
"""

from typing import Final, NamedTuple

from podium.apiserver.bodies import Read
from podium.apiserver.requests import body_decoding, creating, updating
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.registry import Registry, StorageHooks
from podium.golang.json_values import JsonObject
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.field_errors import FieldError
from podium.kubernetes.strategy import SERVER_ADDRESS

_NAMESPACE: Final = "default"
_NAME: Final = "kubernetes"
_PORT_NAME: Final = "https"
_DEFAULT_PORT: Final = 6443


class Advertised(NamedTuple):
    """Where the server says it can be reached."""

    address: str
    port: int


def ensure_own_service(registry: Registry, advertised: Advertised | None) -> None:
    """Make the service, and its endpoints if it is known where the server is; keep the first."""
    services = registry.table.get_required("services")
    port = advertised.port if advertised else _DEFAULT_PORT
    registry.storage_hooks[services] = _Kept(registry, services, port)
    _ensure(registry, services, _service(port))
    if advertised is not None:
        _ensure(registry, registry.table.get_required("endpoints"), _endpoints(advertised))
        slices = registry.table.get_required("endpointslices", "discovery.k8s.io")
        _ensure(registry, slices, _slice(advertised))


class _Kept:
    """The hooks of services, by which the one that is missed comes back."""

    def __init__(self, registry: Registry, services: ApiResource, port: int) -> None:
        self._registry = registry
        self._services = services
        self._port = port
        self._hooks: StorageHooks = registry.storage_hooks[services]

    def settle(self, obj: JsonObject, now: str, *, dry_run: bool) -> list[FieldError]:
        return self._hooks.settle(obj, now, dry_run=dry_run)

    def after_write(self, obj: JsonObject) -> None:
        self._hooks.after_write(obj)

    def after_delete(self, obj: JsonObject) -> None:
        self._hooks.after_delete(obj)
        metadata = obj["metadata"]
        if (metadata["namespace"], metadata["name"]) == (_NAMESPACE, _NAME):
            _ensure(self._registry, self._services, _service(self._port))


def _ensure(registry: Registry, resource: ApiResource, obj: JsonObject) -> None:
    """Create an object, or bring endpoints up to date: nobody else writes where the server is."""
    found = registry.find(resource, _NAMESPACE, _NAME)
    call = Call(registry.now(), user_agent="podium-apiserver")
    taken = body_decoding.take(registry, resource, Read(obj, ()), call)
    if found is None:
        creating.create(registry, resource, _NAMESPACE, taken, call)
    elif resource.plural != "services":
        updating.update(registry, resource, "", _NAMESPACE, _NAME, taken, call)


def _service(port: int) -> JsonObject:
    ports = [{"name": _PORT_NAME, "protocol": "TCP", "port": 443, "targetPort": port}]
    return {
        "metadata": {
            "name": _NAME,
            "namespace": _NAMESPACE,
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "ports": ports,
            "clusterIP": SERVER_ADDRESS,
            "ipFamilyPolicy": "SingleStack",
            "sessionAffinity": "None",
            "type": "ClusterIP",
        },
    }


def _endpoints(advertised: Advertised) -> JsonObject:
    subset = {"addresses": [{"ip": advertised.address}], "ports": [_port(advertised)]}
    return {
        "metadata": {
            "name": _NAME,
            "namespace": _NAMESPACE,
            "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"},
        },
        "subsets": [subset],
    }


def _slice(advertised: Advertised) -> JsonObject:
    return {
        "metadata": {
            "name": _NAME,
            "namespace": _NAMESPACE,
            "labels": {"kubernetes.io/service-name": _NAME},
        },
        "addressType": "IPv6" if ":" in advertised.address else "IPv4",
        "endpoints": [{"addresses": [advertised.address], "conditions": {"ready": True}}],
        "ports": [_port(advertised)],
    }


def _port(advertised: Advertised) -> JsonObject:
    return {"name": _PORT_NAME, "port": advertised.port, "protocol": "TCP"}
