"""Defaults of the core group beside pods: services, nodes, namespaces and what limits them.

Cluster IPs, node ports and IP families are handed out when a service is created
(`podium.kubernetes.strategy`); here stands only what the service's own fields decide.
"""

import base64
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.defaulting.pods import round_amounts
from podium.kubernetes.kinds.workloads import NAMESPACE_LABEL
from podium.kubernetes.rules.limit_ranges import derive_container_limits

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


def set_node_defaults(node: JsonObject) -> None:
    spec = node.get("spec")
    if spec is None:
        spec = node["spec"] = {}
    first, ranges = spec.get("podCIDR"), spec.get("podCIDRs")
    if first and (not ranges or ranges[0] != first):
        # The older, single field wins: older clients know only that one.
        spec["podCIDRs"] = [first]
    elif ranges and not first:
        spec["podCIDR"] = ranges[0]
    status = node.get("status")
    if status is None:
        status = node["status"] = {}
    if status.get("allocatable"):
        round_amounts(status["allocatable"])
    if status.get("capacity"):
        round_amounts(status["capacity"])
        if status.get("allocatable") is None:
            status["allocatable"] = dict(status["capacity"])


def set_namespace_defaults(namespace: JsonObject) -> None:
    metadata = namespace.get("metadata")
    name = metadata.get("name") if metadata else None
    if metadata is not None and name:
        if metadata.get("labels") is None:
            metadata["labels"] = {}
        metadata["labels"][NAMESPACE_LABEL] = name
    if namespace.get("spec") is None:
        namespace["spec"] = {}
    status = namespace.get("status")
    if status is None:
        status = namespace["status"] = {}
    if not status.get("phase"):
        status["phase"] = "Active"


def set_secret_defaults(secret: JsonObject) -> None:
    if not secret.get("type"):
        secret["type"] = "Opaque"
    plain = secret.pop("stringData", None)
    if plain:
        data = secret["data"] = dict(secret.get("data") or {})
        for name, text in plain.items():
            data[name] = base64.b64encode(text.encode()).decode()


def set_limit_range_defaults(limit_range: JsonObject) -> None:
    for item in (limit_range.get("spec") or {}).get("limits") or ():
        if item.get("type") == "Container":
            derive_container_limits(item)
        for name in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"):
            if item.get(name):
                round_amounts(item[name])


def set_resource_quota_defaults(quota: JsonObject) -> None:
    for part, name in (("spec", "hard"), ("status", "hard"), ("status", "used")):
        amounts = (quota.get(part) or {}).get(name)
        if amounts:
            round_amounts(amounts)
