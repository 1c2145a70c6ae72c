"""The difference between two pod specs as a strategic merge patch.

Lists of named things (containers, volumes, claims) are patched by name, so that what a server or an
admission plugin has added stays. Lists without names are given as a whole; in what is meant for a
template they are first freed of what was added to the pod alone.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from podium.golang.json_values import JsonObject, JsonValue
from podium.kubernetes.kinds.pod import PodSpec
from podium.kubernetes.rules.merge_patch import difference
from podium.kubernetes.rules.node_affinity import NAME_FIELD

_BY_NAME = ("containers", "initContainers", "volumes", "resourceClaims")
_SET_BY_ADMISSION = ("priority", "preemptionPolicy")
"""Follow from the class of a pod, and a server refuses them where they contradict it."""
_ADDED_TOLERATIONS = "node.kubernetes.io/"


def spec_patch(before: PodSpec, after: PodSpec, *, for_template: bool) -> JsonObject:
    """What has to be said to turn one spec into the other; empty if they are equal."""
    old, new = msgspec.to_builtins(before), msgspec.to_builtins(after)
    patch: JsonObject = {}
    for key in sorted({*old, *new}):
        was, will = old.get(key), new.get(key)
        if was == will:
            continue
        if key in _SET_BY_ADMISSION:
            patch[key] = None
        elif key in _BY_NAME:
            patch[key] = _patch_items(was or [], will or [], "name")
        elif key == "schedulingGates":
            kept = {gate["name"] for gate in will or []}
            gone = [gate["name"] for gate in was or [] if gate["name"] not in kept]
            patch[key] = [{"$patch": "delete", "name": name} for name in gone]
        elif key == "topologySpreadConstraints":
            patch[key] = _patch_constraints(was or [], will or [])
        elif key == "tolerations":
            left = [t for t in was or [] if not (for_template and _was_added(t))]
            patch[key] = [*left, *(t for t in will or [] if t not in (was or []))]
        else:
            patch[key] = difference(was, will)
    if for_template and "affinity" in patch:
        patch["affinity"] = _as_written(patch["affinity"])
    return patch


def _patch_items(was: Sequence[Any], will: Sequence[Any], name: str) -> list[JsonValue]:
    before = {item.get(name): item for item in was}
    found: list[JsonValue] = []
    for item in will:
        old = before.get(item.get(name))
        if old == item:
            continue
        if old is None:
            found.append(item)
            continue
        change = difference(old, item)
        if isinstance(change, dict):
            if "ports" in change:
                change["ports"] = _patch_ports(old.get("ports") or [], item.get("ports") or [])
            found.append({name: item.get(name), **change})
    kept = {item.get(name) for item in will}
    found.extend({"$patch": "delete", name: each} for each in before if each not in kept)
    return found


def _patch_ports(was: Sequence[Any], will: Sequence[Any]) -> list[JsonValue]:
    numbers = [port.get("containerPort") for port in will]
    if len(set(numbers)) < len(numbers):  # the same port for two protocols
        return [{"$patch": "replace"}, *will]
    return _patch_items(was, will, "containerPort")


def _patch_constraints(was: Sequence[Any], will: Sequence[Any]) -> list[JsonValue]:
    keys = [[c.get("topologyKey") for c in each] for each in (was, will)]
    if keys[0] != keys[1] or len(set(keys[0])) < len(keys[0]):
        return [{"$patch": "replace"}, *_as_written(list(will))]
    return _patch_items(was, will, "topologyKey")


def _was_added(toleration: JsonObject) -> bool:
    """Whether a toleration comes from admission or a daemon controller, and not from a template."""
    key = toleration.get("key", "")
    return bool(key.startswith(_ADDED_TOLERATIONS)) and toleration.get("operator") == "Exists"


def _as_written(value: Any) -> Any:
    """Selectors without what a server has merged into them from label keys, and node terms without
    the name that a daemon controller gave to one pod."""
    if isinstance(value, list):
        kept = [_as_written(item) for item in value]
        return [item for item in kept if not _is_daemon_field(item)]
    if not isinstance(value, dict):
        return value
    found = {key: _as_written(item) for key, item in value.items()}
    merged = {*(value.get("matchLabelKeys") or ()), *(value.get("mismatchLabelKeys") or ())}
    selector = found.get("labelSelector")
    if merged and isinstance(selector, dict) and selector.get("matchExpressions"):
        written = [e for e in selector["matchExpressions"] if e.get("key") not in merged]
        found["labelSelector"] = {**selector, "matchExpressions": written or None}
    return found


def _is_daemon_field(item: Any) -> bool:
    return isinstance(item, dict) and item.get("key") == NAME_FIELD
