"""What a scheduler keeps of its decisions, and tells of its queue."""

from types import SimpleNamespace
from typing import Any, cast

from msgspec import UNSET, to_builtins
from support.live.live_clusters import in_live_cluster, pod
from support.simulated.simulated_clusters import Cluster

from podium.client.resources import PODS
from podium.live.assembly import Assembly
from podium.live.scheduler_records import DecisionRecords
from podium.scheduler.engine.decision import Decision


def _decision(key: str, message: str = "", node: str | None = "n1", attempt: int = 1) -> Decision:
    fields: dict[str, Any] = {
        "pod": SimpleNamespace(key=key),
        "bound": node,
        "chosen": node,
        "message": message,
        "attempt": attempt,
        "profile": "default-scheduler",
        "is_error": False,
        "results": [],
        "feasible": [],
        "nominated_node": None,
        "diagnosis": None,
        "pre_filter": None,
    }
    return cast(Decision, SimpleNamespace(**fields))


def test_the_last_attempt_of_a_pod_counts() -> None:
    records = DecisionRecords(lambda: 5.0)
    records.pod_decided(_decision("ns/a", "no", None))
    records.pod_decided(_decision("ns/a", attempt=2))
    found = records.get("ns/a")
    assert found is not None
    assert (found.at, found.attempt, found.node, found.message) == (5.0, 2, "n1", "")
    assert len(records) == 1


def test_the_oldest_records_go_when_there_are_too_many_pods() -> None:
    records = DecisionRecords(lambda: 0.0, max_pods=3)
    for number in range(5):
        records.pod_decided(_decision(f"ns/{number}"))
    records.pod_decided(_decision("ns/2"))
    records.pod_decided(_decision("ns/5"))
    kept = [number for number in range(6) if records.get(f"ns/{number}")]
    assert kept == [2, 4, 5]


def test_long_messages_push_out_more_and_the_last_one_always_stays() -> None:
    records = DecisionRecords(lambda: 0.0, max_bytes=4000)
    for number in range(10):
        records.pod_decided(_decision(f"ns/{number}", "x" * 500, None))
    assert records.nbytes <= 4000
    assert len(records) == 3
    records.pod_decided(_decision("ns/huge", "x" * 10_000, None))
    assert len(records) == 1
    records.pod_decided(_decision("ns/small"))
    assert records.get("ns/huge") is None
    small = records.get("ns/small")
    assert small is not None
    assert records.nbytes == small.nbytes


def test_a_scheduler_tells_what_it_decided_and_what_waits() -> None:
    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await cluster.client.create(PODS, pod("small"), "default")
        await cluster.client.create(PODS, pod("giant", cpu="64"), "default")
        await cluster.client.create(
            PODS, pod("gated", schedulingGates=[{"name": "wait"}]), "default"
        )
        records = assembly.records

        async def settled() -> bool:
            sizes = records.queue().sizes
            small = records.pod("default", "small")
            return (
                small is not None
                and small.place == "bound"
                and (sizes.unschedulable, sizes.gated) == (1, 1)
            )

        await cluster.until(settled)
        _check_placed(to_builtins(records.pod("default", "small")))
        _check_giant(to_builtins(records.pod("default", "giant")))
        gated = records.pod("default", "gated")
        assert gated is not None
        assert (gated.place, gated.decision) == ("gated", None)
        assert gated.queue is not UNSET
        assert gated.queue.gated_by == "SchedulingGates"
        assert records.pod("default", "nobody") is None
        queue = records.queue()
        (entry,) = queue.unschedulable
        assert entry.pod == "default/giant"
        assert entry.rejected_by == ("NodeResourcesFit",)
        assert entry.message is not None
        assert entry.message.startswith("0/3 nodes are available")
        assert records.queue(0).unschedulable == ()

    in_live_cluster(scenario)


def _check_placed(document: Any) -> None:
    decision = document["decision"]
    assert decision["node"] == document["node"]
    assert (decision["examinedNodes"], decision["feasibleNodes"]) == (3, 3)
    top = decision["details"]["topNodes"]
    assert len(top) == 3
    assert top[0]["total"] == decision["details"]["score"]
    assert top[0]["total"] == sum(s["weighted"] for s in top[0]["scores"].values())
    assert [line["what"] for line in document["log"]] == ["queued", "tried", "bound"]


def _check_giant(document: Any) -> None:
    assert document["place"] == "unschedulable"
    assert document["queue"]["retriedAt"] > document["queue"]["since"]
    decision = document["decision"]
    assert decision["node"] is None
    assert decision["rejectedBy"] == {"NodeResourcesFit": 3}
    assert decision["details"]["reasons"] == {"Insufficient cpu": 3}
    assert decision["message"].startswith("0/3 nodes are available: 3 Insufficient cpu.")


def test_a_record_outlives_the_whole_decision() -> None:
    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        assembly.engine.state.pod_log._most_bytes = 1
        await cluster.client.create(PODS, pod("giant", cpu="64"), "default")
        await cluster.client.create(PODS, pod("small"), "default")

        async def tried() -> bool:
            found = assembly.records.pod("default", "small")
            return found is not None and found.decision is not None

        await cluster.until(tried)
        giant = assembly.records.pod("default", "giant")
        assert giant is not None
        assert giant.decision is not None
        assert giant.decision.details is None
        assert giant.decision.rejected_by == {"NodeResourcesFit": 3}

    in_live_cluster(scenario)
