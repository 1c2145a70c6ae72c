"""Defaults of services and of the endpoints behind them.

Cluster IPs, node ports and IP families are handed out when a service is created
(`podium.kubernetes.strategy`); here stands only what the service's own fields decide.
"""

from typing import Final

from podium.golang.json_values import JsonObject

_AFFINITY_TIMEOUT_S: Final = 10800
_WITH_CLUSTER_IP: Final = ("ClusterIP", "NodePort", "LoadBalancer")


def set_service_defaults(service: JsonObject) -> None:
    spec = service.get("spec")
    if spec is None:
        spec = service["spec"] = {}
    _set_affinity(spec)
    kind = spec.get("type")
    if not kind:
        kind = spec["type"] = "ClusterIP"
    for port in spec.get("ports") or ():
        if not port.get("protocol"):
            port["protocol"] = "TCP"
        if not port.get("targetPort"):
            port["targetPort"] = port.get("port") or 0
    outward = kind in ("LoadBalancer", "NodePort")
    outward = outward or (kind == "ClusterIP" and bool(spec.get("externalIPs")))
    if outward and not spec.get("externalTrafficPolicy"):
        spec["externalTrafficPolicy"] = "Cluster"
    if spec.get("internalTrafficPolicy") is None and kind in _WITH_CLUSTER_IP:
        spec["internalTrafficPolicy"] = "Cluster"
    if kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is None:
        spec["allocateLoadBalancerNodePorts"] = True
    status = service.get("status")
    if status is None:
        status = service["status"] = {}
    if status.get("loadBalancer") is None:
        status["loadBalancer"] = {}
    if kind == "LoadBalancer":
        for ingress in status["loadBalancer"].get("ingress") or ():
            if ingress.get("ip") and ingress.get("ipMode") is None:
                ingress["ipMode"] = "VIP"


def _set_affinity(spec: JsonObject) -> None:
    if not spec.get("sessionAffinity"):
        spec["sessionAffinity"] = "None"
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        client = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        if client.get("timeoutSeconds") is None:
            timeout = {"timeoutSeconds": _AFFINITY_TIMEOUT_S}
            spec["sessionAffinityConfig"] = {"clientIP": timeout}


def set_endpoints_defaults(endpoints: JsonObject) -> None:
    for subset in endpoints.get("subsets") or ():
        for port in subset.get("ports") or ():
            if not port.get("protocol"):
                port["protocol"] = "TCP"


def set_endpoint_slice_defaults(endpoint_slice: JsonObject) -> None:
    for port in endpoint_slice.get("ports") or ():
        if port.get("name") is None:
            port["name"] = ""
        if port.get("protocol") is None:
            port["protocol"] = "TCP"


def set_api_service_defaults(api_service: JsonObject) -> None:
    reference = api_service["spec"].get("service")
    if reference is not None and reference.get("port") is None:
        reference["port"] = 443
