"""What a kubelet works out about a pod, and fields of a pod by path.

kubelet.rejectedReason, .rejectedMessage   why the node cannot take the pod; only before it starts
kubelet.nextSeconds                        when its containers change by themselves; 0: now
kubelet.stopSeconds                        how long it takes to stop, hooks and grace included
kubelet.ready                              whether its containers and readiness gates are

Fields of a pod by path, such as `status.phase` or `metadata.annotations["a.b/c"]`. An item of a
list is chosen by its number, or by its type or name: `status.conditions["Ready"]`.

Paths are checked against what the simulated cluster reads of a pod, so that a slip of the pen in a
stage is found when the stage is read and not when nothing happens.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from msgspec import inspect

from podium.golang.errors import ObjectError, closest, did_you_mean
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.objects import Node
from podium.kubernetes.controllers.pods import Container, Pod
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.rules.timestamps import Moment
from podium.simulated.names import STOP_SECONDS
from podium.simulated.pods.admission import Needs, admit, needs_of
from podium.simulated.pods.container_lives import ContainerRuns
from podium.simulated.pods.pod_lives import closed_gate, live_on, seconds_of
from podium.simulated.programs.recognition import recognise

_STOP_S: Final = 1.0
"""How long containers take to stop that nothing is said of."""


class KubeletFacts(KubeStruct, frozen=True):
    rejected_reason: str = ""
    rejected_message: str = ""
    next_seconds: float | None = None
    stop_seconds: float | None = None
    ready: str = ""


class SeenPod(Pod, frozen=True):
    """A pod with what its kubelet makes of it."""

    kubelet: KubeletFacts = KubeletFacts()


def find_facts(
    pod: Pod,
    node: Node,
    neighbours: Callable[[], Iterable[Pod]],
    moment: Moment,
    needs: Callable[[Pod], Needs] = needs_of,
    runs: ContainerRuns | None = None,
) -> KubeletFacts:
    """`neighbours` are the pods of the node, `runs` is what containers have done so far."""
    if pod.metadata.is_terminating:
        return KubeletFacts(stop_seconds=stop_s(pod))
    if pod.is_ended:
        return KubeletFacts()
    if not pod.status.start_time and pod.status.phase == "Pending":
        rejection = admit(pod, node, neighbours(), needs)
        if rejection is not None:
            return KubeletFacts(
                rejected_reason=rejection.reason, rejected_message=rejection.message
            )
    if not pod.status.start_time:
        # Programs are not read before they start: what they find then matters.
        return KubeletFacts(next_seconds=0.0, ready=str(not closed_gate(pod)))
    life = live_on(pod, moment, runs)
    known = pod.status.container_statuses or ()
    are_ready = all(each.state and each.state.running and each.ready is not False for each in known)
    is_ready = are_ready and not closed_gate(pod)
    wait_s = life.wait_s if life.is_written else 0.0
    return KubeletFacts(next_seconds=wait_s, ready=str(is_ready))


def stop_s(pod: Pod) -> float:
    """How long a pod takes to stop: its longest preStop hook, then its containers, within grace.

    upstream: the hook runs within the grace period, and containers that do not stop are killed at
    its end.
    """
    containers = (*(pod.spec.containers or ()), *(pod.spec.init_containers or ()))
    hooks_s = max((_pre_stop_s(each) for each in containers), default=0.0)
    said_s = seconds_of(pod.metadata.annotation(STOP_SECONDS) or "-")
    total_s = hooks_s + (_STOP_S if said_s is None else said_s)
    grace_s = pod.metadata.deletion_grace_period_seconds
    return total_s if grace_s is None else min(total_s, float(grace_s))


def _pre_stop_s(container: Container) -> float:
    hook = (container.lifecycle or {}).get("preStop") or {}
    command = (hook.get("exec") or {}).get("command") or ()
    program = recognise(command)
    if program is not None:
        return math.inf if program.seconds is None else program.seconds
    return float((hook.get("sleep") or {}).get("seconds") or 0)


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
