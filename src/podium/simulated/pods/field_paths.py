"""Fields of a pod by path, such as `status.phase` or `metadata.annotations["a.b/c"]`.

An item of a list is chosen by its number, or by its type or name: `status.conditions["Ready"]`.

Paths are checked against what the simulated cluster reads of a pod, so that a slip of the pen in a
stage is found when the stage is read and not when nothing happens.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from msgspec import inspect

from podium.golang.errors import ObjectError, closest, did_you_mean
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.pods import Pod
from podium.simulated.pods.kubelet_facts import KubeletFacts, SeenPod

_STEP: Final = re.compile(r'\.?([A-Za-z][A-Za-z0-9]*)|\[(\d+)\]|\["([^"]*)"\]')


@dataclass(frozen=True, slots=True)
class FieldPath:
    written: str
    steps: tuple[str | int, ...]

    @property
    def is_of_kubelet(self) -> bool:
        return self.steps[0] == "kubelet"

    def of(self, pod: JsonObject) -> Any:
        """The field's value in a pod as plain values; None if it is not there."""
        found: Any = pod
        for step in self.steps:
            if isinstance(found, list | tuple):
                found = _item(found, step)
            else:
                found = found.get(step) if isinstance(found, dict) else None
            if found is None:
                return None
        return found


def _item(items: Sequence[Any], step: str | int) -> Any:
    if isinstance(step, int):
        return items[step] if step < len(items) else None
    named = (each for each in items if step in (each.get("type"), each.get("name")))
    return next(named, None)


def parse_path(written: str, at: str) -> FieldPath:
    """Raises ObjectError; `at` is where the path is written."""
    steps: list[str | int] = []
    place = 0
    while place < len(written):
        match = _STEP.match(written, place)
        if match is None:
            raise ObjectError(
                at, f'"{written}" is no path: it makes no sense from "{written[place:]}"'
            )
        name, index, key = match.groups()
        steps.append(int(index) if index is not None else name if name is not None else key)
        place = match.end()
    if not steps:
        raise ObjectError(at, "is empty", "write a path such as status.phase")
    _check(written, steps, at)
    return FieldPath(written, tuple(steps))


def _check(written: str, steps: list[str | int], at: str) -> None:
    """Whether pods have such a field, as far as they are read."""
    shape: Any = inspect.type_info(SeenPod)
    for step in steps:
        shape = _present(shape)
        if isinstance(shape, inspect.StructType) and isinstance(step, str):
            fields = {field.encode_name: field.type for field in shape.fields}
            if step not in fields:
                remedy = did_you_mean(closest(step, sorted(fields)))
                known = remedy or f"there is {', '.join(sorted(fields))}"
                raise ObjectError(at, f'"{written}": there is no field {step} to go by', known)
            shape = fields[step]
        elif isinstance(shape, inspect.DictType) and isinstance(step, str):
            shape = shape.value_type
        elif isinstance(shape, inspect.VarTupleType):
            shape = shape.item_type
        elif not isinstance(shape, inspect.AnyType):
            raise ObjectError(at, f'"{written}" goes on where there is nothing more')


def _present(shape: Any) -> Any:
    """A type without its "or nothing"."""
    if isinstance(shape, inspect.UnionType):
        return next(each for each in shape.types if not isinstance(each, inspect.NoneType))
    return shape


def plain(pod: Pod, facts: KubeletFacts | None = None) -> JsonObject:
    """A pod as plain values, for paths to walk in, with what its kubelet makes of it."""
    values: JsonObject = msgspec.to_builtins(pod)
    return values if facts is None else {**values, "kubelet": msgspec.to_builtins(facts)}
