"""Following a cluster into a trace: what is there, and every change that decisions depend on.

Each resource has a reflector of its own, with the rules of all others: a watch that ends goes on
where it was, one that the server has forgotten (410) makes a new list of which the differences are
written, a server that is away is asked again and again. What that means for the record is in it:
`gap` and `resumed` around the time in which a resource was not followed, `relisted` where changes
may have come and gone unseen.

Contract: only `list` and `watch` are requested. What is kept in memory of an object is what was
written of it; a change of anything else is no line.

What a recording may read, found out before it begins; and the role that lets it read the rest.
Every resource is listed and watched for a moment, with nothing but `list` and `watch`: whoever may
not do one of them is told which right is missing instead of waiting for ever. Nodes and pods there
must be; what else cannot be read is left out and named.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from random import Random, SystemRandom
from typing import Final

import msgspec

from podium.client import (
    Clock,
    DeletedFinalStateUnknown,
    KubeClient,
    LoopClock,
    ObjectStore,
    ResourceType,
    Selection,
    last_state,
)
from podium.client import resources as known_resources
from podium.client.api_errors import Forbidden, NotFound
from podium.client.clock import unwrap_errors
from podium.client.kube_client import EVERYTHING
from podium.client.reflector import Reflector
from podium.client.snapshot import Unread
from podium.kubernetes.rules.merge_patch import merge
from podium.offline.simulate.read_kinds import REQUIRED, UNFINISHED_PODS
from podium.offline.traces.object_recording import (
    RECORDED_STRUCTS,
    RecordedObject,
    decode_recorded,
    resource_name,
)
from podium.offline.traces.trace_files import (
    Delete,
    Gap,
    Patch,
    Put,
    Relisted,
    Resumed,
    SnapshotEnd,
    TraceLine,
    TraceWriter,
    diff_objects,
)

_LOOK_S: Final = 0.5
"""How often lines are brought into the file, and reflectors asked how they are."""
_MILLISECONDS: Final = 3


@dataclass(slots=True)
class RecordingProgress:
    """How far a recording has come; `away` are resources that cannot be followed right now, and
    why."""

    seconds: float
    objects: int
    lines: int
    size: int
    away: dict[str, str]
    is_following: bool


class ClusterRecorder:
    """Writes into `writer` what the `followed` resources do, for as long as it runs."""

    def __init__(
        self,
        client: KubeClient,
        writer: TraceWriter,
        followed: Sequence[ResourceType],
        *,
        clock: Clock | None = None,
        randomness: Random | None = None,
        on_progress: Callable[[RecordingProgress], None] = lambda _: None,
    ) -> None:
        self._writer = writer
        self._clock = clock or LoopClock()
        self._begun = self._clock.now()
        self._on_progress = on_progress
        self._away: dict[str, str] = {}
        self._gaps: set[str] = set()
        self._following_since: float | None = None
        self._unlisted = set(followed)
        self._reflectors = {
            resource_name(resource): Reflector(
                client,
                resource,
                _RecordedStore(resource, self),
                clock=self._clock,
                randomness=randomness or SystemRandom(),
                selection=Selection(
                    fields=UNFINISHED_PODS if resource is known_resources.PODS else ""
                ),
            )
            for resource in followed
        }

    def now(self) -> float:
        """Seconds since the recording began, as lines have them."""
        return round(self._clock.now() - self._begun, _MILLISECONDS)

    async def run(self, for_s: float | None = None) -> None:
        """Until cancelled, or for so long after everything that was there is written. Raises
        TraceFull, TraceUnwritable."""
        with unwrap_errors(BaseException):
            async with asyncio.TaskGroup() as group:
                following = [group.create_task(each.run()) for each in self._reflectors.values()]
                await self._look_after(for_s)
                for task in following:
                    task.cancel()

    async def _look_after(self, for_s: float | None) -> None:
        left_s = float("inf")
        while left_s > 0:
            await self._clock.sleep(min(_LOOK_S, left_s))
            self._note_gaps()
            self._writer.flush()
            self._on_progress(self._progress())
            if for_s is not None and self._following_since is not None:
                left_s = self._following_since + for_s - self._clock.now()

    def _progress(self) -> RecordingProgress:
        objects = sum(len(each.store) for each in self._reflectors.values())
        writer = self._writer
        return RecordingProgress(
            self.now(), objects, writer.lines, writer.size, self._away, self.is_following
        )

    # --- lines --------------------------------------------------------------------------------

    def write(self, resource: ResourceType, line: Callable[[float, str], TraceLine]) -> None:
        self._writer.write(line(self.now(), resource_name(resource)))

    def begin_list(self, resource: ResourceType) -> None:
        if resource not in self._unlisted:
            self.write(resource, Relisted)

    def end_list(self, resource: ResourceType) -> None:
        self._unlisted.discard(resource)
        if not self._unlisted and not self.is_following:
            self._writer.write(SnapshotEnd(self.now()))
            self._writer.flush()
            self._following_since = self._clock.now()

    @property
    def is_following(self) -> bool:
        """Whether everything that was there at the beginning is written."""
        return self._following_since is not None

    def _note_gaps(self) -> None:
        self._away = {name: each.trouble for name, each in self._reflectors.items() if each.trouble}
        if not self.is_following:
            return
        for name in self._reflectors:
            if name in self._away and name not in self._gaps:
                self._gaps.add(name)
                self._writer.write(Gap(self.now(), name))
            elif name in self._gaps and name not in self._away:
                self._gaps.discard(name)
                self._writer.write(Resumed(self.now(), name))


class _RecordedStore(ObjectStore[RecordedObject]):
    """What a reflector keeps: of each object what was written of it."""

    def __init__(self, resource: ResourceType, recorder: ClusterRecorder) -> None:
        self._resource = resource
        self._recorder = recorder
        decode = partial(decode_recorded, struct=RECORDED_STRUCTS[resource])
        super().__init__(resource.plural, decode, _LineWriter(partial(recorder.write, resource)))

    def replacing(self, items: Iterable[msgspec.Raw], version: str = "") -> Iterator[None]:
        self._recorder.begin_list(self._resource)
        yield from super().replacing(items, version)
        self._recorder.end_list(self._resource)


class _LineWriter:
    """Told of changes of one resource (a `ResourceEventHandler`), it writes them as lines."""

    def __init__(self, write: Callable[[Callable[[float, str], TraceLine]], None]) -> None:
        self._write = write

    def on_add(self, obj: RecordedObject, /, *, is_in_initial_list: bool) -> None:  # noqa: ARG002
        self._write(lambda at, resource: Put(at, resource, msgspec.json.decode(obj.written)))

    def on_update(self, old: RecordedObject, new: RecordedObject, /) -> None:
        if old.written == new.written:
            return
        before, after = msgspec.json.decode(old.written), msgspec.json.decode(new.written)
        patch = diff_objects(before, after)
        if patch is None or merge(before, patch) != after:
            self._write(lambda at, resource: Put(at, resource, after))
            return
        head = new.metadata
        self._write(lambda at, resource: Patch(at, resource, head.name, patch, head.namespace))

    def on_delete(self, obj: RecordedObject | DeletedFinalStateUnknown, /) -> None:
        head = last_state(obj).metadata
        is_unseen = isinstance(obj, DeletedFinalStateUnknown)
        self._write(lambda at, resource: Delete(at, resource, head.name, head.namespace, is_unseen))


_AT_ONCE: Final = 4
_ONE: Final = (("limit", "1"),)
_VERBS: Final = ("list", "watch")
ROLE: Final = "podium-recorder"


@dataclass(slots=True)
class RecordingRights:
    """`readable` can be recorded; `unread` cannot, and why."""

    readable: list[ResourceType] = field(default_factory=list)
    unread: dict[ResourceType, Unread] = field(default_factory=dict)

    @property
    def forbidden(self) -> list[ResourceType]:
        return [each for each, why in self.unread.items() if why is Unread.FORBIDDEN]

    @property
    def missing(self) -> list[ResourceType]:
        """What cannot be read although there is no recording without it."""
        return [each for each in REQUIRED if each in self.unread]


async def find_rights(client: KubeClient, resources: Sequence[ResourceType]) -> RecordingRights:
    """Raises ApiError and Unreachable for what says nothing about rights."""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def look(resource: ResourceType) -> Unread | None:
        async with turns:
            return await _try_reading(client, resource)

    with unwrap_errors(BaseException):
        async with asyncio.TaskGroup() as group:
            looks = [group.create_task(look(resource)) for resource in resources]
    rights = RecordingRights()
    for resource, looked in zip(resources, looks, strict=True):
        why = looked.result()
        if why is None:
            rights.readable.append(resource)
        else:
            rights.unread[resource] = why
    return rights


async def _try_reading(client: KubeClient, resource: ResourceType) -> Unread | None:
    try:
        page = await client.list_page(resource, EVERYTHING, _ONE)
        since = (("resourceVersion", page.resource_version), ("timeoutSeconds", "5"))
        async with client.watch(resource, Selection(), since):
            return None
    except Forbidden:
        return Unread.FORBIDDEN
    except NotFound:
        return Unread.NOT_SERVED


def cluster_role(resources: Iterable[ResourceType]) -> str:
    """A ClusterRole that lets these be recorded, and nothing else, as YAML."""
    lines = [
        "apiVersion: rbac.authorization.k8s.io/v1",
        "kind: ClusterRole",
        "metadata:",
        f"  name: {ROLE}",
        "rules:",
    ]
    in_order = sorted(resources, key=lambda each: (each.group, each.plural))
    for group, members in groupby(in_order, key=lambda each: each.group):
        lines += [
            f"- apiGroups: [{group or _quote_text('')}]",
            f"  resources: [{', '.join(each.plural for each in members)}]",
            f"  verbs: [{', '.join(_VERBS)}]",
        ]
    return "\n".join(lines) + "\n"


def describe_unread(unread: Mapping[ResourceType, Unread]) -> str:
    """Resources by why they are not read: `forbidden: pods, nodes`."""
    return "; ".join(
        f"{why}: {', '.join(each.plural for each in unread if unread[each] is why)}"
        for why in Unread
        if why in unread.values()
    )


def _quote_text(text: str) -> str:
    return f'"{text}"'
