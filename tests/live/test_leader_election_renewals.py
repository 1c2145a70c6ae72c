"""For how long a leader leads: renewals, bad lines, and a process that is held up."""

import asyncio
from typing import Any

import pytest
from support.live.lease_server import Elector, LeaseServer, Way, play, stopped
from support.live.scripted_server import refusal, reply
from support.live.virtual_loop import run_virtually, sleep_virtually

from podium.live.leader_election import LeadershipLost


def test_a_leader_renews_with_one_request_every_retry_period() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        running = a.start()
        await sleep_virtually(101)
        assert a.line.methods == ["GET", "POST"] + ["PUT"] * 50
        assert server.spec == {
            "holderIdentity": "a",
            "leaseDurationSeconds": 15,
            "acquireTime": "2027-01-15T08:00:00.000000Z",
            "renewTime": "2027-01-15T08:01:40.000000Z",
            "leaseTransitions": 0,
        }
        assert a.election.slow_renewals == 0
        await stopped(running)

    play(scenario)


def test_what_others_write_into_the_lease_is_kept() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        running = a.start()
        await sleep_virtually(1)
        server.put({"team": "x"}, strategy="OldestEmulationVersion", later={"deep": [1, None]})
        await sleep_virtually(60)
        assert a.works()
        assert server.lease is not None
        assert server.lease["metadata"]["labels"] == {"team": "x"}
        assert server.spec["strategy"] == "OldestEmulationVersion"
        assert server.spec["later"] == {"deep": [1, None]}
        # The change was noticed by a conflict, and cost one look.
        assert a.line.methods[2:6] == ["PUT", "GET", "PUT", "PUT"]
        assert a.election.slow_renewals == 1
        assert server.spec["leaseTransitions"] == 0
        await stopped(running)

    play(scenario)


def test_a_leader_outlasts_a_server_that_is_away_for_less_than_the_renew_deadline() -> None:
    async def scenario(server: LeaseServer, a: Elector, b: Elector) -> None:
        running = [a.start(), b.start()]
        await sleep_virtually(3)
        a.line.way = b.line.way = lambda _: Way(is_refused=True)
        await sleep_virtually(8.5)
        assert a.works()
        assert a.election.trouble == "connection refused"
        a.line.mend()
        b.line.mend()
        await sleep_virtually(60)
        assert a.works()
        assert not a.worked
        assert a.election.trouble == ""
        await stopped(*running)

    play(scenario)


def test_a_leader_that_cannot_renew_stops_before_another_begins() -> None:
    async def scenario(server: LeaseServer, a: Elector, b: Elector) -> None:
        first = a.start()
        await sleep_virtually(1)
        second = b.start()
        await sleep_virtually(10)
        a.line.cut()
        with pytest.raises(LeadershipLost, match="kube-system/kube-scheduler: not renewed in time"):
            await first
        assert "Failed to renew lease" in a.log.messages
        assert a.log.messages[-1] == "Failed to release lease"
        assert not a.leads()
        await sleep_virtually(20)
        (_, end), begin = a.worked[0], b.began_at
        # The last renewal was at 10 s: one pause of 2 s and the deadline of 10 s later it was over.
        assert end == pytest.approx(22, abs=0.01)
        assert begin is not None
        assert begin >= 25
        assert server.spec["leaseTransitions"] == 1
        await stopped(second)

    play(scenario)


def test_work_is_cancelled_before_anything_else_when_the_lease_is_lost() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        requests_at_end: list[int] = []

        async def work() -> None:
            try:
                await sleep_virtually(1000)
            finally:
                requests_at_end.append(len(a.line.requests))
                assert not a.leads()

        running = a.start(work)
        await sleep_virtually(1)
        a.line.cut()
        with pytest.raises(LeadershipLost):
            await running
        assert a.line.methods[requests_at_end[0] - 1 :] == ["GET"]

    play(scenario)


def test_a_renewal_counts_from_when_it_was_sent() -> None:
    async def scenario(server: LeaseServer, a: Elector, b: Elector) -> None:
        first, second = a.start(), b.start()
        await sleep_virtually(1)
        # Sent and taken at 2 s, answered at 6.9 s, and nothing goes through after that.
        a.line.way = lambda _: Way(back_s=4.9)
        await sleep_virtually(5)
        a.line.cut()
        with pytest.raises(LeadershipLost):
            await first
        await sleep_virtually(20)
        assert a.worked[0][1] == pytest.approx(2 + 0.95 * 15, abs=0.01)
        assert b.began_at is not None
        assert b.began_at >= 17
        await stopped(second)

    play(scenario)


def test_slow_answers_are_good_enough() -> None:
    async def scenario(server: LeaseServer, a: Elector, b: Elector) -> None:
        running = [a.start(), b.start()]
        await sleep_virtually(1)
        a.line.way = b.line.way = lambda _: Way(there_s=2, back_s=2.5)
        await sleep_virtually(300)
        assert a.works()
        assert not a.worked
        await stopped(*running)

    play(scenario)


def test_a_renewal_whose_answer_is_lost_is_found_again() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        running = a.start()
        await sleep_virtually(1)
        ways = iter([Way(is_answered=False)])
        a.line.way = lambda _: next(ways, Way())
        await sleep_virtually(60)
        assert a.works()
        assert not a.worked
        assert a.line.methods[2:6] == ["PUT", "GET", "PUT", "PUT"]
        assert server.spec["leaseTransitions"] == 0
        await stopped(running)

    play(scenario)


@pytest.mark.parametrize("clock_stands_still", [False, True])
def test_no_two_writes_look_the_same(clock_stands_still: bool) -> None:
    """To a standby the second of two that do would be no renewal, to the leader it would be one."""

    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        if clock_stands_still:
            a.wall_rate = 0.0
        running = a.start()
        await sleep_virtually(1)
        # The server takes the optimistic write of an attempt, and the careful one after it.
        ways = iter([Way(is_answered=False)])
        a.line.way = lambda _: next(ways, Way())
        await sleep_virtually(60)
        times = [spec["renewTime"] for _, spec in server.history]
        assert len(times) == len(set(times)) > 25
        await stopped(running)

    play(scenario)


def test_a_server_that_asks_to_come_back_later_is_given_no_more_than_the_time_limit() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        running = a.start()
        await sleep_virtually(1)
        ways = iter([Way(instead=reply({}, 429, retry_after="60"))])
        a.line.way = lambda _: next(ways, Way())
        await sleep_virtually(7)
        assert a.line.methods[2:] == ["PUT", "GET", "PUT"]
        assert a.works()
        await stopped(running)

    play(scenario)


@pytest.mark.parametrize(
    "answer", [reply(b"<html>", 200), reply({"metadata": 1}), refusal(500, "InternalError")]
)
def test_answers_that_are_no_lease_are_failures(answer: Any) -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        a.line.way = lambda _: Way(instead=answer)
        running = a.start()
        await sleep_virtually(10)
        assert not a.works()
        assert a.log.messages[-1] == "Error retrieving lease lock"
        a.line.mend()
        await sleep_virtually(10)
        assert a.works()
        a.line.way = lambda _: Way(instead=answer)
        with pytest.raises(LeadershipLost):
            await running

    play(scenario)


# --- a process that is held up ------------------------------------------------------------------


class _Held:
    """A clock that can be moved on while no timer fires."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def now(self) -> float:
        return self.ahead_s + asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await sleep_virtually(seconds)


def test_a_leader_that_was_held_up_knows_at_once_that_it_may_not_lead() -> None:
    async def main() -> None:
        clock = _Held()
        elector = Elector(LeaseServer(), "a", clock=clock)
        running = elector.start()
        await sleep_virtually(1)
        assert elector.leads()
        clock.ahead_s = 11.5
        assert not elector.leads()
        await stopped(running)

    run_virtually(main())


def test_the_health_check_fails_when_a_leader_is_20_s_past_its_lease() -> None:
    async def main() -> None:
        clock = _Held()
        elector = Elector(LeaseServer(), "a", clock=clock)
        check = elector.election.check
        assert check() is None
        running = elector.start()
        await sleep_virtually(1)
        clock.ahead_s = 33.9
        assert check() is None
        clock.ahead_s = 34.1
        assert check() == "failed election to renew leadership on lease kube-scheduler"
        assert check(within_s=60) is None
        await stopped(running)
        assert check() is None

    run_virtually(main())


def test_a_standby_is_healthy_whatever_becomes_of_the_leader() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        server.put(holderIdentity="somebody", leaseDurationSeconds=1000)
        running = a.start()
        await sleep_virtually(500)
        assert a.election.check() is None
        await stopped(running)

    play(scenario)
