"""Reading stages from YAML, strictly: what a stage cannot mean is refused, with its place.

A file may hold several stages; their order is the order in which they are tried.
"""

from collections.abc import Iterable
from importlib.resources import files
from typing import Final, Literal

from podium.golang.documents import SourceDocument, expand_lists, read_documents
from podium.golang.errors import ObjectError
from podium.kubernetes.kinds.meta import KubeStruct, ObjectMeta, Quantity
from podium.kubernetes.kinds.typed_objects import convert_object
from podium.simulated.pods.kubelet_facts import FieldPath, parse_path
from podium.simulated.pods.stages import (
    ConditionChange,
    ContainerChange,
    Delay,
    Effect,
    Match,
    Stage,
)

API_VERSION: Final = "podium.dev/v1alpha1"
_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")
_STATES: Final = ("waiting", "running", "terminated", "next")
_PHASES: Final = ("", "Pending", "Running", "Succeeded", "Failed")
_STATUSES: Final = ("True", "False", "Unknown")


class _Match(KubeStruct, frozen=True):
    field: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class _Delay(KubeStruct, frozen=True):
    seconds: Quantity = 0
    seconds_from: str = ""
    jitter_seconds: Quantity = 0
    since: str = ""
    seconds_left: str = ""


class _Condition(KubeStruct, frozen=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class _Containers(KubeStruct, frozen=True):
    state: str = ""
    reason: str = ""
    ready: bool = False
    exit_code: int = 0
    exit_code_from: str = ""
    restarted: bool = False


class _Next(KubeStruct, frozen=True):
    phase: str = ""
    reason: str = ""
    message: str = ""
    reason_from: str = ""
    message_from: str = ""
    conditions: tuple[_Condition, ...] | None = None
    containers: _Containers | None = None
    delete: bool = False


class _Spec(KubeStruct, frozen=True):
    match: tuple[_Match, ...] | None = None
    delay: _Delay = _Delay()
    chance: Quantity = 1
    next: _Next = _Next()


class _Stage(KubeStruct, frozen=True):
    api_version: Literal["podium.dev/v1alpha1"] = "podium.dev/v1alpha1"
    kind: Literal["Stage"] = "Stage"
    metadata: ObjectMeta = ObjectMeta()
    spec: _Spec = _Spec()


def default_stages() -> tuple[Stage, ...]:
    """Pods start within a second or so, run as long as annotations say, and go when told."""
    written = files("podium.simulated.pods").joinpath("default_stages.yaml").read_bytes()
    return read_stages(written, "default_stages.yaml")


def read_stages(written: bytes, source: str) -> tuple[Stage, ...]:
    """Raises InputError."""
    stages: dict[str, Stage] = {}
    for document in expand_lists(read_documents(written, source)):
        stage = _stage(document)
        if stage.name in stages:
            raise document.error(f'there are two stages "{stage.name}"', path="metadata.name")
        stages[stage.name] = stage
    return tuple(stages.values())


def _stage(document: SourceDocument) -> Stage:
    try:
        if not isinstance(document.value, dict):
            raise ObjectError("", "is no stage: a stage is a map with kind, metadata and spec")
        read = convert_object(document.value, _Stage, strict=True)
        spec = read.spec
        chance = _number("spec.chance", spec.chance)
        if not 0 < chance <= 1:
            remedy = "a chance is more than 0 and at most 1"
            raise ObjectError("spec.chance", f"{chance:g} is no chance", remedy)
        return Stage(
            name=read.metadata.name,
            matches=tuple(_matches(spec.match or ())),
            delay=_delay(spec.delay),
            chance=chance,
            effect=_effect(spec.next),
        )
    except ObjectError as problem:
        raise document.error(problem.problem, path=problem.path, remedy=problem.remedy) from None


def _matches(written: Iterable[_Match]) -> Iterable[Match]:
    for index, each in enumerate(written):
        at = f"spec.match[{index}]"
        _one_of(f"{at}.operator", each.operator, _OPERATORS)
        takes_values = each.operator in ("In", "NotIn")
        if takes_values is not bool(each.values):
            needed = "needs values" if takes_values else "takes no values"
            raise ObjectError(f"{at}.values", f"{each.operator} {needed}")
        path = parse_path(each.field, f"{at}.field")
        yield Match(path, each.operator, frozenset(each.values or ()))


def _delay(written: _Delay) -> Delay:
    return Delay(
        seconds=_number("spec.delay.seconds", written.seconds),
        seconds_from=_path(written.seconds_from, "spec.delay.secondsFrom"),
        jitter_seconds=_number("spec.delay.jitterSeconds", written.jitter_seconds),
        since=_path(written.since, "spec.delay.since"),
        seconds_left=_path(written.seconds_left, "spec.delay.secondsLeft"),
    )


def _number(at: str, written: Quantity) -> float:
    if isinstance(written, str):
        raise ObjectError(at, f'expected a number, got the string "{written}"')
    if not 0 <= written < float("inf"):
        raise ObjectError(at, f"{written:g} is negative, or too much")
    return float(written)


def _effect(written: _Next) -> Effect:
    _one_of("spec.next.phase", written.phase, _PHASES)
    conditions = []
    for index, each in enumerate(written.conditions or ()):
        at = f"spec.next.conditions[{index}]"
        if not each.type:
            raise ObjectError(f"{at}.type", "is missing")
        _one_of(f"{at}.status", each.status, _STATUSES)
        conditions.append(ConditionChange(each.type, each.status, each.reason, each.message))
    effect = Effect(
        phase=written.phase,
        reason=written.reason,
        message=written.message,
        reason_from=_path(written.reason_from, "spec.next.reasonFrom"),
        message_from=_path(written.message_from, "spec.next.messageFrom"),
        conditions=tuple(conditions),
        containers=_containers(written.containers),
        removes=written.delete,
    )
    if not effect.removes and not effect.changes_status:
        raise ObjectError("spec.next", "does nothing", "give a phase, conditions or delete")
    return effect


def _containers(written: _Containers | None) -> ContainerChange | None:
    if written is None:
        return None
    _one_of("spec.next.containers.state", written.state, _STATES)
    return ContainerChange(
        state=written.state,
        reason=written.reason,
        ready=written.ready,
        exit_code=written.exit_code,
        exit_code_from=_path(written.exit_code_from, "spec.next.containers.exitCodeFrom"),
        restarted=written.restarted,
    )


def _path(written: str, at: str) -> FieldPath | None:
    return parse_path(written, at) if written else None


def _one_of(at: str, written: str, known: tuple[str, ...]) -> None:
    if written not in known:
        named = ", ".join(each for each in known if each)
        raise ObjectError(
            at, f'"{written}" is not known' if written else "is missing", f"use {named}"
        )
