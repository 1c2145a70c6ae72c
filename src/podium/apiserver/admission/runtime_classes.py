"""Runtime classes: the overhead of their pods, and the nodes that can run them."""

from typing import Final

from podium.api.json_values import JsonObject, copied
from podium.apiserver import status_errors
from podium.apiserver.admission.lookup import Lookup
from podium.apiserver.resources.resource import Resource

_GROUP: Final = "node.k8s.io"
_PLURAL: Final = "runtimeclasses"
_OTHER_OVERHEAD: Final = (
    "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
)
_OWN_OVERHEAD: Final = (
    "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
)


def apply_class(resource: Resource, pod: JsonObject, lookup: Lookup) -> None:
    """Give a pod what its runtime class says; StatusError if there is none or it contradicts."""
    spec = pod["spec"]
    name = spec.get("runtimeClassName")
    if not name:
        return
    found = lookup.find(_GROUP, _PLURAL, "", name)
    if found is None:
        raise _refusal(resource, pod, f'pod rejected: RuntimeClass "{name}" not found')
    overhead = found.get("overhead")
    if overhead is not None:
        fixed = overhead.get("podFixed") or {}
        if spec.get("overhead") and spec["overhead"] != fixed:
            raise _refusal(resource, pod, _OTHER_OVERHEAD)
        if fixed:
            spec["overhead"] = copied(fixed)
    scheduling = found.get("scheduling")
    if scheduling is not None:
        _restrict_nodes(resource, pod, scheduling)


def _restrict_nodes(resource: Resource, pod: JsonObject, scheduling: JsonObject) -> None:
    spec = pod["spec"]
    chosen = dict(spec.get("nodeSelector") or {})
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        if chosen.setdefault(key, value) != value:
            why = (
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value};"
                f" pod.spec.nodeSelector[{key}] = {chosen[key]}"
            )
            raise _refusal(resource, pod, why)
    if chosen:
        spec["nodeSelector"] = chosen
    tolerations = [*(spec.get("tolerations") or ()), *(scheduling.get("tolerations") or ())]
    if tolerations:
        spec["tolerations"] = [copied(each) for each in _merged(tolerations)]


def _merged(tolerations: list[JsonObject]) -> list[JsonObject]:
    """Without those that another one includes; of equals the first stays."""
    merged: list[JsonObject] = []
    for number, each in enumerate(tolerations):
        if any(_includes(kept, each) for kept in merged):
            continue
        if any(other != each and _includes(other, each) for other in tolerations[number + 1 :]):
            continue
        merged.append(each)
    return merged


def _includes(wide: JsonObject, narrow: JsonObject) -> bool:
    if wide == narrow:
        return True
    operator = wide.get("operator") or "Equal"
    key, effect = wide.get("key") or "", wide.get("effect") or ""
    if (narrow.get("key") or "") != key and (key or operator != "Exists"):
        return False
    if effect and (narrow.get("effect") or "") != effect:
        return False
    seconds = wide.get("tolerationSeconds")
    if effect == "NoExecute" and seconds is not None:
        other = narrow.get("tolerationSeconds")
        if other is None or other > seconds:
            return False
    if operator == "Equal":
        # upstream: a toleration that leaves out its operator is not taken for an equal one.
        return narrow.get("operator") == "Equal" and (narrow.get("value") or "") == (
            wide.get("value") or ""
        )
    return bool(operator == "Exists")


def refuse_own_overhead(resource: Resource, pod: JsonObject, lookup: Lookup) -> None:
    """Overhead comes from a pod's runtime class, never from the pod."""
    overhead = pod["spec"].get("overhead")
    name = pod["spec"].get("runtimeClassName")
    found = lookup.find(_GROUP, _PLURAL, "", name) if name else None
    fixed = ((found or {}).get("overhead") or {}).get("podFixed")
    if overhead != fixed:
        raise _refusal(resource, pod, _OWN_OVERHEAD if fixed is None else _OTHER_OVERHEAD)


def _refusal(resource: Resource, pod: JsonObject, why: str) -> status_errors.StatusError:
    return status_errors.forbidden(resource, pod["metadata"].get("name", ""), why)
