"""Carrying events to the server: in which order, how many at a time, and with how much patience."""

from itertools import pairwise

import pytest
from support.live.event_server import EventServer, failed, pod_info, recording, scheduled
from support.live.scripted_server import refusal
from support.live.virtual_loop import run_virtually, sleep_virtually

from podium.client import Unreachable
from podium.client.transport import Reply, Request


def test_as_many_writes_are_under_way_at_a_time_as_there_are_connections() -> None:
    async def scenario() -> None:
        server = EventServer(latency_s=1.0)
        async with recording(server) as recorder:
            for number in range(256):
                recorder.record(scheduled(pod_info(f"pod-{number}")))
            await recorder.flush(600)
        assert server.most_at_once == 64
        assert server.writes[-1].at_s - server.writes[0].at_s == 3.0

    run_virtually(scenario())


def test_what_concerns_one_pod_is_written_in_order_and_one_at_a_time() -> None:
    async def scenario() -> None:
        server = EventServer(latency_s=1.0)
        async with recording(server) as recorder:
            recorder.record(failed(pod_info()))
            recorder.record(failed(pod_info()))
            recorder.record(scheduled(pod_info()))
            await recorder.flush(600)
        told = [(sent.method, sent.at_s, sent.body.get("reason")) for sent in server.writes]
        assert told == [
            ("POST", 1.0, "FailedScheduling"),
            ("PATCH", 2.0, None),
            ("POST", 3.0, "Scheduled"),
        ]

    run_virtually(scenario())


def test_a_pod_whose_event_is_stuck_does_not_hold_up_others() -> None:
    async def scenario() -> None:
        server = EventServer()
        stuck = pod_info("stuck")
        server.trouble = lambda request: (
            Unreachable("broke off") if b'"stuck"' in request.body else None
        )
        async with recording(server) as recorder:
            recorder.record(failed(stuck))
            recorder.record(scheduled(stuck))
            for number in range(100):
                recorder.record(scheduled(pod_info(f"pod-{number}")))
            await recorder.flush(5)
            assert (len(server.stored), recorder.waiting) == (100, 2)

    run_virtually(scenario())


# --- patience ---------------------------------------------------------------------------------


def test_an_event_is_tried_twelve_times_while_the_server_cannot_be_reached() -> None:
    async def scenario() -> None:
        server = EventServer()
        async with recording(server) as recorder:
            await recorder.flush(1)
            server.trouble = lambda _: Unreachable("gone")
            recorder.record(scheduled(pod_info()))
            await recorder.flush(600)
        times = [sent.at_s for sent in server.writes]
        pauses = [later - earlier - server.latency_s for earlier, later in pairwise(times)]
        assert len(times) == 12
        assert all(10.0 <= pause <= 12.5 for pause in pauses)
        assert len(set(pauses)) > 1
        assert (recorder.counts.failed, recorder.waiting) == (1, 0)

    run_virtually(scenario())


def test_an_event_is_written_once_the_server_is_back() -> None:
    async def scenario() -> None:
        server = EventServer()
        async with recording(server) as recorder:
            await recorder.flush(1)
            server.trouble = lambda _: Unreachable("gone")
            recorder.record(scheduled(pod_info()))
            await sleep_virtually(30)
            server.trouble = lambda _: None
            await recorder.flush(60)
        assert len(server.stored) == 1
        assert (recorder.counts.written, recorder.counts.failed) == (1, 0)

    run_virtually(scenario())


def test_an_event_that_got_there_though_its_answer_did_not_is_no_failure() -> None:
    async def scenario() -> None:
        server = EventServer()
        lost = [Unreachable("the answer broke off")]

        def trouble(request: Request) -> Unreachable | None:
            if request.method != "POST" or not lost:
                return None
            server._answer(request, server.writes[-1].body)
            return lost.pop()

        server.trouble = trouble
        async with recording(server) as recorder:
            recorder.record(scheduled(pod_info()))
            await recorder.flush(60)
        assert server.methods == ["POST", "POST"]
        assert (recorder.counts.written, recorder.counts.failed) == (1, 0)

    run_virtually(scenario())


@pytest.mark.parametrize(
    "answer", [refusal(403, "Forbidden"), refusal(422, "Invalid"), refusal(500, "InternalError")]
)
def test_what_the_server_refuses_is_not_tried_again(answer: Reply) -> None:
    async def scenario() -> None:
        server = EventServer()
        server.trouble = lambda request: answer if request.method == "POST" else None
        async with recording(server) as recorder:
            recorder.record(scheduled(pod_info()))
            await recorder.flush(600)
        assert server.methods == ["POST"]
        assert recorder.counts.failed == 1

    run_virtually(scenario())


def test_an_event_that_no_text_can_carry_does_not_stop_the_others() -> None:
    async def scenario() -> None:
        server = EventServer()
        async with recording(server) as recorder:
            recorder.record(failed(pod_info("odd"), note="half a character: \ud83d"))
            recorder.record(scheduled(pod_info()))
            await recorder.flush(10)
        assert [body["reason"] for body in server.stored.values()] == ["Scheduled"]
        assert recorder.counts.failed == 1

    run_virtually(scenario())
