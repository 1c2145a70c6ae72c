"""Objects that somebody copied from an old text, as they would be written today.

A file may name a kind in the version that first had it, claims in a form that is gone, or the
taints and annotations of alpha releases. What they meant is known, so they are taken for that and
told of.

Contract: objects are changed in place. What an API server has stored is what the scheduler of that
cluster sees, so keys in it stay as they are; only what could not be read at all is written anew.
"""

from collections.abc import Iterator
from typing import Any, Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.nodes import TODAY
from podium.kubernetes.rules.old_pod_claims import OldForm, pod_specs, unwrap_claim_sources
from podium.offline.simulate.node_prices import OLD_PRICE, PRICE

_MARKS: Final = (
    b"beta.kubernetes.io/",
    b"node.alpha.kubernetes.io/",
    b"/critical-pod",
    b"source:",
    b'"source"',
    b"PriorityClass",
    b"podium/price",
)
_VERSIONS: Final = {
    (version, "PriorityClass"): "scheduling.k8s.io/v1"
    for version in ("v1", "scheduling.k8s.io/v1alpha1", "scheduling.k8s.io/v1beta1")
}
_TAINTS: Final = {
    "node.alpha.kubernetes.io/notReady": "node.kubernetes.io/not-ready",
    "node.alpha.kubernetes.io/unreachable": "node.kubernetes.io/unreachable",
}
_CRITICAL: Final = "scheduler.alpha.kubernetes.io/critical-pod"
_CRITICAL_CLASS: Final = "system-cluster-critical"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def may_be_old(data: bytes) -> bool:
    """Whether a file has anything that may need any of this; large ones mostly have not."""
    return any(mark in data for mark in _MARKS)


def respell_object(raw: JsonObject) -> list[OldForm]:
    """Write an object as today, in place; tells what was written otherwise."""
    found = list(_version(raw))
    found += unwrap_claim_sources(raw)
    found += _prices(raw)
    if _is_stored(raw):
        return found
    if raw.get("kind") == "Node":
        found += _keys(_list(_map(raw, "spec"), "taints"), "spec.taints")
        return found
    for path, spec in pod_specs(raw):
        found += _keys(_list(spec, "tolerations"), f"{path}.tolerations")
        found += _critical(raw, path, spec)
    return found


def old_labels_of(raw: JsonObject) -> Iterator[tuple[str, OldForm]]:
    """The old labels by which an object chooses nodes; those are given to the nodes instead."""
    if _is_stored(raw):
        return
    for path, spec in pod_specs(raw):
        for at, key in _chosen_by(spec):
            if key in TODAY:
                problem = f"{key} is an old spelling"
                yield key, OldForm(f"{path}.{at}", problem, f"write {TODAY[key]}")


def _is_stored(raw: JsonObject) -> bool:
    return bool(_map(raw, "metadata").get("resourceVersion"))


def _version(raw: JsonObject) -> Iterator[OldForm]:
    written, kind = raw.get("apiVersion"), raw.get("kind")
    today = _VERSIONS.get((str(written), str(kind)))
    if today is not None:
        raw["apiVersion"] = today
        yield OldForm("apiVersion", f"{kind} is not in {written}", f"write {today}")


def _prices(raw: JsonObject) -> Iterator[OldForm]:
    """Of a node: read under both names, so there is nothing to change."""
    for place in ("annotations", "labels") if raw.get("kind") == "Node" else ():
        if OLD_PRICE in _map(_map(raw, "metadata"), place):
            at = f'metadata.{place}["{OLD_PRICE}"]'
            yield OldForm(at, f"{OLD_PRICE} is an old spelling", f"write {PRICE}")


def _keys(entries: list[Any], path: str) -> Iterator[OldForm]:
    for index, entry in enumerate(entries):
        key = entry.get("key") if isinstance(entry, dict) else None
        if isinstance(key, str) and key in _TAINTS:
            entry["key"] = _TAINTS[key]
            at = f"{path}[{index}].key"
            yield OldForm(at, f"{key} is an old spelling", f"write {_TAINTS[key]}")


def _critical(raw: JsonObject, path: str, spec: JsonObject) -> Iterator[OldForm]:
    """upstream: up to 1.15 the annotation made pods of kube-system critical."""
    at = path.removesuffix("spec")
    holder: Any = raw
    for step in at.split(".")[:-1]:
        holder = _map(holder, step)
    if _CRITICAL not in _map(_map(holder, "metadata"), "annotations"):
        return
    place, problem = f'{at}metadata.annotations["{_CRITICAL}"]', "is an old spelling"
    remedy = f"write priorityClassName: {_CRITICAL_CLASS}"
    if _map(raw, "metadata").get("namespace") != "kube-system":
        problem = "made pods of kube-system critical, and no others"
    elif spec.get("priorityClassName"):
        remedy = "leave it out; priorityClassName says it"
    else:
        spec["priorityClassName"] = _CRITICAL_CLASS
    yield OldForm(place, problem, remedy)


def _chosen_by(spec: JsonObject) -> Iterator[tuple[str, str]]:
    """The keys of node labels that a pod's spec names, with their paths."""
    for key in _map(spec, "nodeSelector"):
        yield f'nodeSelector["{key}"]', key
    affinity = _map(spec, "affinity")
    nodes, at = _map(affinity, "nodeAffinity"), "affinity.nodeAffinity"
    terms = _list(_map(nodes, _REQUIRED), "nodeSelectorTerms")
    yield from _expressions(terms, f"{at}.{_REQUIRED}.nodeSelectorTerms", "")
    yield from _expressions(_list(nodes, _PREFERRED), f"{at}.{_PREFERRED}", "preference")
    for kind in ("podAffinity", "podAntiAffinity"):
        pods, at = _map(affinity, kind), f"affinity.{kind}"
        yield from _topologies(_list(pods, _REQUIRED), f"{at}.{_REQUIRED}", "")
        yield from _topologies(_list(pods, _PREFERRED), f"{at}.{_PREFERRED}", "podAffinityTerm")
    constraints = _list(spec, "topologySpreadConstraints")
    yield from _topologies(constraints, "topologySpreadConstraints", "")


def _expressions(entries: list[Any], path: str, inside: str) -> Iterator[tuple[str, str]]:
    for index, entry in enumerate(entries):
        term = _map(entry, inside) if inside else entry
        at = f"{path}[{index}].{inside}." if inside else f"{path}[{index}]."
        for number, expression in enumerate(_list(term, "matchExpressions")):
            key = expression.get("key") if isinstance(expression, dict) else None
            if isinstance(key, str):
                yield f"{at}matchExpressions[{number}].key", key


def _topologies(entries: list[Any], path: str, inside: str) -> Iterator[tuple[str, str]]:
    for index, entry in enumerate(entries):
        term = _map(entry, inside) if inside else entry
        key = term.get("topologyKey") if isinstance(term, dict) else None
        if isinstance(key, str):
            at = f"{path}[{index}].{inside}." if inside else f"{path}[{index}]."
            yield f"{at}topologyKey", key


def _map(value: Any, key: str) -> dict[str, Any]:
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def _list(value: Any, key: str) -> list[Any]:
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, list) else []
