"""Namespaces and nodes as the server starts them and keeps them."""

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.workloads import NAMESPACE_LABEL
from podium.kubernetes.strategy.kept_fields import keep_field


def prepare_namespace(namespace: JsonObject, _now: str) -> None:
    namespace["status"] = {"phase": "Active"}
    metadata = namespace["metadata"]
    if metadata.get("name"):  # also where the name was made from a prefix
        labels = metadata.get("labels") or {}
        metadata["labels"] = {**labels, NAMESPACE_LABEL: metadata["name"]}
    spec = namespace.setdefault("spec", {})
    finalizers = spec.get("finalizers") or []
    if "kubernetes" not in finalizers:
        spec["finalizers"] = [*finalizers, "kubernetes"]


def prepare_namespace_update(new: JsonObject, old: JsonObject, _now: str) -> None:
    spec = new.setdefault("spec", {})
    keep_field(spec, old.get("spec") or {}, "finalizers")


def prepare_node(node: JsonObject, _now: str) -> None:
    """Drop the field of a feature that is no more."""
    (node.get("spec") or {}).pop("configSource", None)


def prepare_node_update(new: JsonObject, _old: JsonObject, now: str) -> None:
    prepare_node(new, now)
