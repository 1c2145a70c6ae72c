"""Who may lead: how candidates get a lease, and what people do to it meanwhile."""

import asyncio
import itertools
from uuid import UUID

import pytest
from msgspec.structs import replace
from support.live.lease_server import LEASE, SETTINGS, Elector, LeaseServer, Way, play, stopped
from support.live.virtual_loop import run_virtually, sleep_virtually

from podium.golang.durations import Duration
from podium.live.leader_election import LeadershipLost, new_identity


def test_the_first_candidate_creates_the_lease_and_works() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        running = a.start()
        await sleep_virtually(1)
        assert a.works()
        assert a.leads()
        assert a.election.holder == "a"
        assert a.line.methods == ["GET", "POST"]
        assert server.lease == {
            "kind": "Lease",
            "apiVersion": "coordination.k8s.io/v1",
            "metadata": {
                "name": "kube-scheduler",
                "namespace": "kube-system",
                "uid": "u1",
                "resourceVersion": "1",
            },
            "spec": {
                "holderIdentity": "a",
                "leaseDurationSeconds": 15,
                "acquireTime": "2027-01-15T08:00:00.000000Z",
                "renewTime": "2027-01-15T08:00:00.000000Z",
                "leaseTransitions": 0,
            },
        }
        where = {"lock": "kube-system/kube-scheduler"}
        assert a.log.lines == [
            ("Attempting to acquire leader lease...", where),
            ("Successfully acquired lease", where),
        ]
        await stopped(running)

    play(scenario)


def test_requests_tell_the_server_half_the_renew_deadline_as_their_time() -> None:
    async def times(renew_deadline: Duration) -> set[str]:
        server = LeaseServer()
        elector = Elector(server, "a", settings=replace(SETTINGS, renew_deadline=renew_deadline))
        await stopped(elector.start())
        running = elector.start()
        await sleep_virtually(3)
        await stopped(running)
        return {dict(request.query)["timeout"] for _, request in elector.line.requests}

    assert run_virtually(times(Duration.of_seconds(10))) == {"5s"}
    assert run_virtually(times(Duration.parse("7s"))) == {"3.5s"}
    assert run_virtually(times(Duration.parse("1500ms"))) == {"1s"}


def test_becoming_leader_is_told_in_an_event_about_the_lease() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        running = a.start()
        await sleep_virtually(1)
        (event,) = server.events
        assert event.pop("metadata")["name"].startswith("kube-scheduler.18fa")
        assert event == {
            "kind": "Event",
            "apiVersion": "v1",
            "involvedObject": {
                "kind": "Lease",
                "apiVersion": "coordination.k8s.io/v1",
                "namespace": "kube-system",
                "name": "kube-scheduler",
                "uid": "u1",
                "resourceVersion": "1",
            },
            "type": "Normal",
            "reason": "LeaderElection",
            "message": "a became leader",
            "source": {"component": "shop-scheduler"},
            "reportingComponent": "shop-scheduler",
            "firstTimestamp": "2027-01-15T08:00:00Z",
            "lastTimestamp": "2027-01-15T08:00:00Z",
            "count": 1,
        }
        await stopped(running)

    play(scenario, component="shop-scheduler")


def test_an_event_that_cannot_be_written_does_no_harm() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        server.refuses_events = True
        running = a.start()
        await sleep_virtually(60)
        assert a.works()
        await stopped(running)

    play(scenario)


def test_a_lease_without_a_holder_is_taken_at_once() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        server.put(holderIdentity="", leaseDurationSeconds=1, leaseTransitions=4)
        running = a.start()
        await asyncio.sleep(0)
        await sleep_virtually(0.001)
        assert a.works()
        assert server.spec["leaseTransitions"] == 5
        await stopped(running)

    play(scenario)


def test_a_lease_without_a_spec_is_taken_at_once() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        server.put(holderIdentity=None, leaseTransitions=None)
        running = a.start()
        await sleep_virtually(1)
        assert (server.holder, server.spec["leaseTransitions"]) == ("a", 1)
        await stopped(running)

    play(scenario)


@pytest.mark.parametrize("renewed", ["1999-01-01T00:00:00.000000Z", "2099-01-01T00:00:00.000000Z"])
def test_a_lease_counts_from_when_it_was_seen_whatever_times_are_in_it(renewed: str) -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        server.put(holderIdentity="gone", leaseDurationSeconds=15, renewTime=renewed)
        running = a.start()
        await sleep_virtually(14.9)
        assert not a.works()
        await sleep_virtually(2 * 2.2 + 0.2)
        assert a.works()
        await stopped(running)

    play(scenario)


def test_it_is_the_duration_in_the_record_that_counts() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        server.put(holderIdentity="gone", leaseDurationSeconds=40)
        running = a.start()
        await sleep_virtually(39.9)
        assert not a.works()
        await sleep_virtually(4.6)
        assert a.works()
        assert server.spec["leaseDurationSeconds"] == 15
        await stopped(running)

    play(scenario)


def test_a_standby_looks_every_retry_period_stretched_by_up_to_120_percent() -> None:
    async def scenario(server: LeaseServer, a: Elector, b: Elector) -> None:
        running = [a.start()]
        await sleep_virtually(1)
        running.append(b.start())
        await sleep_virtually(600)
        times = [at for at, _ in b.line.requests]
        pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
        assert 2 <= min(pauses) < 2.2
        assert 4.2 < max(pauses) <= 4.4
        assert set(b.line.methods) == {"GET"}
        assert b.election.holder == "a"
        assert not b.leads()
        await stopped(*running)

    play(scenario)


def test_whoever_wants_to_know_hears_of_new_leaders_and_of_leading() -> None:
    heard: list[str] = []

    async def scenario(server: LeaseServer, a: Elector, b: Elector) -> None:
        first = b.start()
        await sleep_virtually(1)
        second = a.start()
        await sleep_virtually(10)
        await stopped(first)
        await sleep_virtually(10)
        assert heard == ["new: b", "new: a", "leading"]
        await stopped(second)

    play(
        scenario,
        on_leading=lambda: heard.append("leading"),
        on_new_leader=lambda identity: heard.append(f"new: {identity}"),
    )


def test_two_candidates_on_one_host_have_different_identities() -> None:
    unique = UUID("12345678-1234-4678-9234-567812345678")
    assert new_identity("host-1", unique) == "host-1_12345678-1234-4678-9234-567812345678"


def test_the_path_is_that_of_the_lease() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        running = a.start()
        await sleep_virtually(3)
        paths = [(r.method, r.path) for _, r in a.line.requests if "leases" in r.path]
        name = f"{LEASE}/kube-scheduler"
        assert paths == [("GET", name), ("POST", LEASE), ("PUT", name)]
        await stopped(running)

    play(scenario)


# --- what people do to a lease ------------------------------------------------------------------


def test_a_deleted_lease_is_made_again_by_its_leader() -> None:
    async def scenario(server: LeaseServer, a: Elector, _: Elector) -> None:
        running = a.start()
        await sleep_virtually(1)
        server.lease = None
        await sleep_virtually(60)
        assert a.works()
        assert not a.worked
        assert a.line.methods[2:6] == ["PUT", "GET", "POST", "PUT"]
        await stopped(running)

    play(scenario)


def test_a_leader_whose_lease_was_given_to_another_stops_at_its_next_renewal() -> None:
    async def scenario(server: LeaseServer, a: Elector, b: Elector) -> None:
        running = a.start()
        await sleep_virtually(1)
        server.put(holderIdentity="somebody")
        with pytest.raises(LeadershipLost, match="somebody holds it"):
            await running
        assert a.worked == [(0, 2)]
        assert server.holder == "somebody"

    play(scenario)


def test_a_leader_whose_name_was_taken_out_of_the_lease_puts_it_back() -> None:
    async def scenario(server: LeaseServer, a: Elector, b: Elector) -> None:
        running = a.start()
        await sleep_virtually(1)
        server.put(holderIdentity="")
        await sleep_virtually(2)
        assert a.works()
        assert (server.holder, server.spec["leaseTransitions"]) == ("a", 1)
        await stopped(running)

    play(scenario)


def test_of_two_that_create_the_lease_one_leads() -> None:
    async def scenario(server: LeaseServer, a: Elector, b: Elector) -> None:
        a.line.way = b.line.way = lambda _: Way(there_s=0.1, back_s=0.1)
        running = [a.start(), b.start()]
        await sleep_virtually(60)
        assert (a.works(), b.works()) == (True, False)
        assert "Error initially creating lease lock" in b.log.messages
        await stopped(*running)

    play(scenario)
