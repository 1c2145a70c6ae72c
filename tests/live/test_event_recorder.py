"""Telling events: what they look like, how many may wait, and how it ends."""

import asyncio
import logging
from math import inf

import pytest
from support.live.event_server import (
    BEGIN_S,
    DISCOVERY,
    EventServer,
    failed,
    make_recorder,
    pod_info,
    recording,
    running,
    scheduled,
)
from support.live.scripted_server import refusal
from support.live.virtual_loop import run_virtually, sleep_virtually

from podium.client import Unreachable
from podium.client.transport import Reply
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.scheduler.engine.requests import Event

PATH = "/apis/events.k8s.io/v1/namespaces/default/events"


def test_an_event_is_created_with_everything_that_upstream_says_of_it() -> None:
    async def scenario() -> None:
        server = EventServer()
        async with recording(server) as recorder:
            await sleep_virtually(0.5)
            recorder.record(scheduled(pod_info()))
            await recorder.flush(10)
        (sent,) = server.writes
        assert (sent.method, sent.path) == ("POST", PATH)
        assert sent.body == {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {
                "name": f"web-0.{(BEGIN_S * 1_000_000_000 + 500_000_000):x}",
                "namespace": "default",
            },
            "eventTime": "2027-01-15T08:00:00.500000Z",
            "reportingController": "gold",
            "reportingInstance": "gold-tower",
            "action": "Binding",
            "reason": "Scheduled",
            "regarding": {
                "apiVersion": "v1",
                "kind": "Pod",
                "namespace": "default",
                "name": "web-0",
                "uid": "uid-default-web-0",
                "resourceVersion": "7",
            },
            "note": "Successfully assigned default/web-0 to n1",
            "type": "Normal",
        }

    run_virtually(scenario())


def test_a_victims_event_names_the_preemptor_and_is_its_profiles() -> None:
    async def scenario() -> None:
        server = EventServer()
        victim = pod_info("victim", scheduler="somebody-elses")
        preemptor = pod_info("urgent", version=9)
        async with recording(server) as recorder:
            recorder.record(Event(victim, "Normal", "Preempted", "Preempting", "note", preemptor))
            await recorder.flush(10)
        (sent,) = server.writes
        assert sent.body["regarding"]["name"] == "victim"
        assert sent.body["related"] == {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": "default",
            "name": "urgent",
            "uid": "uid-default-urgent",
            "resourceVersion": "9",
        }
        assert sent.body["reportingController"] == "gold"

    run_virtually(scenario())


def test_a_pod_group_can_be_the_preemptor() -> None:
    async def scenario() -> None:
        server = EventServer()
        group = PodGroup(metadata=ObjectMeta(name="gang", namespace="default", uid="u"))
        async with recording(server) as recorder:
            recorder.record(Event(pod_info(), "Normal", "Preempted", "Preempting", "note", group))
            await recorder.flush(10)
        related = server.writes[0].body["related"]
        assert (related["kind"], related["apiVersion"]) == (
            "PodGroup",
            "scheduling.k8s.io/v1alpha2",
        )

    run_virtually(scenario())


def test_what_a_plugin_tells_is_a_normal_event_of_at_most_1024_bytes() -> None:
    async def scenario() -> None:
        server = EventServer()
        async with recording(server) as recorder:
            recorder.tell(pod_info(), "BindingConditionsPending", "Scheduling", "x" * 2000)
            await recorder.flush(10)
        body = server.writes[0].body
        assert (body["type"], body["reason"]) == ("Normal", "BindingConditionsPending")
        assert len(body["note"]) == 1024

    run_virtually(scenario())


def test_events_of_one_moment_have_names_of_their_own() -> None:
    async def scenario() -> None:
        server = EventServer()
        async with recording(server) as recorder:
            recorder.record(failed(pod_info()))
            recorder.record(scheduled(pod_info()))
            await recorder.flush(10)
        assert len(server.stored) == 2

    run_virtually(scenario())


def test_a_pod_whose_name_leaves_no_room_gets_an_event_of_another_name() -> None:
    async def scenario() -> None:
        server = EventServer()
        async with recording(server) as recorder:
            recorder.record(scheduled(pod_info("x" * 250)))
            await recorder.flush(10)
        assert len(server.writes[0].body["metadata"]["name"]) == 36

    run_virtually(scenario())


def test_the_server_is_asked_once_which_form_it_has() -> None:
    async def scenario() -> None:
        server = EventServer()
        async with recording(server) as recorder:
            await recorder.flush(10)
            recorder.record(scheduled(pod_info()))
            await recorder.flush(10)
        await recorder.flush(10)
        assert [sent.path for sent in server.sent].count(DISCOVERY) == 1

    run_virtually(scenario())


@pytest.mark.parametrize(
    "trouble", [refusal(404, "NotFound"), refusal(403, "Forbidden"), Unreachable("nobody there")]
)
def test_whatever_keeps_the_question_from_a_yes_means_core_events_for_life(
    trouble: Reply | Unreachable,
) -> None:
    async def scenario() -> None:
        server = EventServer()
        server.trouble = lambda request: trouble if request.path == DISCOVERY else None
        async with recording(server) as recorder:
            await sleep_virtually(1)
            server.trouble = lambda _: None
            recorder.record(scheduled(pod_info()))
            await recorder.flush(10)
        assert server.writes[0].path == "/api/v1/namespaces/default/events"

    run_virtually(scenario())


# --- the queue --------------------------------------------------------------------------------


def test_more_events_than_a_thousand_are_dropped_and_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> None:
        server = EventServer()
        recorder = make_recorder(server)
        pods = [pod_info(f"pod-{number}") for number in range(1010)]
        for pod in pods:
            recorder.record(scheduled(pod))
        assert (recorder.counts.recorded, recorder.counts.dropped) == (1000, 10)
        async with running(recorder):
            await recorder.flush(600)
        assert recorder.counts.written == len(server.stored) == 1000

    with caplog.at_level(logging.ERROR):
        run_virtually(scenario())
    assert [record.getMessage() for record in caplog.records] == [
        "Unable to record event: too many queued events, dropped event:"
        " Scheduled of default/pod-1000"
    ]


def test_a_server_that_stays_away_makes_no_more_than_a_thousand_events_wait() -> None:
    async def scenario() -> None:
        server = EventServer()
        async with recording(server) as recorder:
            await recorder.flush(1)
            server.trouble = lambda _: Unreachable("gone")
            for number in range(3000):
                recorder.record(scheduled(pod_info(f"pod-{number}")))
                await sleep_virtually(0.001)
            assert recorder.waiting == 1000
            assert recorder.counts.dropped == 2000

    run_virtually(scenario())


def test_events_that_are_only_counted_take_no_room_in_the_queue() -> None:
    async def scenario() -> None:
        server = EventServer()
        async with recording(server) as recorder:
            await recorder.flush(1)
            server.trouble = lambda _: Unreachable("gone")
            for _ in range(3000):
                recorder.record(failed(pod_info()))
                await sleep_virtually(0.001)
            assert recorder.waiting == 2
            assert (recorder.counts.dropped, recorder.counts.counted) == (0, 2998)

    run_virtually(scenario())


def test_an_event_of_no_sensible_time_does_not_stop_the_others() -> None:
    async def scenario() -> None:
        server = EventServer()
        recorder = make_recorder(server, wall=iter([inf, BEGIN_S]).__next__)
        async with running(recorder):
            recorder.record(scheduled(pod_info("odd")))
            recorder.record(scheduled(pod_info()))
            await recorder.flush(10)
        assert [body["regarding"]["name"] for body in server.stored.values()] == ["web-0"]
        assert recorder.counts.failed == 1

    run_virtually(scenario())


# --- the end ----------------------------------------------------------------------------------


def test_a_flush_ends_in_time_however_long_the_server_takes() -> None:
    async def scenario() -> None:
        server = EventServer()
        async with recording(server) as recorder:
            await recorder.flush(1)
            server.latency_s = 1000.0
            recorder.record(scheduled(pod_info()))
            begun = asyncio.get_running_loop().time()
            await recorder.flush(5)
            assert asyncio.get_running_loop().time() - begun == 5.0
            assert recorder.waiting == 1

    run_virtually(scenario())


def test_what_was_under_way_when_the_work_was_stopped_can_still_be_flushed() -> None:
    async def scenario() -> None:
        server = EventServer(latency_s=1.0)
        recorder = make_recorder(server)
        async with running(recorder):
            for number in range(40):
                recorder.record(scheduled(pod_info(f"pod-{number}")))
            await sleep_virtually(1.5)
        await recorder.flush(600)
        assert (len(server.stored), recorder.waiting) == (40, 0)

    run_virtually(scenario())


def test_events_told_before_the_work_began_are_written() -> None:
    async def scenario() -> None:
        server = EventServer()
        recorder = make_recorder(server)
        recorder.record(scheduled(pod_info()))
        await recorder.flush(10)
        assert len(server.stored) == 1

    run_virtually(scenario())


def test_a_flush_without_events_ends_at_once() -> None:
    async def scenario() -> None:
        async with recording(EventServer(latency_s=0.0)) as recorder:
            await recorder.flush(10)
            assert asyncio.get_running_loop().time() == 0.0

    run_virtually(scenario())
