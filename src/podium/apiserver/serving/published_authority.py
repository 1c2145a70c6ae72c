"""Whom servers beside the API server believe: `kube-system/extension-apiserver-authentication`.

Schedulers, controller managers and extension API servers read the ConfigMap to know which
authorities sign the certificates of clients and of the front proxy, and by which headers that proxy
says for whom it asks (`ClusterAuthenticationTrustController` in `k8s.io/kubernetes`). It is brought
up to date at every start. A server without TLS has no authority to publish; its ConfigMap is empty.
"""

import json
from typing import Final

from podium.apiserver.bodies.reading import Read
from podium.apiserver.requests import body_decoding, creating, updating
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.registry import Registry
from podium.golang.json_values import JsonObject

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
    resource = registry.table.named("configmaps")
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
