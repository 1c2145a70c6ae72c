"""Ingresses that name no class get the newest default one."""

from collections.abc import Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.admission.lookup import Lookup

_CLASS_ANNOTATION: Final = "kubernetes.io/ingress.class"
_IS_DEFAULT: Final = "ingressclass.kubernetes.io/is-default-class"


def set_default_class(ingress: JsonObject, lookup: Lookup) -> None:
    spec = ingress.setdefault("spec", {})
    annotations = ingress["metadata"].get("annotations") or {}
    if spec.get("ingressClassName") is not None or _CLASS_ANNOTATION in annotations:
        return
    name = lookup.derived("networking.k8s.io", "ingressclasses", _default_class)
    if name:
        spec["ingressClassName"] = name


def _default_class(classes: Sequence[JsonObject]) -> str:
    """The newest of those that are marked; of equally old ones the first by name."""
    found = [
        each["metadata"]
        for each in classes
        if (each["metadata"].get("annotations") or {}).get(_IS_DEFAULT) == "true"
    ]
    found.sort(key=lambda metadata: str(metadata["name"]))
    newest = max(found, key=lambda metadata: str(metadata["creationTimestamp"]), default=None)
    return "" if newest is None else str(newest["name"])
