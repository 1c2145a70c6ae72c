"""Never two leaders: candidates whose clocks, lines and lives are as bad as they can be.

Three candidates share a lease. Their clocks began at different times and differ in speed by up to
two percent, their wall clocks jump, requests and answers are late or lost or refused, and processes
are stopped or killed and come back. Whatever happens, nobody begins to work while another works or
may work; and once nothing goes wrong any more, somebody leads.
"""

import asyncio
import os
from dataclasses import dataclass
from random import Random

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.live.lease_server import SETTINGS, Elector, LeaseServer, SkewedClock, Way, stopped
from support.live.scripted_server import refusal
from support.live.virtual_loop import run_virtually, sleep_virtually

from podium.client.transport import Request
from podium.golang.durations import Duration
from podium.live.leader_election import LeadershipLost
from podium.scheduler.config.types import LeaderElectionConfiguration

LONG = bool(os.environ.get("PODIUM_LONG"))
NAMES = "abc"
LEADER = len(NAMES)
"""Stands for whoever leads at the time."""
BAD_LINES = ("cut", "deaf", "refused", "failing", "slow", "very slow", "unsteady")
TURNS = ("stop", "kill", "wall jumps", "label")


@dataclass(frozen=True)
class Step:
    """After a pause something happens to a candidate; a line is bad for some time."""

    pause_s: float
    candidate: int
    kind: str
    length_s: float
    seed: int


tenths = st.integers(0, 200).map(lambda tenth: tenth / 10)
steps = st.builds(
    Step,
    tenths,
    st.sampled_from([*range(len(NAMES)), LEADER, LEADER]),
    st.sampled_from([*BAD_LINES, *BAD_LINES, *TURNS]),
    st.integers(10, 400).map(lambda tenth: tenth / 10),
    st.integers(0, 999),
)


def _times(lease_s: int, renew_s: float, retry_s: float) -> LeaderElectionConfiguration:
    return replace(
        SETTINGS,
        lease_duration=Duration.of_seconds(lease_s),
        renew_deadline=Duration(int(renew_s * 1e9)),
        retry_period=Duration(int(retry_s * 1e9)),
    )


election_times = st.sampled_from(
    [
        SETTINGS,
        _times(15, 14.9, 2),  # a deadline that is almost the lease
        _times(4, 3.9, 0.5),  # not much longer than requests may take
        _times(30, 10, 5),
    ]
)


class Contest:
    """The candidates, and what must never happen."""

    def __init__(self, times: LeaderElectionConfiguration, randomness: Random) -> None:
        self.server = LeaseServer()
        self.electors = [
            Elector(
                self.server,
                name,
                settings=times,
                clock=SkewedClock(1e6 * randomness.random(), randomness.uniform(0.98, 1.02)),
            )
            for name in NAMES
        ]
        self.running: dict[Elector, asyncio.Task[None]] = {}
        self.begun = 0
        self.lost = 0
        self.problems: list[str] = []
        for elector in self.electors:
            elector.on_begin = lambda elector=elector: self._began(elector)  # type: ignore[misc]
            self.start(elector)

    def start(self, elector: Elector) -> None:
        elector.line.way = _good
        self.running[elector] = asyncio.create_task(self._live(elector))

    async def restart(self, elector: Elector) -> None:
        await stopped(self.running[elector])
        await sleep_virtually(1)
        self.start(elector)

    async def _live(self, elector: Elector) -> None:
        """As under a kubelet: who has lost comes back."""
        while True:
            try:
                await elector.election.lead(elector.work)
            except LeadershipLost:
                self.lost += 1
                await sleep_virtually(1)

    def _began(self, beginner: Elector) -> None:
        self.begun += 1
        for other in self.electors:
            if other is not beginner and (other.works() or other.leads()):
                now = asyncio.get_running_loop().time()
                pair = f"{beginner.election.identity} and {other.election.identity}"
                self.problems.append(f"{pair} at {now:.2f} s")

    async def take(self, step: Step) -> None:
        await sleep_virtually(step.pause_s)
        elector = self.electors[step.candidate % len(NAMES)]
        if step.candidate == LEADER:
            elector = next((each for each in self.electors if each.works()), elector)
        match step.kind:
            case "stop":
                await self.restart(elector)
            case "kill":
                # Nothing is released.
                elector.line.way = lambda _: Way(is_refused=True)
                await self.restart(elector)
            case "wall jumps":
                elector.wall_offset_s += step.length_s * (step.seed - 500)
            case "label":
                if self.server.lease is not None:
                    self.server.put({"touched": str(step.seed)})
            case _:
                elector.line.way = _bad(step)


def _good(_: Request) -> Way:
    return Way(there_s=0.01, back_s=0.01)


def _bad(step: Step) -> "Spell":
    return Spell(step.kind, asyncio.get_running_loop().time() + step.length_s, Random(step.seed))


class Spell:
    """A line that is bad in one way until some time."""

    def __init__(self, kind: str, end_s: float, randomness: Random) -> None:
        self._kind = kind
        self._end_s = end_s
        self._randomness = randomness

    def __call__(self, request: Request) -> Way:
        if asyncio.get_running_loop().time() > self._end_s:
            return _good(request)
        kind = self._kind
        if kind == "unsteady":
            kind = self._randomness.choice(("cut", "deaf", "slow", "very slow", "good"))
        return self._way(kind, request)

    def _way(self, kind: str, request: Request) -> Way:
        some, more = self._randomness.random(), self._randomness.random()
        match kind:
            case "cut":
                return Way(arrives=False)
            case "deaf":
                return Way(there_s=some, is_answered=False)
            case "refused":
                return Way(is_refused=True)
            case "failing":
                return Way(instead=refusal(500, "InternalError"))
            case "slow":
                return Way(there_s=some, back_s=4 * more)
            case "very slow":
                return Way(there_s=15 * some, back_s=6 * more)
            case _:
                return _good(request)


def contend(times: LeaderElectionConfiguration, seed: int, script: list[Step]) -> None:
    """Let candidates live through a script; never two of them work, and at the end one does."""

    async def main() -> None:
        contest = Contest(times, Random(seed))
        for step in script:
            await contest.take(step)
        # Bad lines get well, what was in flight arrives, an abandoned lease runs out.
        await sleep_virtually(40 + 20 + times.lease_duration.seconds + 20)
        at_work = [elector for elector in contest.electors if elector.works()]
        assert [elector.election.identity for elector in at_work] == [contest.server.holder]
        assert at_work[0].leads()
        await stopped(*contest.running.values())
        event(f"lost: {min(contest.lost, 3)}")
        assert contest.problems == []

    run_virtually(main())


many = settings(
    max_examples=3000 if LONG else 60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
few = settings(many, max_examples=8)
contests = given(election_times, st.integers(0, 999), st.lists(steps, min_size=3, max_size=15))


@few
@contests
def test_at_no_time_do_two_work(
    times: LeaderElectionConfiguration, seed: int, script: list[Step]
) -> None:
    contend(times, seed, script)


@pytest.mark.slow
@many
@contests
def test_at_no_time_do_two_work_in_many_contests(
    times: LeaderElectionConfiguration, seed: int, script: list[Step]
) -> None:
    contend(times, seed, script)
