"""LimitRanges and RuntimeClasses of an input, applied to pods and claims that no server has stored.

Both change what a pod asks for and where it may go: a range fills in requests, a runtime class adds
an overhead, a node selector and tolerations. The rules are those of the API server
(`podium.kubernetes.rules.limit_ranges`, `podium.kubernetes.rules.runtime_classes`). Neither kind matters to the
engine, so the objects go no further than this.

A pod may name a runtime class that the input does not have, since a dump of what scheduling reads
has none. Such a pod is taken as it is written, and counted.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from podium.golang.errors import ObjectError
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct, ResourceList
from podium.kubernetes.kinds.pod import Pod, PodSpec, Toleration
from podium.kubernetes.kinds.storage import PersistentVolumeClaim
from podium.kubernetes.rules.limit_ranges import (
    claim_problems,
    container_defaults,
    derive_container_limits,
    fill_in_defaults,
    pod_problems,
)
from podium.kubernetes.rules.runtime_classes import RuntimeClassConflict, apply_runtime_class


class LimitRangeItem(KubeStruct, frozen=True):
    type: str = ""
    max: ResourceList | None = None
    min: ResourceList | None = None
    default: ResourceList | None = None
    default_request: ResourceList | None = None
    max_limit_request_ratio: ResourceList | None = None


class LimitRangeSpec(KubeStruct, frozen=True):
    limits: tuple[LimitRangeItem, ...] | None = None


class LimitRange(KubeObject, frozen=True):
    api_version: Literal["v1"] = "v1"
    kind: Literal["LimitRange"] = "LimitRange"
    spec: LimitRangeSpec = LimitRangeSpec()


class Overhead(KubeStruct, frozen=True):
    pod_fixed: ResourceList | None = None


class Scheduling(KubeStruct, frozen=True):
    node_selector: dict[str, str] | None = None
    tolerations: tuple[Toleration, ...] | None = None


class RuntimeClass(KubeObject, frozen=True):
    cluster_scoped = True

    api_version: Literal["node.k8s.io/v1"] = "node.k8s.io/v1"
    kind: Literal["RuntimeClass"] = "RuntimeClass"
    handler: str = ""
    overhead: Overhead | None = None
    scheduling: Scheduling | None = None


RULE_KINDS: dict[tuple[str, str], type[KubeObject]] = {
    (struct().api_version, struct().kind): struct for struct in (LimitRange, RuntimeClass)
}
_AMOUNTS: Final = frozenset(
    {
        "default",
        "defaultRequest",
        "limits",
        "max",
        "maxLimitRequestRatio",
        "min",
        "overhead",
        "podFixed",
        "requests",
    }
)
"""Fields that hold quantities by the names of resources."""


class ClusterRules:
    def __init__(self, objects: Iterable[KubeObject]) -> None:
        self._ranges: dict[str, list[tuple[str, list[JsonObject]]]] = {}
        self._classes: dict[str, JsonObject] = {}
        self.unknown_classes: Counter[str] = Counter()
        """Runtime classes that pods name and that the input does not have."""
        for obj in objects:
            if isinstance(obj, LimitRange):
                limits = [_with_texts(msgspec.to_builtins(item)) for item in obj.spec.limits or ()]
                for item in limits:
                    if item.get("type") == "Container":
                        derive_container_limits(item)
                self._ranges.setdefault(obj.metadata.namespace, []).append((obj.name, limits))
            elif isinstance(obj, RuntimeClass):
                self._classes[obj.name] = _with_texts(msgspec.to_builtins(obj))

    def apply_to(self, pod: Pod) -> Pod:
        """The pod as the rules of its namespace and its runtime class have it. Raises ObjectError
        where they refuse it."""
        ranges, name = self._ranges.get(pod.metadata.namespace, ()), pod.spec.runtime_class_name
        if name and name not in self._classes:
            self.unknown_classes[name] += 1
            name = ""
        if not ranges and not name:
            return pod
        body = _with_texts(msgspec.to_builtins(pod.spec))
        for _, limits in ranges:
            # What was set is of interest to a server's annotation only.
            list(fill_in_defaults(body, *container_defaults(limits)))
        if name:
            try:
                apply_runtime_class(body, self._classes[name])
            except RuntimeClassConflict as conflict:
                remedy = f"see RuntimeClass {name} in the input"
                raise ObjectError("spec.runtimeClassName", str(conflict), remedy) from None
        for title, limits in ranges:
            _refuse("spec", title, pod_problems(limits, body))
        return replace(pod, spec=msgspec.convert(body, PodSpec))

    def check_claim(self, claim: PersistentVolumeClaim) -> None:
        """Raises ObjectError where a range refuses the claim."""
        for title, limits in self._ranges.get(claim.metadata.namespace, ()):
            spec = _with_texts(msgspec.to_builtins(claim.spec))
            _refuse("spec.resources", title, claim_problems(limits, spec))


def _refuse(path: str, title: str, problems: Iterable[str]) -> None:
    for problem in problems:
        raise ObjectError(path, f"LimitRange {title} refuses it: {problem}")


def _with_texts(value: Any, *, is_amount: bool = False) -> Any:
    """JSON with amounts as texts, as a server stores them; a file may have plain numbers."""
    if isinstance(value, dict):
        return {
            key: _with_texts(each, is_amount=is_amount or key in _AMOUNTS)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [_with_texts(each) for each in value]
    return str(value) if is_amount and isinstance(value, int | float) else value
