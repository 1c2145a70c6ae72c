"""Records of pods at every place of their way, and of the queue, are as their schemas say."""

import json
from typing import Any

from support.commands.document_schemas import load, require_valid
from support.scheduler.framework.fake_plugins import filter_by, permit

from podium.addons.collection.prometheus.plugins import PrometheusScore
from podium.golang.document_structs import Document
from podium.live.scheduler_records import DecisionRecords, SchedulerRecords
from podium.net.files.versioned_documents import encode_document
from podium.scheduler.framework.points import PermitResult
from podium.scheduler.framework.status import Code, Status
from podium.testing import FakeCluster, make_node
from podium.testing import make_pod as pending

WAIT = permit("Hold", PermitResult(Status(Code.WAIT), 60.0))
SMALL = make_node("n", allocatable={"cpu": "1", "pods": 9})


def records_of(driver: FakeCluster) -> SchedulerRecords:
    decisions = DecisionRecords(driver.engine.clock)
    driver.engine.observers.add(decisions)
    return SchedulerRecords(driver.engine, decisions)


def checked(kind: str, found: Document | None) -> Any:
    assert found is not None
    document = json.loads(encode_document(found))
    assert document["kind"] == kind
    require_valid(document)
    return document


def place(records: SchedulerRecords, name: str = "p") -> str:
    """Where a pod is, by its record and by the queue's."""
    queue = checked("QueueRecord", records.queue())
    found: str = checked("PodRecord", records.pod("default", name))["place"]
    if found in queue["sizes"]:
        assert [each["pod"] for each in queue[found]] == [f"default/{name}"]
    assert sum(queue["sizes"].values()) == (found in queue["sizes"])
    return found


def test_a_pod_is_followed_from_the_queue_to_its_node_and_away() -> None:
    driver = FakeCluster(SMALL, pending("p"))
    records = records_of(driver)
    places = [place(records)]
    driver.run()
    places.append(place(records))
    driver.bound("p")
    places.append(place(records))
    driver.delete("p")
    places.append(place(records))
    assert places == ["active", "binding", "bound", "gone"]


def test_a_pod_that_does_not_fit_waits_for_an_event_and_then_backs_off() -> None:
    driver = FakeCluster(SMALL, pending("p", requests={"cpu": "2"}))
    records = records_of(driver)
    driver.run()
    places = [place(records)]
    driver.put(make_node("larger", allocatable={"cpu": "2", "pods": 9}))
    assert [*places, place(records)] == ["unschedulable", "backoff"]


def test_a_pod_that_is_held_back_says_so() -> None:
    driver = FakeCluster(SMALL, pending("p", schedulingGates=[{"name": "g"}]))
    assert place(records_of(driver)) == "gated"


def test_a_pod_waits_for_permit_plugins() -> None:
    driver = FakeCluster(SMALL, pending("p"), plugins=[WAIT])
    records = records_of(driver)
    driver.run()
    assert place(records) == "waiting"


def test_an_attempt_that_broke_is_recorded_as_an_error() -> None:
    broken = filter_by("Broken", ValueError("boom"))
    driver = FakeCluster(SMALL, pending("p"), plugins=[broken])
    records = records_of(driver)
    driver.run()
    assert place(records) == "backoff"
    assert checked("PodRecord", records.pod("default", "p"))["decision"]["isError"]


def test_preemption_is_recorded_with_its_victims() -> None:
    weak = pending("weak", node="n", requests={"cpu": "1"})
    driver = FakeCluster(SMALL, weak, pending("p", requests={"cpu": "1"}, priority=9))
    records = records_of(driver)
    driver.attempt()
    decision = checked("PodRecord", records.pod("default", "p"))["decision"]
    assert decision["details"]["evicts"] == ["default/weak"]
    assert decision["nominatedNode"] == "n"


def test_sources_tell_their_age_and_what_is_wrong_with_them() -> None:
    address = "http://127.0.0.1:9090"
    args = {"PrometheusScore": {"prometheusAddress": address, "query": "up"}}
    driver = FakeCluster(SMALL, plugins=[PrometheusScore], args=args)
    records, name = records_of(driver), f"PrometheusScore {address} up"
    driver.fail(name, "connection refused")

    def told() -> tuple[Any, ...]:
        (found,) = checked("SourceRecordList", records.sources())["sources"]
        assert found["name"] == name
        return found["ageSeconds"], found["stale"], found["problem"]

    assert told() == (None, True, "connection refused")
    driver.answer(name, {"n": 1.0})
    driver.clock.advance(20)
    assert told() == (20.0, False, None)
    driver.clock.advance(400)
    assert told() == (420.0, True, None)


def test_the_schema_knows_every_place() -> None:
    places = load("PodRecord.json")["properties"]["place"]["enum"]
    queue = load("QueueRecord.json")["$defs"]["QueuePartSizes"]["required"]
    assert {*queue} <= {*places}
