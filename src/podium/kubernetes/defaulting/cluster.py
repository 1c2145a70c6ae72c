"""Defaults of nodes, namespaces and of the small kinds around them."""

import base64

from podium.golang.json_values import JsonObject
from podium.kubernetes.defaulting.pods import round_amounts
from podium.kubernetes.kinds.workloads import NAMESPACE_LABEL
from podium.kubernetes.rules.limit_ranges import derive_container_limits


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
