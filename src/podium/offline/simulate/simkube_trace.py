"""Traces of SimKube: which objects were applied and deleted when, and how long pods ran.

A trace is MessagePack: events with objects as an API server has them but for what differs between
clusters, and for the pods of each owner when they began and ended. It has no nodes; those come from
other files. As objects, everything that a trace ever applies is there at once, in its last form; as
events things happen at their times.

upstream: acrlabs/simkube, sk-core/src/trace, version 2 of the format.

The events of a SimKube trace on the clock of a timed run. Controllers are not traced, their objects
are: a workload that is applied gets the pods that its controller would make, one that is applied
again loses or gets the difference, and one that is deleted loses all. The pods of an owner run for
as long as the trace says that its pods ran, in the order in which they came and from the beginning
again when there are more of them. upstream: the same rule in sk-driver. CronJobs have their pods
when the trace has them.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from podium.golang.documents import DEFAULT_LIMITS, SourceDocument, is_deeper_than
from podium.golang.errors import InputError, ObjectError
from podium.golang.json_values import JsonObject, JsonValue
from podium.kubernetes.controllers.workloads import WORKLOAD_KINDS, Workload
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.typed_objects import KINDS, convert_object
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.admission import DEFAULT_NAMESPACE, Admission, assign_uid
from podium.offline.simulate.control_plane import ControlPlane
from podium.offline.simulate.timed_events import (
    NodePut,
    NodeRemoval,
    ObjectPut,
    ObjectRemoval,
    PodArrival,
    PodRemoval,
    TimedEvent,
)

VERSION: Final = 2
_FIRST_KEY: Final = b"\xa7version"
_MAPS: Final = range(0x80, 0x90)
"""The first byte of a small map."""


class TraceEvent(msgspec.Struct):
    """`ts` is in seconds since 1970."""

    ts: int
    applied_objs: list[JsonObject] = []
    deleted_objs: list[JsonObject] = []


Lifecycle = str | dict[str, int | list[int]]
"""`"Empty"`, `{"Running": begin}` or `{"Finished": [begin, end]}`."""


class SimKubeTrace(msgspec.Struct):
    version: int
    events: list[TraceEvent]
    pod_lifecycles: dict[tuple[str, str], dict[int, list[Lifecycle]]] = {}
    """By kind and name of the owner, then by the hash of the pods' spec."""


_HEAD: Final = msgspec.msgpack.Decoder(dict[str, msgspec.Raw])
_VERSION: Final = msgspec.msgpack.Decoder(int)
_TRACE: Final = msgspec.msgpack.Decoder(SimKubeTrace)


def is_simkube_trace(data: bytes) -> bool:
    return data[:1] != b"" and data[0] in _MAPS and data[1 : 1 + len(_FIRST_KEY)] == _FIRST_KEY


def decode_simkube_trace(data: bytes, source: str) -> SimKubeTrace:
    """Raises InputError."""
    try:
        version = _VERSION.decode(_HEAD.decode(data)["version"])
        if version != VERSION:
            remedy = "SimKube 2 writes traces of version 2"
            raise InputError(f"a SimKube trace of version {version}", source=source, remedy=remedy)
        trace = _TRACE.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError) as problem:
        remedy = "skctl export writes it anew"
        told = f"cannot be read as a SimKube trace: {problem}"
        raise InputError(told, source=source, remedy=remedy) from None
    if not any(event.applied_objs for event in trace.events):
        raise InputError("the trace applies no objects", source=source)
    for place, value in _objects(trace):
        if is_deeper_than(DEFAULT_LIMITS.depth, value):
            problem_text = f"nested more than {DEFAULT_LIMITS.depth} levels deep"
            raise InputError(problem_text, source=source, path=place)
    return trace


def simkube_documents(data: bytes, source: str) -> list[SourceDocument]:
    """Everything that the trace applies, in its last form and in order of arrival."""
    found: dict[tuple[str, str, str], SourceDocument] = {}
    for place, value in _objects(decode_simkube_trace(data, source)):
        found[identify(value)] = SourceDocument(source, 1, 1, value, place)
    return list(found.values())


def identify(value: JsonObject) -> tuple[str, str, str]:
    """(apiVersion/kind, namespace, name) of an object, empty where they are missing."""
    metadata = value.get("metadata")
    named: dict[str, JsonValue] = metadata if isinstance(metadata, dict) else {}
    kind = f"{value.get('apiVersion', '')}.{value.get('kind', '')}"
    return kind, str(named.get("namespace") or ""), str(named.get("name") or "")


def _objects(trace: SimKubeTrace) -> Iterator[tuple[str, JsonObject]]:
    for number, event in enumerate(trace.events):
        for index, value in enumerate(event.applied_objs):
            yield f"events[{number}].applied_objs[{index}]", value


_CRON_JOB = ("batch/v1", "CronJob")
_Identity = tuple[str, str, str]


def read_simkube_events(
    data: bytes,
    source: str,
    *,
    gates: FeatureGates,
    nodes: Sequence[Node] = (),
    objects: Sequence[KubeObject] = (),
) -> list[TimedEvent]:
    """What happens in a trace, in order of time and from 0 on, in a cluster with some nodes and
    objects. Raises InputError."""
    trace = decode_simkube_trace(data, source)
    reading = _EventReading(trace, source, nodes, Admission(gates, objects, checks=False))
    events = [event for found in reading.read() for event in found]
    return sorted(events, key=lambda event: event.at)


class _EventReading:
    def __init__(
        self,
        trace: SimKubeTrace,
        source: str,
        nodes: Sequence[Node],
        admission: Admission,
    ) -> None:
        self._trace = trace
        self._source = source
        self._nodes = nodes
        self._admission = admission
        self._start = trace.events[0].ts
        self._pods: dict[_Identity, dict[str, Pod]] = {}
        """The pods that are there, by the object that asks for them and by their key."""
        self._counts: dict[_Identity, int] = {}

    def read(self) -> Iterator[Iterator[TimedEvent]]:
        for number, event in enumerate(self._trace.events):
            at = float(event.ts - self._start)
            if at < 0:
                raise InputError(
                    "events are not in order of time",
                    source=self._source,
                    path=f"events[{number}].ts",
                )
            for index, value in enumerate(event.applied_objs):
                place = f"events[{number}].applied_objs[{index}]"
                yield self._locate_errors(self._apply(value, at), value, place)
            for index, value in enumerate(event.deleted_objs):
                place = f"events[{number}].deleted_objs[{index}]"
                yield self._locate_errors(self._delete(value, at), value, place)

    def _locate_errors(
        self, events: Iterator[TimedEvent], value: JsonObject, place: str
    ) -> Iterator[TimedEvent]:
        """The events; what is wrong with the object is reported with its place."""
        try:
            yield from events
        except ObjectError as problem:
            document = SourceDocument(self._source, 1, 1, value, place)
            raise document.error(
                problem.problem, path=problem.path, remedy=problem.remedy
            ) from None

    def _apply(self, value: JsonObject, at: float) -> Iterator[TimedEvent]:
        kind = (str(value.get("apiVersion", "")), str(value.get("kind", "")))
        if kind == _CRON_JOB:
            yield from self._cron_pods(value)
        elif kind in WORKLOAD_KINDS:
            yield from self._apply_workload(value, WORKLOAD_KINDS[kind], at)
        elif kind in KINDS:
            obj = assign_uid(self._admission.admit_leniently(_add_namespace(value), KINDS[kind]))
            if isinstance(obj, Pod):
                yield from self._put_pods(identify(value), [obj], at)
            elif isinstance(obj, Node):
                yield NodePut(at, obj)
            else:
                yield ObjectPut(at, obj)

    def _apply_workload(
        self, value: JsonObject, struct: type[Workload], at: float
    ) -> Iterator[TimedEvent]:
        workload = assign_uid(convert_object(value, struct, strict=False))
        made = ControlPlane((), (), self._nodes, self._admission).make(workload)
        if made.refusal is not None:
            raise made.refusal
        for obj in made.objects:
            yield ObjectPut(at, assign_uid(obj))
        yield from self._put_pods(identify(value), [assign_uid(pod) for pod in made.pods], at)

    def _put_pods(self, owner: _Identity, pods: Sequence[Pod], at: float) -> Iterator[TimedEvent]:
        """What it takes until an owner has these pods and no others."""
        wanted = {_key(pod): _unbind_pod(pod) for pod in pods}
        there = self._pods.setdefault(owner, {})
        for key in [key for key, pod in there.items() if wanted.get(key) != pod]:
            del there[key]
            yield PodRemoval(at, key)
        for key, pod in wanted.items():
            if key not in there:
                there[key] = pod
                yield PodArrival(at, pod, self._next_duration(owner), _workload(owner))

    def _cron_pods(self, value: JsonObject) -> Iterator[TimedEvent]:
        """The pods of a CronJob when they began; the first time that it is applied."""
        owner = identify(value)
        if owner in self._counts:
            return
        self._counts[owner] = 0
        template = _at(value, "spec", "jobTemplate", "spec", "template")
        metadata = {**_at(template, "metadata"), "namespace": owner[1]}
        for number, lifecycle in enumerate(self._lifecycles(owner)):
            begin, duration = _times(lifecycle)
            if begin is None:
                continue
            body = {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {**metadata, "name": f"{owner[2]}-{number}"},
                "spec": template.get("spec") or {},
            }
            pod = assign_uid(self._admission.admit_leniently(body, Pod))
            at = max(0.0, float(begin - self._start))
            yield PodArrival(at, pod, duration, _workload(owner))

    def _delete(self, value: JsonObject, at: float) -> Iterator[TimedEvent]:
        owner = identify(value)
        for key in self._pods.pop(owner, {}):
            yield PodRemoval(at, key)
        kind = (str(value.get("apiVersion", "")), str(value.get("kind", "")))
        if kind not in KINDS or kind in WORKLOAD_KINDS:
            return
        obj = assign_uid(convert_object(value, KINDS[kind], strict=False))
        if isinstance(obj, Node):
            yield NodeRemoval(at, obj.name)
        elif not isinstance(obj, Pod):
            yield ObjectRemoval(at, obj)

    def _next_duration(self, owner: _Identity) -> float | None:
        """upstream: the pods of one owner take its lifecycles in turn."""
        known = self._lifecycles(owner)
        if not known:
            return None
        number = self._counts.get(owner, 0)
        self._counts[owner] = number + 1
        return _times(known[number % len(known)])[1]

    def _lifecycles(self, owner: _Identity) -> list[Lifecycle]:
        kind, namespace, name = owner
        found = self._trace.pod_lifecycles.get((kind, f"{namespace}/{name}"), {})
        return [each for lifecycles in found.values() for each in lifecycles]


def _times(lifecycle: Lifecycle) -> tuple[int | None, float | None]:
    """When a pod began and how long it ran, None for what is not known."""
    match lifecycle:
        case {"Finished": [int(begin), int(end)]}:
            return begin, float(max(0, end - begin))
        case {"Running": int(begin)}:
            return begin, None
    return None, None


def _unbind_pod(pod: Pod) -> Pod:
    """A pod that somebody has yet to decide about."""
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=""))


def _add_namespace(value: JsonObject) -> JsonObject:
    """The object with its namespace, which a trace may leave out."""
    metadata = value.get("metadata") or {}
    return {**value, "metadata": {"namespace": DEFAULT_NAMESPACE, **metadata}}


def _at(value: JsonObject, *path: str) -> JsonObject:
    for step in path:
        inner = value.get(step)
        value = inner if isinstance(inner, dict) else {}
    return value


def _key(pod: Pod) -> str:
    return f"{pod.metadata.namespace}/{pod.metadata.name}"


def _workload(owner: _Identity) -> str:
    kind, namespace, name = owner
    return f"{namespace}/{kind.rpartition('.')[2].lower()}/{name}"
