"""What the writers of services, endpoints, ingresses and network policies should know of."""

from collections.abc import Iterator
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.validation import network_policies
from podium.kubernetes.validation.addresses import range_of

_INGRESS_CLASS: Final = "kubernetes.io/ingress.class"


def about_service(service: JsonObject) -> Iterator[str]:
    spec: JsonObject = service.get("spec") or {}
    kind = spec.get("type")
    is_headless = kind == "ClusterIP" and spec.get("clusterIP") == "None"
    if is_headless:
        if spec.get("loadBalancerIP"):
            yield "spec.loadBalancerIP is ignored for headless services"
        if spec.get("externalIPs"):
            yield "spec.externalIPs is ignored for headless services"
        if spec.get("sessionAffinity") != "None":
            yield "spec.SessionAffinity is ignored for headless services"
    if spec.get("externalIPs"):
        if kind == "ExternalName":
            yield 'spec.externalIPs is ignored when spec.type is "ExternalName"'
        elif not is_headless:
            yield "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
    if kind != "ExternalName" and spec.get("externalName"):
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
    if spec.get("trafficDistribution") == "PreferClose":
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'


def about_endpoint_slice(endpoint_slice: JsonObject) -> Iterator[str]:
    if endpoint_slice.get("addressType") == "FQDN":
        yield "spec.addressType: FQDN endpoints are deprecated"


def about_ingress(ingress: JsonObject) -> Iterator[str]:
    annotations = ingress["metadata"].get("annotations") or {}
    named = (ingress.get("spec") or {}).get("ingressClassName")
    if _INGRESS_CLASS in annotations and named is None:
        yield (
            f"annotation \"{_INGRESS_CLASS}\" is deprecated, please use 'spec.ingressClassName'"
            " instead"
        )


def about_network_policy(policy: JsonObject) -> Iterator[str]:
    for at, block in network_policies.address_blocks(policy):
        yield from _about_range(block.get("cidr") or "", f"{at}.cidr")
        for index, text in enumerate(block.get("except") or ()):
            yield from _about_range(text, f"{at}.except[{index}]")


def _about_range(text: str, path: str) -> Iterator[str]:
    found = range_of(text)
    if found is not None and found.version == 6 and str(found) != text:
        yield (
            f'{path}: IPv6 CIDR value "{text}" should be in RFC 5952 canonical format ("{found}")'
        )
