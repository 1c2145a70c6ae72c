"""A pod group hears of its attempts in order, however slow single writes are."""

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec
from support.live.virtual_loop import run_virtually, sleep_virtually

from podium.client import KubeClient, Unreachable
from podium.client.transport import Reply, Request, Stream
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.pod_groups import PodGroup, PodGroupCondition
from podium.live.pod_writes import PodGroupWrites
from podium.scheduler.engine.requests import PatchPodGroupStatus

GROUP = PodGroup(metadata=ObjectMeta(name="train", namespace="default", uid="g"))


class SlowAtFirst:
    """A server that takes its time for the first writes, and keeps those that came through."""

    def __init__(self, *delays_s: float, failures: int = 0) -> None:
        self._delays = list(delays_s)
        self._failures = failures
        self.stored: list[str] = []

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        await sleep_virtually(min(self._delays.pop(0) if self._delays else 0.0, timeout_s))
        if self._failures:
            self._failures -= 1
            raise Unreachable("no", refused=False)
        assert request.body is not None
        written: dict[str, Any] = msgspec.json.decode(request.body)
        self.stored += [each["reason"] for each in written["status"]["conditions"]]
        return Reply(200, {}, b"{}")

    def stream(self, request: Request, *, timeout_s: float) -> AbstractAsyncContextManager[Stream]:
        raise AssertionError(f"nobody watches: {request}, {timeout_s}")

    async def close(self) -> None:
        pass


def condition(reason: str) -> PodGroupCondition:
    status = "True" if reason == "Scheduled" else "False"
    return PodGroupCondition(type="PodGroupScheduled", status=status, reason=reason)


def told(server: SlowAtFirst, *reasons: str) -> list[str]:
    """What is stored after attempts have asked for writes, one right after the other."""

    async def main() -> None:
        writes = PodGroupWrites(KubeClient(server), lambda: 1_800_000_000.0)
        requests = [PatchPodGroupStatus(GROUP, condition(reason)) for reason in reasons]
        await asyncio.gather(*map(writes.tell, requests))

    run_virtually(main())
    return server.stored


def test_a_slow_write_does_not_overtake_the_next_one() -> None:
    assert told(SlowAtFirst(5.0), "Unschedulable", "Scheduled") == ["Unschedulable", "Scheduled"]


def test_a_group_that_was_scheduled_stays_so_although_the_watch_has_not_shown_it() -> None:
    server = SlowAtFirst(1.0, 1.0)
    assert told(server, "Unschedulable", "Scheduled", "Unschedulable", "Scheduled") == [
        "Unschedulable",
        "Scheduled",
    ]


def test_what_did_not_get_through_is_not_taken_for_written() -> None:
    server = SlowAtFirst(failures=1)
    assert told(server, "Unschedulable", "Unschedulable") == ["Unschedulable"]
