"""Leases as they are read and written, and as a real API server has them."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.live.lease_server import BEGIN_S, SETTINGS, NotedLog, stopped
from support.live.virtual_loop import sleep_virtually
from support.simulated.simulated_clusters import Cluster, in_cluster

from podium.client import LoopClock
from podium.client.resources import EVENTS, LEASES
from podium.golang.errors import InputError
from podium.live.leader_candidate import LeaderElectionRecord, new_lease, read_lease
from podium.live.leader_election import LeaderElection

RECORD = LeaderElectionRecord(
    holder="a",
    duration_s=15,
    acquired="2027-01-15T08:00:00.000000Z",
    renewed="2027-01-15T08:00:02.000001Z",
    transitions=3,
)
FIELDS = {
    "holderIdentity": "a",
    "leaseDurationSeconds": 15,
    "acquireTime": "2027-01-15T08:00:00.000000Z",
    "renewTime": "2027-01-15T08:00:02.000001Z",
    "leaseTransitions": 3,
}

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
names = st.text(min_size=1).filter(lambda name: name not in FIELDS)


def test_a_new_lease_reads_as_it_was_written() -> None:
    body = new_lease("kube-system", "kube-scheduler", RECORD)
    assert json.loads(body)["spec"] == FIELDS
    lease = read_lease(body)
    assert lease.record == RECORD
    assert (lease.namespace, lease.name) == ("kube-system", "kube-scheduler")


@given(
    st.dictionaries(names, values),
    st.dictionaries(st.sampled_from(["labels", "managedFields", "x"]), values),
    st.dictionaries(st.sampled_from(["kind", "status", "y"]), values),
)
def test_whatever_else_a_lease_carries_goes_back_unchanged(
    spec: dict[str, Any], metadata: dict[str, Any], beside: dict[str, Any]
) -> None:
    written = {
        **beside,
        "metadata": {**metadata, "name": "n", "resourceVersion": "7"},
        "spec": {**spec, "holderIdentity": "b", "leaseTransitions": 2},
    }
    lease = read_lease(json.dumps(written).encode())
    assert lease.record == LeaderElectionRecord(holder="b", transitions=2)
    assert lease.resource_version == "7"
    assert json.loads(lease.encode_update(RECORD)) == {**written, "spec": {**spec, **FIELDS}}


@pytest.mark.parametrize("spec", [{}, None, {"holderIdentity": None, "leaseDurationSeconds": None}])
def test_what_is_absent_or_null_is_nobodys_lease(spec: Any) -> None:
    lease = read_lease(json.dumps({"metadata": {}, "spec": spec}).encode())
    assert lease.record == LeaderElectionRecord()
    assert json.loads(lease.encode_update(RECORD))["spec"] == FIELDS


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"<html>",
        b"{}",
        b'{"metadata": {}, "spec": {"holderIdentity": 1}}',
        b'{"\xff": 1}',
    ],
)
def test_what_is_no_lease_is_refused(body: bytes) -> None:
    with pytest.raises(InputError, match="the answer is no Lease"):
        read_lease(body)


# --- against the embedded API server --------------------------------------------------------------


@contextlib.asynccontextmanager
async def standing(cluster: Cluster, *identities: str) -> AsyncIterator[list[LeaderElection]]:
    """Candidates that stand one after the other, a second apart."""

    async def work() -> None:
        await asyncio.get_running_loop().create_future()

    elections = []
    running = []
    for identity in identities:
        election = LeaderElection(
            cluster.client,
            SETTINGS,
            identity,
            clock=LoopClock(),
            wall=lambda: BEGIN_S + asyncio.get_running_loop().time(),
            randomness=Random(identity),
            log=NotedLog(),
        )
        elections.append(election)
        running.append(asyncio.create_task(election.lead(work)))
        await sleep_virtually(1)
    yield elections
    await stopped(*running)


def test_candidates_agree_through_the_embedded_api_server() -> None:
    async def scenario(cluster: Cluster) -> None:
        async def the_lease() -> Any:
            return await cluster.get(LEASES, "kube-scheduler", "kube-system")

        async with standing(cluster, "a", "b") as (a, b):
            assert (a.is_leader, b.is_leader) == (True, False)
            marks = {"metadata": {"labels": {"team": "x"}, "annotations": {"note": "y"}}}
            await cluster.patch(LEASES, "kube-scheduler", marks, "kube-system")
            await sleep_virtually(30)
            lease = await the_lease()
            assert a.is_leader
            assert a.slow_renewals == 1
            assert lease["metadata"]["labels"] == {"team": "x"}
            assert lease["metadata"]["annotations"] == {"note": "y"}
            assert lease["spec"]["holderIdentity"] == b.holder == "a"
            assert lease["spec"]["renewTime"].startswith("2027-01-15T08:00:")
            assert len(lease["spec"]["renewTime"]) == len("2027-01-15T08:00:00.000000Z")
            (told,) = await cluster.all(EVENTS)
            assert told["message"] == "a became leader"
            assert told["involvedObject"]["uid"] == lease["metadata"]["uid"]

            await cluster.client.delete(LEASES, "kube-scheduler", "kube-system")
            await cluster.until(lambda: cluster.exists(LEASES, "kube-scheduler", "kube-system"))
            await sleep_virtually(10)
            assert a.is_leader != b.is_leader
        lease = await the_lease()
        assert lease["spec"]["holderIdentity"] == ""
        assert lease["spec"]["leaseDurationSeconds"] == 1

    in_cluster(scenario, nodes=0, controllers=())
