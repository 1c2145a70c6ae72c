"""A recorded cluster in memory: how it was at the beginning, and what happened from then on.

The beginning is where the snapshot is complete, or later if somebody asks for that: what happened
before is then part of how the cluster was. Times are seconds since the beginning.
"""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, assert_never

import msgspec

from podium.client.snapshot import Unread
from podium.golang.errors import InputError
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.typed_objects import KubeObject, ObjectError, convert_object
from podium.kubernetes.rules.merge_patch import merge
from podium.kubernetes.rules.timestamps import parse_time
from podium.offline.traces.object_recording import RECORDED_STRUCTS, resource_name
from podium.offline.traces.recorded_pods import RecordedPod, RecordedPods
from podium.offline.traces.trace_files import (
    Delete,
    End,
    Gap,
    Patch,
    Put,
    Relisted,
    Resumed,
    SnapshotEnd,
    TraceFile,
    TraceHeader,
    TraceLine,
    open_trace,
)
from podium.scheduler.engine.garbage import pause_collection

_STRUCTS: Final = {resource_name(each): struct for each, struct in RECORDED_STRUCTS.items()}
_PODS: Final = "pods"
_MAX_NAMES: Final = 3


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """An object other than a pod has come or changed, or is gone."""

    at_s: float
    obj: KubeObject
    is_gone: bool = False


@dataclass(slots=True)
class RecordedCluster:
    """`objects` are those at the beginning, pods left out; `pods` are all that there were, in the
    order in which they came."""

    source: str
    header: TraceHeader
    duration_s: float = 0.0
    objects: list[KubeObject] = field(default_factory=list)
    pods: list[RecordedPod] = field(default_factory=list)
    changes: list[RecordedChange] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def unread(self) -> dict[str, str]:
        """Kind -> why there is nothing of it."""
        kinds = {resource_name(each): each.kind for each in RECORDED_STRUCTS}
        return {
            kinds[name]: f"not recorded: {why}"
            for name, why in self.header.unread.items()
            if name in kinds
        }


@pause_collection()
def read_recorded_cluster(
    path: str, *, from_s: float = 0.0, until_s: float | None = None
) -> RecordedCluster:
    """A trace, or a part of it: seconds since its snapshot. Raises InputError."""
    return _Reading(open_trace(path), from_s, until_s).read()


class _Reading:
    def __init__(self, trace: TraceFile, from_s: float, until_s: float | None) -> None:
        self._trace = trace
        self._from_s = from_s
        self._until_s = until_s
        self._snapshot_at: float | None = None
        self._is_begun = False
        self._state: dict[tuple[str, str, str], JsonObject] = {}
        self._pods = RecordedPods()
        self._cluster = RecordedCluster(trace.source, trace.header)
        self._gaps: Counter[str] = Counter()

    def read(self) -> RecordedCluster:
        last = 0.0
        for line in self._trace.lines:
            if self._snapshot_at is not None:
                last = line.at - self._snapshot_at
                if self._until_s is not None and last > self._until_s:
                    last = self._until_s
                    break
                if not self._is_begun and last >= self._from_s:
                    self._begin()
            self._take(line)
        return self._finish(last)

    def _finish(self, last: float) -> RecordedCluster:
        cluster = self._cluster
        if self._snapshot_at is None:
            problem = "ends before all that was there at the beginning had been written"
            raise InputError(problem, source=cluster.source, remedy="record again, and longer")
        if not self._is_begun:
            if self._from_s > last:
                raise InputError(f"ends {last:g} s after its snapshot, before --from")
            self._begin()
        cluster.duration_s = round(last - self._from_s, 3)
        cluster.pods = self._pods.pods
        cluster.notes += self._trace.warnings
        cluster.notes += _notes_on_gaps(self._gaps)
        forbidden = [name for name, why in cluster.header.unread.items() if why == Unread.FORBIDDEN]
        if forbidden:
            cluster.notes.append(f"not recorded, since forbidden: {', '.join(forbidden)}")
        return cluster

    def _begin(self) -> None:
        """What was read so far is how the cluster was."""
        self._is_begun = True
        self._pods.forget_past()
        self._cluster.objects = [
            self._convert(resource, raw)
            for (resource, _, _), raw in self._state.items()
            if resource != _PODS
        ]

    # --- lines --------------------------------------------------------------------------------

    def _take(self, line: TraceLine) -> None:
        match line:
            case Put():
                self._put(line.at, line.resource, line.object)
            case Patch():
                self._patch(line)
            case Delete():
                self._delete(line)
            case SnapshotEnd():
                self._end_snapshot(line.at)
            case Gap() | Relisted():
                self._gaps[line.resource] += self._is_begun
            case Resumed() | End():
                pass
            case _:
                assert_never(line)

    def _end_snapshot(self, at: float) -> None:
        self._snapshot_at = at
        with suppress(ValueError):
            started = parse_time(self._trace.header.started_at)
            self._pods.started = started + timedelta(seconds=at + self._from_s)

    def _put(self, at: float, resource: str, raw: JsonObject) -> None:
        obj = self._convert(resource, raw)
        self._state[resource, obj.namespace, obj.name] = raw
        if isinstance(obj, Pod):
            self._pods.put(self._since_begin(at), obj)
        elif self._is_begun:
            self._cluster.changes.append(RecordedChange(self._since_begin(at), obj))

    def _patch(self, line: Patch) -> None:
        held = self._state.get((line.resource, line.namespace, line.name))
        if held is None:
            raise self._wrong(f"changes {line.resource} {line.name}, which is not there")
        self._put(line.at, line.resource, merge(held, line.patch))

    def _delete(self, line: Delete) -> None:
        held = self._state.pop((line.resource, line.namespace, line.name), None)
        if held is None:
            raise self._wrong(f"deletes {line.resource} {line.name}, which is not there")
        if line.resource == _PODS:
            key = f"{line.namespace}/{line.name}"
            self._pods.remove(self._since_begin(line.at), key)
        elif self._is_begun:
            gone = self._convert(line.resource, held)
            self._cluster.changes.append(RecordedChange(self._since_begin(line.at), gone, True))

    def _since_begin(self, at: float) -> float:
        return round(at - (self._snapshot_at or 0.0) - self._from_s, 3)

    def _convert(self, resource: str, raw: JsonObject) -> KubeObject:
        struct = _STRUCTS.get(resource)
        if struct is None:
            raise self._wrong(f"has {resource}, which this release cannot read")
        try:
            return convert_object(raw, struct, strict=False)
        except (ObjectError, msgspec.MsgspecError) as problem:
            raise self._wrong(f"has {resource} that cannot be read: {problem}") from None

    def _wrong(self, problem: str) -> InputError:
        return InputError(problem, source=self._trace.source)


def _notes_on_gaps(gaps: Counter[str]) -> Iterable[str]:
    names = sorted(name for name, times in gaps.items() if times)
    if names:
        more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        named = ", ".join(names[:_MAX_NAMES]) + more
        yield f"the recorder could not follow all the time: {named}"
