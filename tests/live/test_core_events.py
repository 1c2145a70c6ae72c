"""Events for servers that know the core group alone."""

from random import Random
from typing import Any

from support.live.event_server import BEGIN_S, EventServer, failed, pod_info, recording, scheduled
from support.live.virtual_loop import run_virtually, sleep_virtually

from podium.live.event_recorder import CoreEvents

HOUR_S = 3600.0


def bodies(events: CoreEvents, count: int, now: float = 0.0, *, same: bool = True) -> list[Any]:
    """What is written for so many events."""
    return [
        write
        for number in range(count)
        for write in events.take(
            failed(pod_info(), "again" if same else f"message {number}"), BEGIN_S + now, now
        )
    ]


def test_an_event_is_created_as_the_old_group_wants_it() -> None:
    async def scenario() -> None:
        server = EventServer(has_series=False)
        async with recording(server) as recorder:
            await sleep_virtually(0.5)
            recorder.record(scheduled(pod_info()))
            await recorder.flush(10)
        (sent,) = server.writes
        assert (sent.method, sent.path) == ("POST", "/api/v1/namespaces/default/events")
        assert sent.body == {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": f"web-0.{(BEGIN_S * 1_000_000_000 + 500_000_000):x}",
                "namespace": "default",
            },
            "involvedObject": {
                "apiVersion": "v1",
                "kind": "Pod",
                "namespace": "default",
                "name": "web-0",
                "uid": "uid-default-web-0",
                "resourceVersion": "7",
            },
            "reason": "Scheduled",
            "message": "Successfully assigned default/web-0 to n1",
            "source": {"component": "gold"},
            "firstTimestamp": "2027-01-15T08:00:00Z",
            "lastTimestamp": "2027-01-15T08:00:00Z",
            "count": 1,
            "type": "Normal",
            "reportingComponent": "gold",
        }

    run_virtually(scenario())


def test_the_same_event_again_raises_the_count_of_the_first_each_time() -> None:
    async def scenario() -> None:
        server = EventServer(has_series=False, latency_s=0.0)
        async with recording(server) as recorder:
            for version in range(3):
                recorder.record(failed(pod_info(version=version), "no room"))
                await recorder.flush(10)
                await sleep_virtually(5)
        assert server.methods == ["POST", "PATCH", "PATCH"]
        patch = server.writes[-1]
        assert patch.content_type == "application/strategic-merge-patch+json"
        assert patch.body == {
            "count": 3,
            "lastTimestamp": "2027-01-15T08:00:10Z",
            "message": "no room",
        }
        (stored,) = server.stored.values()
        assert (stored["count"], stored["firstTimestamp"]) == (3, "2027-01-15T08:00:00Z")

    run_virtually(scenario())


def test_an_event_that_has_expired_is_created_anew_with_its_count() -> None:
    async def scenario() -> None:
        server = EventServer(has_series=False)
        async with recording(server) as recorder:
            recorder.record(failed(pod_info()))
            await recorder.flush(10)
            server.expire()
            recorder.record(failed(pod_info()))
            await recorder.flush(10)
        assert server.methods == ["POST", "PATCH", "POST"]
        assert [body["count"] for body in server.stored.values()] == [2]

    run_virtually(scenario())


def test_events_that_differ_in_their_message_are_combined_from_the_tenth_on() -> None:
    writes = bodies(CoreEvents(Random(1)), 12, same=False)
    messages = [write.body.message for write in writes]
    assert messages[8] == "message 8"
    assert messages[9] == "(combined from similar events): message 9"
    assert messages[11] == "(combined from similar events): message 11"
    assert [write.patch is not None for write in writes] == [False] * 10 + [True] * 2
    assert [write.body.count for write in writes[9:]] == [1, 2, 3]
    assert writes[9].body.metadata == writes[11].body.metadata


def test_ten_quiet_minutes_end_the_combining() -> None:
    events = CoreEvents(Random(1))
    bodies(events, 12, same=False)
    (write,) = bodies(events, 1, 601.0)
    assert write.body.message == "again"


def test_an_object_gets_25_events_at_once_and_one_every_five_minutes_after_that() -> None:
    events = CoreEvents(Random(1))
    assert len(bodies(events, 30)) == 25
    assert len(bodies(events, 5, 299.0)) == 0
    (write,) = bodies(events, 5, 300.0)
    assert write.body.count == 36
    assert len(bodies(events, 30, 300.0 + 3 * HOUR_S)) == 25


def test_the_limit_of_one_object_is_not_anothers() -> None:
    events = CoreEvents(Random(1))
    bodies(events, 30)
    assert len(events.take(failed(pod_info("web-1")), BEGIN_S, 0.0)) == 1


def test_what_is_remembered_is_bounded() -> None:
    events = CoreEvents(Random(1), most=5)
    for number in range(50):
        events.take(failed(pod_info(f"pod-{number}")), BEGIN_S, 0.0)
    assert len(events) == 5
