"""A recording of a cluster, from its first request to the last line of its file.

What may be read is found out first; a file is made only when there is something to record. SIGTERM
and SIGINT end the recording as it should end: with everything that was seen in the file.
"""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from podium import __version__
from podium.client import KubeClient, ResourceType
from podium.client.connection import transport_for
from podium.golang.errors import PodiumError
from podium.offline.traces.object_recording import resource_name
from podium.offline.traces.recorder import (
    ClusterRecorder,
    RecordingProgress,
    RecordingRights,
    describe_unread,
    find_rights,
)
from podium.offline.traces.trace_files import End, TraceFull, TraceWriter, make_header
from podium.scheduler.config.flags.client_settings import ClientSettings

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)

Reason = Literal["duration", "size", "signal"]


class RightsMissing(PodiumError):
    """Nodes or pods cannot be read; the text says what else cannot."""


@dataclass(frozen=True, slots=True)
class RecordingPlan:
    """What to record, and where to; `for_s` is None for as long as nobody ends it."""

    settings: ClientSettings
    resources: Sequence[ResourceType]
    target: Path
    max_bytes: int
    for_s: float | None = None
    replace: bool = False


@dataclass(frozen=True, slots=True)
class RecordingEnd:
    """How a recording ended; `is_complete` is false if it did before all that was there at the
    beginning was written."""

    reason: Reason
    size: int
    lines: int
    seconds: float
    is_complete: bool


async def run_recorder(
    plan: RecordingPlan,
    *,
    on_rights: Callable[[RecordingRights], None] = lambda _: None,
    on_progress: Callable[[RecordingProgress], None] = lambda _: None,
) -> RecordingEnd:
    """Raises RightsMissing, InputError for a file that cannot be made, TraceUnwritable for one that
    cannot be written any more, and what clients raise for a server that does not answer."""
    transport = transport_for(plan.settings, user_agent=f"podium/{__version__}")
    try:
        client = KubeClient(transport)
        rights = await find_rights(client, plan.resources)
        if rights.missing:
            raise RightsMissing(describe_unread(rights.unread))
        on_rights(rights)
        return await _record(client, plan, rights, on_progress)
    finally:
        await transport.close()


async def _record(
    client: KubeClient,
    plan: RecordingPlan,
    rights: RecordingRights,
    on_progress: Callable[[RecordingProgress], None],
) -> RecordingEnd:
    writer = TraceWriter(plan.target, plan.max_bytes, replace=plan.replace)
    recorder = ClusterRecorder(client, writer, rights.readable, on_progress=on_progress)
    end: End | None = None
    try:
        writer.write(
            make_header(
                datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                __version__,
                tuple(map(resource_name, rights.readable)),
                {resource_name(each): str(why) for each, why in rights.unread.items()},
            )
        )
        reason = await _run_until_ended(recorder, plan.for_s)
        end = End(recorder.now(), reason)
    finally:
        writer.close(end)
    return RecordingEnd(reason, writer.size, writer.lines, end.at, recorder.is_following)


async def _run_until_ended(recorder: ClusterRecorder, for_s: float | None) -> Reason:
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stopping.set)
    recording = asyncio.ensure_future(recorder.run(for_s))
    stopped = asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait({recording, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not recording.done():
            return "signal"
        try:
            await recording
        except TraceFull:
            return "size"
        return "duration"
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
        for task in (recording, stopped):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task
