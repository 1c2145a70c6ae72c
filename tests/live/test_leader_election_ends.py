"""How leading ends: work that is done, fails or is cancelled, and a lease that is given back."""

import asyncio
import json

import pytest
from support.live.lease_server import Elector, LeaseServer, Way, play, stopped
from support.live.virtual_loop import sleep_virtually

from podium.live.leader_election import LeadershipLost


def test_a_leader_that_is_stopped_releases_the_lease_and_a_standby_takes_it_soon() -> None:
    async def scenario(server: LeaseServer, a: Elector, b: Elector) -> None:
        first, second = a.start(), b.start()
        await sleep_virtually(7)
        (ended,) = await stopped(first)
        assert isinstance(ended, asyncio.CancelledError)
        assert a.worked == [(0, 7)]
        assert server.spec == {
            "holderIdentity": "",
            "leaseDurationSeconds": 1,
            "acquireTime": "2027-01-15T08:00:07.000000Z",
            "renewTime": "2027-01-15T08:00:07.000000Z",
            "leaseTransitions": 0,
        }
        assert a.election.holder == ""
        await sleep_virtually(4.4)
        assert b.works()
        assert server.spec["leaseTransitions"] == 1
        await stopped(second)

    play(scenario)


def test_a_lease_is_released_when_the_work_is_done() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        async def work() -> None:
            await sleep_virtually(5)

        await a.election.lead(work)
        assert asyncio.get_running_loop().time() == 5
        assert server.holder == ""

    play(scenario)


def test_a_lease_is_released_when_the_work_fails() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        async def work() -> None:
            raise LookupError("broken")

        with pytest.raises(LookupError, match="broken"):
            await a.election.lead(work)
        assert server.holder == ""

    play(scenario)


def test_a_failure_of_a_callback_ends_leading_and_releases_the_lease() -> None:
    def on_leading() -> None:
        raise LookupError("broken")

    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        with pytest.raises(LookupError, match="broken"):
            await a.election.lead(a.work)
        assert server.holder == ""
        assert not a.worked

    play(scenario, on_leading=on_leading)


def test_a_failure_in_the_renewals_is_not_swallowed() -> None:
    def on_new_leader(identity: str) -> None:
        if identity == "x":
            raise LookupError("broken")

    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        running = a.start()
        await sleep_virtually(1)
        server.put(holderIdentity="x")
        with pytest.raises(LookupError, match="broken"):
            await running
        assert a.worked == [(0, 2)]

    play(scenario, on_new_leader=on_new_leader)


def test_a_release_takes_two_requests_at_most_and_their_time() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        running = a.start()
        await sleep_virtually(1)
        a.line.cut()
        await stopped(running)
        assert asyncio.get_running_loop().time() == 6
        assert server.holder == "a"
        assert a.log.messages[-1] == "Failed to release lease"

    play(scenario)


def test_a_lease_that_is_gone_need_not_be_released() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        running = a.start()
        await sleep_virtually(1)
        server.lease = None
        await stopped(running)
        assert server.lease is None
        assert a.log.messages[-1] == "lease lock not found"

    play(scenario)


def test_a_lease_that_names_another_is_not_released() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        running = a.start()
        await sleep_virtually(1)
        server.put(holderIdentity="somebody")
        await stopped(running)
        assert server.holder == "somebody"
        assert a.line.methods[-1] == "GET"

    play(scenario)


def test_a_lease_that_was_just_written_is_released_though_no_answer_had_come() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        a.line.way = lambda request: Way(back_s=3 if request.method == "POST" else 0)
        running = a.start()
        await sleep_virtually(1)
        assert (server.holder, a.works()) == ("a", False)
        await stopped(running)
        assert server.holder == ""
        assert not a.worked

    play(scenario)


def test_a_standby_that_is_stopped_asks_nothing_more() -> None:
    async def scenario(server: LeaseServer, a: Elector, b: Elector) -> None:
        server.put(holderIdentity="somebody", leaseDurationSeconds=15)
        running = b.start()
        await sleep_virtually(1)
        await stopped(running)
        assert b.line.methods == ["GET"]

    play(scenario)


def test_while_cancelled_work_goes_on_the_lease_is_not_released() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        async def work() -> None:
            try:
                await sleep_virtually(1000)
            finally:
                await sleep_virtually(100)

        running = a.start(work)
        await sleep_virtually(1)
        await stopped(running)
        assert asyncio.get_running_loop().time() == 6
        assert server.holder == "a"
        assert "Work goes on though it was cancelled, and keeps the lease" in a.log.messages

    play(scenario)


def test_whoever_is_stopped_twice_waits_for_nothing() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        async def work() -> None:
            try:
                await sleep_virtually(1000)
            finally:
                await sleep_virtually(4)

        running = a.start(work)
        await sleep_virtually(1)
        running.cancel()
        await sleep_virtually(1)
        await stopped(running)
        assert asyncio.get_running_loop().time() == 2
        assert server.holder == "a"

    play(scenario)


def test_work_that_fails_when_it_is_cancelled_is_told_of() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        async def work() -> None:
            try:
                await sleep_virtually(1000)
            finally:
                raise LookupError("broken")

        running = a.start(work)
        await sleep_virtually(1)
        (ended,) = await stopped(running)
        assert isinstance(ended, asyncio.CancelledError)
        assert ("Work failed when it was cancelled", {"err": "broken"}) in a.log.lines
        assert server.holder == ""

    play(scenario)


def test_whoever_lost_the_lease_may_stand_again() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        running = a.start()
        await sleep_virtually(1)
        a.line.cut()
        with pytest.raises(LeadershipLost):
            await running
        a.line.mend()
        running = a.start()
        await sleep_virtually(1)
        assert a.works()
        assert json.loads(a.line.requests[-2][1].body)["spec"]["leaseTransitions"] == 0
        await stopped(running)

    play(scenario)
