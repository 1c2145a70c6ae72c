"""What a controller is: what wakes it, what it plans for one key at a time, and what it writes.

Whoever runs controllers gives them stores, wakes them when the stores change, and carries their
plans out: the simulated cluster through an API server, the simulator in memory.

What decisions ask for: writes to the API, as values. A decision is a function from what is known to
a `Plan`; carrying it out is somebody else's work. So tests read plans, and nothing here waits.

Events that controllers write about the objects that they keep, and what is done without pods
that were refused.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct, ObjectMeta
from podium.kubernetes.resources.resource_types import EVENTS, PODS, ResourceType
from podium.kubernetes.rules.merge_patch import PatchType
from podium.kubernetes.rules.timestamps import Moment


@dataclass(frozen=True, slots=True)
class CreateAction:
    resource: ResourceType
    namespace: str
    body: JsonObject


@dataclass(frozen=True, slots=True)
class PatchAction:
    resource: ResourceType
    namespace: str
    name: str
    body: JsonObject
    subresource: str = ""
    kind: PatchType = PatchType.MERGE


@dataclass(frozen=True, slots=True)
class DeleteAction:
    """Of this very object: another one of the same name stays."""

    resource: ResourceType
    namespace: str
    name: str
    uid: str
    grace_period_s: int | None = None
    propagation: str = ""


Action = CreateAction | PatchAction | DeleteAction


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do now, and after how many cluster seconds to look again if nothing happens."""

    actions: list[Action] = field(default_factory=list)
    again_after_s: float | None = None


NOTHING = Plan()


def delete(
    resource: ResourceType,
    obj: KubeObject,
    *,
    grace_period_s: int | None = None,
    propagation: str = "",
) -> DeleteAction:
    metadata = obj.metadata
    return DeleteAction(
        resource, metadata.namespace, metadata.name, metadata.uid, grace_period_s, propagation
    )


def status_patch(
    resource: ResourceType,
    obj: KubeObject,
    status: JsonObject,
    kind: PatchType = PatchType.STRATEGIC,
) -> PatchAction:
    """A change of the status; conditions that are not in it stay as they are."""
    metadata = obj.metadata
    return PatchAction(
        resource, metadata.namespace, metadata.name, {"status": status}, "status", kind
    )


def status_writes(plan: Plan) -> list[Action]:
    """What a plan reports."""
    return [each for each in plan.actions if isinstance(each, PatchAction) and each.subresource]


def without_creations(plan: Plan) -> list[Action]:
    """What a plan does that needs nothing new."""
    return [each for each in plan.actions if not isinstance(each, CreateAction)]


def find_creation(plan: Plan, *resources: ResourceType) -> CreateAction | None:
    """The first thing of some kinds that a plan makes."""
    made = (each for each in plan.actions if isinstance(each, CreateAction))
    return next((each for each in made if each.resource in resources), None)


def read_reported_fields(status: KubeStruct, wanted: JsonObject) -> JsonObject:
    """What a status says now of the fields that are to be written into it."""
    fields = zip(status.__struct_encode_fields__, status.__struct_fields__, strict=True)
    return {name: getattr(status, attribute) for name, attribute in fields if name in wanted}


def without_finalizer(resource: ResourceType, obj: KubeObject, finalizer: str) -> PatchAction:
    """Take one finalizer away; refused if somebody else has changed them meanwhile."""
    metadata = obj.metadata
    kept = [each for each in metadata.finalizers or () if each != finalizer]
    changed = {"finalizers": kept or None, **_unchanged_since(metadata)}
    return PatchAction(resource, metadata.namespace, metadata.name, {"metadata": changed})


def metadata_patch(resource: ResourceType, obj: KubeObject, changed: JsonObject) -> PatchAction:
    """A change of metadata that is refused if the object is not as it was seen."""
    metadata = obj.metadata
    body = {"metadata": {**changed, **_unchanged_since(metadata)}}
    return PatchAction(resource, metadata.namespace, metadata.name, body)


def _unchanged_since(metadata: ObjectMeta) -> JsonObject:
    return {"uid": metadata.uid, "resourceVersion": metadata.resource_version}


def sooner(*delays: float | None) -> float | None:
    """The first of several times to look again; None is never."""
    given = [delay for delay in delays if delay is not None]
    return min(given) if given else None


def event_about(
    obj: KubeObject, component: str, type_: str, reason: str, message: str, moment: Moment
) -> CreateAction:
    metadata = obj.metadata
    body = {
        "metadata": {"generateName": f"{metadata.name}.", "namespace": metadata.namespace},
        "involvedObject": {
            "apiVersion": obj.api_version,
            "kind": obj.kind,
            "name": metadata.name,
            "namespace": metadata.namespace,
            "uid": metadata.uid,
            "resourceVersion": metadata.resource_version,
        },
        "type": type_,
        "reason": reason,
        "message": message,
        "source": {"component": component},
        "reportingComponent": component,
        "firstTimestamp": moment.timestamp,
        "lastTimestamp": moment.timestamp,
        "count": 1,
    }
    return CreateAction(EVENTS, metadata.namespace, body)


def plan_without_pods(
    obj: KubeObject, plan: Plan, component: str, problem: Exception, moment: Moment
) -> Plan:
    """What of a plan needs no new pods, the status included, and an Event on why there are none;
    nothing if the plan makes no pods."""
    if find_creation(plan, PODS) is None:
        return NOTHING
    told = f"Error creating: {problem}"
    event = event_about(obj, component, "Warning", "FailedCreate", told, moment)
    return Plan([*without_creations(plan), event])


Wake = Callable[[Any], None]
"""Given a key, makes its controller look at it."""


class Controller(Protocol):
    """Decides for one key at a time, from what the stores say."""

    name: str

    def watch(self, wake: Wake) -> None:
        """Listen to the stores that matter; called once."""

    def plan(self, key: Any, moment: Moment) -> Plan: ...


@runtime_checkable
class WorksWithoutCreations(Protocol):
    """A controller that has something to do where nothing can be made any more: in a namespace that
    is being deleted, whose pods it has to let go."""

    def plan_without_creations(self, key: Any, moment: Moment) -> Plan: ...


@runtime_checkable
class FailureReporter(Protocol):
    """A controller that reports in Events and in the status of its objects what was refused."""

    def plan_after_failure(self, key: Any, problem: Exception, moment: Moment) -> Plan:
        """What to write after a refusal. Contract: a refusal that lasts changes the status once,
        whatever its text; the write wakes the controller, which would be refused again at once."""
