"""A server put together: objects, resources, access and documents, ready to be asked.

The one place where the parts meet, whoever reaches them: a socket, a client in the same process,
or a test that calls the service. Who wants HTTP puts an `Application` around it.

What a cluster has from its first moment: system namespaces, priority classes, default roles,
flow control, the range of service addresses. Made through the same requests as everything else,
when it is missing: at the first start, and after somebody has deleted it.

Whom servers beside the API server believe: `kube-system/extension-apiserver-authentication`.
Schedulers, controller managers and extension API servers read the ConfigMap to know which
authorities sign the certificates of clients and of the front proxy, and by which headers that
proxy says for whom it asks (`ClusterAuthenticationTrustController` in `k8s.io/kubernetes`). It
is brought up to date at every start. A server without TLS has no authority to publish; its
ConfigMap is empty.
"""

import json
from collections.abc import Callable
from random import Random
from typing import Final

from cryptography.hazmat.primitives.asymmetric import ec

from podium.apiserver.access.authorisation import GROUP
from podium.apiserver.access.default_roles import default_objects
from podium.apiserver.access.tokens import AccountTokens, Tokens
from podium.apiserver.aggregation import OF_METRICS, ApiServices
from podium.apiserver.bodies import Read
from podium.apiserver.http.service import RequestHandler
from podium.apiserver.openapi import OpenApi
from podium.apiserver.requests import body_decoding, creating, updating
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.registry import Registry
from podium.apiserver.resource_metrics import GROUP as METRICS_GROUP
from podium.apiserver.resource_metrics import VERSION as METRICS_VERSION
from podium.apiserver.serving.own_service import Advertised, ensure_own_service
from podium.apiserver.store.store import Store
from podium.golang.json_values import JsonObject, copy_json
from podium.kubernetes.admission import DEFAULT_SETTINGS, SYSTEM_CLASSES, AdmissionSettings
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.resources import default_flow_control
from podium.kubernetes.resources.table import (
    EVERYTHING,
    ResourceTable,
    RuntimeConfig,
    served_resources,
)
from podium.kubernetes.strategy import SERVICE_RANGE

_SERVICE_RANGE: Final = "kubernetes"
_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")


def bootstrap(registry: Registry, gates: FeatureGates) -> None:
    """Create what every cluster has and this one lacks."""
    for name in _NAMESPACES:
        _ensure(registry, "namespaces", "", {"metadata": {"name": name}})
    for written in SYSTEM_CLASSES:
        _ensure(registry, "priorityclasses", "scheduling.k8s.io", copy_json(written))
    for plural, obj in default_objects(gates):
        _ensure(registry, plural, GROUP, obj)
    for plural, obj in default_flow_control.default_objects():
        _ensure(registry, plural, "flowcontrol.apiserver.k8s.io", copy_json(obj))
    _ensure_service_range(registry)


def _ensure_service_range(registry: Registry) -> None:
    ranges = registry.table.get_required("servicecidrs", "networking.k8s.io")
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
    resource = registry.table.get_required(plural, group)
    namespace = obj["metadata"].get("namespace", "")
    if registry.find(resource, namespace, obj["metadata"]["name"]) is not None:
        return
    call = Call(registry.now(), user_agent="podium-apiserver")
    taken = body_decoding.take(registry, resource, Read(obj, ()), call)
    creating.create(registry, resource, namespace, taken, call)


_NAMESPACE: Final = "kube-system"
_NAME: Final = "extension-apiserver-authentication"
_HEADERS: Final = {
    "requestheader-allowed-names": ["front-proxy-client"],
    "requestheader-extra-headers-prefix": ["X-Remote-Extra-"],
    "requestheader-group-headers": ["X-Remote-Group"],
    "requestheader-uid-headers": ["X-Remote-Uid"],
    "requestheader-username-headers": ["X-Remote-User"],
}
"""Nobody has a certificate of that name: an authority alone must not make a front proxy."""


def publish_authority(registry: Registry, authority: bytes) -> None:
    """Write the ConfigMap, unless it says the same already; `authority` is PEM, or empty."""
    resource = registry.table.get_required("configmaps")
    wanted = _data(authority)
    known = registry.find(resource, _NAMESPACE, _NAME)
    obj: JsonObject = {"metadata": {"name": _NAME, "namespace": _NAMESPACE}}
    if known is not None:
        obj = registry.read(resource, known)
        if obj.get("data", {}) == wanted:
            return
    if wanted:
        obj["data"] = wanted
    else:
        obj.pop("data", None)
    call = Call(registry.now(), user_agent="podium-apiserver")
    taken = body_decoding.take(registry, resource, Read(obj, ()), call)
    if known is None:
        creating.create(registry, resource, _NAMESPACE, taken, call)
    else:
        updating.update(registry, resource, "", _NAMESPACE, _NAME, taken, call)


def _data(authority: bytes) -> dict[str, str]:
    if not authority:
        return {}
    pem = authority.decode()
    headers = {key: json.dumps(names, separators=(",", ":")) for key, names in _HEADERS.items()}
    return {"client-ca-file": pem, "requestheader-client-ca-file": pem, **headers}


def build_service(
    store: Store,
    tokens: Tokens,
    *,
    clock: Callable[[], float],
    randomness: Random,
    settings: AdmissionSettings = DEFAULT_SETTINGS,
    gates: FeatureGates,
    account_key: ec.EllipticCurvePrivateKey | None = None,
    advertised: Advertised | None = None,
    serves_metrics: bool = False,
    runtime_config: RuntimeConfig = EVERYTHING,
    authority: bytes = b"",
) -> RequestHandler:
    """A service over a store, with what every cluster has from its first moment.

    `clock` gives seconds since 1970, `gates` say what is served, `account_key` signs the tokens of
    service accounts; without it they are good for this service only. `advertised` is where the
    server can be reached, as the endpoints of its own service tell. `serves_metrics` is for
    clusters whose nodes are simulated. `runtime_config` switches group-versions off, `authority` is
    the certificate authority of the server, PEM, if it has one.
    """
    table = ResourceTable(served_resources(gates), runtime_config)
    registry = Registry(store, table, clock=clock, randomness=randomness, settings=settings)
    key = account_key or ec.generate_private_key(ec.SECP256R1())
    tokens.accounts = AccountTokens(key, registry.lookup, clock)
    bootstrap(registry, gates)
    ensure_own_service(registry, advertised)
    publish_authority(registry, authority)
    api_services = ApiServices(registry)
    openapi = OpenApi(table, registry.definitions.schema_of)
    service = RequestHandler(registry, tokens, openapi, api_services)
    if serves_metrics:
        service.serve_metrics()
    metrics = {(METRICS_GROUP, METRICS_VERSION): OF_METRICS} if serves_metrics else {}
    api_services.register_built_in(metrics)
    return service
