"""The lease is renewed in a thread: however long the loop that works is held up, it is kept."""

import asyncio
import threading
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from support.live.lease_server import BRISK, LeaseServer, NotedLog, RenewalLine
from support.waiting import PATIENCE_S

from podium.client import KubeClient
from podium.live.leader_election import LeaderElection, LeadershipLost
from podium.live.leader_election_thread import LeaderElectionThread, MonotonicClock


class Candidate:
    def __init__(self, server: LeaseServer) -> None:
        self.line = RenewalLine(server)
        self.log = NotedLog()
        self.abandoned = threading.Event()
        self.election = LeaderElection(
            KubeClient(self.line),
            BRISK,
            "a",
            clock=MonotonicClock(),
            wall=lambda: 1_800_000_000.0 + MonotonicClock().now(),
            randomness=Random(1),
            log=self.log,
        )

    def lead(self, work: Callable[[], Any]) -> "asyncio.Task[None]":
        thread = LeaderElectionThread(
            self.election, close=self.line.close, abandon=self.abandoned.set, log=self.log
        )
        return asyncio.create_task(thread.lead(work))


def test_the_lease_is_renewed_while_the_loop_that_works_is_held_up() -> None:
    server = LeaseServer()
    seen: list[bool] = []

    async def main() -> None:
        candidate = Candidate(server)

        async def work() -> None:
            seen.append(candidate.line.renewed.wait(PATIENCE_S))  # nothing else runs here
            seen.append(candidate.election.is_leader)

        await candidate.lead(work)
        assert candidate.line.closed_in == "leader-election"

    asyncio.run(main())
    assert seen == [True, True]
    assert server.holder == ""


def test_the_lease_is_released_once_cancelled_work_has_ended() -> None:
    server = LeaseServer()
    holders: list[str] = []

    async def main() -> None:
        candidate, began = Candidate(server), asyncio.Event()

        async def work() -> None:
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                holders.append(server.holder)

        leading = candidate.lead(work)
        await asyncio.wait_for(began.wait(), PATIENCE_S)
        leading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leading

    asyncio.run(main())
    assert holders == ["a"]
    assert server.holder == ""


def test_work_is_cancelled_when_the_lease_is_lost() -> None:
    server = LeaseServer()
    ends: list[str] = []

    async def main() -> None:
        candidate = Candidate(server)

        async def work() -> None:
            candidate.line.cut()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                ends.append("cancelled")
                raise

        with pytest.raises(LeadershipLost):
            await candidate.lead(work)
        assert not candidate.abandoned.is_set()

    asyncio.run(main())
    assert ends == ["cancelled"]


def test_a_process_whose_work_does_not_end_is_abandoned_when_the_lease_is_lost() -> None:
    server = LeaseServer()

    async def main() -> None:
        candidate = Candidate(server)

        async def work() -> None:
            candidate.line.cut()
            assert candidate.abandoned.wait(PATIENCE_S)  # held up for as long as it takes

        with pytest.raises(LeadershipLost):
            await candidate.lead(work)
        assert "Leaderelection lost, and work does not end" in candidate.log.messages

    asyncio.run(main())


def test_what_work_ends_with_is_raised() -> None:
    async def main() -> None:
        async def work() -> None:
            raise ValueError("broken")

        with pytest.raises(ValueError, match="broken"):
            await Candidate(LeaseServer()).lead(work)

    asyncio.run(main())


def test_a_candidate_that_waits_can_be_stopped() -> None:
    async def main() -> None:
        server = LeaseServer()
        server.put(holderIdentity="b", leaseDurationSeconds=3600, renewTime="x", acquireTime="x")
        candidate = Candidate(server)
        leading = candidate.lead(asyncio.Event().wait)
        await asyncio.sleep(0)
        leading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leading

    asyncio.run(main())
