"""Runtime classes: the overhead of their pods, and the nodes that can run them.

The wording of refusals is the API server's (`plugin/pkg/admission/runtimeclass`).
"""

from typing import Final

from podium.golang.json_values import JsonObject, copied

OTHER_OVERHEAD: Final = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
OWN_OVERHEAD: Final = (
    "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
)


class RuntimeClassConflict(Exception):
    """A pod says otherwise than its runtime class; the text tells what."""


def apply_runtime_class(spec: JsonObject, runtime_class: JsonObject) -> None:
    """Give a pod what its runtime class says. Raises RuntimeClassConflict."""
    overhead = runtime_class.get("overhead")
    if overhead is not None:
        fixed = overhead.get("podFixed") or {}
        if spec.get("overhead") and spec["overhead"] != fixed:
            raise RuntimeClassConflict(OTHER_OVERHEAD)
        if fixed:
            spec["overhead"] = copied(fixed)
    scheduling = runtime_class.get("scheduling")
    if scheduling is not None:
        _restrict_nodes(spec, scheduling)


def _restrict_nodes(spec: JsonObject, scheduling: JsonObject) -> None:
    chosen = dict(spec.get("nodeSelector") or {})
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        if chosen.setdefault(key, value) != value:
            raise RuntimeClassConflict(
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value};"
                f" pod.spec.nodeSelector[{key}] = {chosen[key]}"
            )
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
