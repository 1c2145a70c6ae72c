"""Events that repeat: what makes a series, and how long one lasts."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.live.event_server import BEGIN_S, EventServer, failed, pod_info, recording, scheduled
from support.live.scripted_server import refusal
from support.live.virtual_loop import run_virtually, sleep_virtually

from podium.client import Unreachable
from podium.live.event_recorder import EventRecorder, EventSeries
from podium.live.event_writing import SeriesPatch
from podium.scheduler.engine.requests import Event

MINUTE_S = 60.0


async def tell(recorder: EventRecorder, *events: Event) -> None:
    for event in events:
        recorder.record(event)
    await recorder.flush(10)


def test_the_second_event_makes_a_series_and_later_ones_only_count() -> None:
    async def scenario() -> None:
        server = EventServer(latency_s=0.0)
        async with recording(server) as recorder:
            await tell(recorder, failed(pod_info(), "first"))
            await sleep_virtually(10)
            await tell(recorder, failed(pod_info(), "the note does not matter"))
            await tell(recorder, failed(pod_info()), failed(pod_info()))
        create, patch = server.writes
        assert "series" not in create.body
        assert patch.method == "PATCH"
        assert patch.content_type == "application/strategic-merge-patch+json"
        assert patch.path == f"{create.path}/{create.body['metadata']['name']}"
        assert patch.body == {
            "series": {"count": 2, "lastObservedTime": "2027-01-15T08:00:10.000000Z"}
        }
        assert recorder.counts.counted == 2

    run_virtually(scenario())


@pytest.mark.parametrize(
    "other",
    [
        failed(pod_info(version=8)),
        failed(pod_info("web-1")),
        failed(pod_info(scheduler="silver")),
        scheduled(pod_info()),
        Event(pod_info(), "Warning", "FailedScheduling", "Binding", "another action"),
        Event(pod_info(), "Normal", "FailedScheduling", "Scheduling", "another type"),
        Event(pod_info(), "Warning", "FailedScheduling", "Scheduling", "with", pod_info("web-1")),
    ],
)
def test_an_event_that_differs_in_more_than_its_note_is_a_new_one(other: Event) -> None:
    async def scenario() -> None:
        server = EventServer()
        async with recording(server) as recorder:
            await tell(recorder, failed(pod_info()), other)
        assert server.methods == ["POST", "POST"]

    run_virtually(scenario())


def test_a_series_that_falls_silent_gets_its_last_count_and_is_forgotten() -> None:
    async def scenario() -> None:
        server = EventServer(latency_s=0.0)
        async with recording(server) as recorder:
            await tell(recorder, *[failed(pod_info())] * 5)
            await sleep_virtually(11 * MINUTE_S)
            assert server.methods == ["POST", "PATCH"]
            await sleep_virtually(2 * MINUTE_S)
            assert server.methods == ["POST", "PATCH", "PATCH"]
            assert server.writes[-1].body["series"]["count"] == 5
            assert server.writes[-1].at_s == 12 * MINUTE_S
            await tell(recorder, failed(pod_info()))
            assert server.methods[-1] == "POST"

    run_virtually(scenario())


def test_a_single_event_that_is_old_is_forgotten_without_a_word() -> None:
    async def scenario() -> None:
        server = EventServer()
        async with recording(server) as recorder:
            await tell(recorder, failed(pod_info()))
            await sleep_virtually(13 * MINUTE_S)
            assert server.methods == ["POST"]
            await tell(recorder, failed(pod_info()))
            assert server.methods == ["POST", "POST"]

    run_virtually(scenario())


def test_a_series_that_goes_on_is_refreshed_every_half_hour() -> None:
    async def scenario() -> None:
        server = EventServer(latency_s=0.0)
        async with recording(server) as recorder:
            await sleep_virtually(0.5 * MINUTE_S)
            for _ in range(65):
                await tell(recorder, failed(pod_info()))
                await sleep_virtually(MINUTE_S)
        assert server.methods == ["POST", "PATCH", "PATCH", "PATCH"]
        refreshes = [(sent.at_s, sent.body["series"]["count"]) for sent in server.writes[2:]]
        assert [at_s for at_s, _ in refreshes] == [30 * MINUTE_S, 60 * MINUTE_S]
        assert [count for _, count in refreshes] == [30, 60]

    run_virtually(scenario())


def test_a_series_whose_event_has_expired_is_created_anew_as_a_whole() -> None:
    async def scenario() -> None:
        server = EventServer()
        async with recording(server) as recorder:
            await tell(recorder, failed(pod_info()))
            server.expire()
            await tell(recorder, failed(pod_info()))
        first, patch, again = server.writes
        assert (patch.method, again.method) == ("PATCH", "POST")
        assert again.body == {**first.body, **patch.body}

    run_virtually(scenario())


def test_a_series_whose_event_appears_between_patch_and_creation_is_tried_again() -> None:
    async def scenario() -> None:
        server = EventServer()
        async with recording(server) as recorder:
            await tell(recorder, failed(pod_info()))
            missing = [refusal(404, "NotFound")]

            server.trouble = lambda request: (
                missing.pop() if request.method == "PATCH" and missing else None
            )
            recorder.record(failed(pod_info()))
            await recorder.flush(60)
        assert server.methods == ["POST", "PATCH", "POST", "PATCH"]
        assert server.counts == [2]

    run_virtually(scenario())


def test_the_end_of_a_series_that_cannot_be_told_is_told_later() -> None:
    async def scenario() -> None:
        server = EventServer(latency_s=0.0)
        async with recording(server) as recorder:
            await tell(recorder, *[failed(pod_info())] * 3)
            server.trouble = lambda _: Unreachable("gone")
            await sleep_virtually(13 * MINUTE_S)
            server.trouble = lambda _: None
            await sleep_virtually(6 * MINUTE_S)
        assert server.counts == [3]

    run_virtually(scenario())


def test_one_more_event_while_the_end_is_written_keeps_the_series_going() -> None:
    async def scenario() -> None:
        server = EventServer(latency_s=0.0)
        async with recording(server) as recorder:
            await tell(recorder, *[failed(pod_info())] * 3)
            server.latency_s = 10.0
            await sleep_virtually(12 * MINUTE_S + 5)
            assert server.methods == ["POST", "PATCH", "PATCH"]
            recorder.record(failed(pod_info()))
            await sleep_virtually(20 * MINUTE_S)
        assert server.methods == ["POST", "PATCH", "PATCH", "PATCH"]
        assert server.counts == [4]

    run_virtually(scenario())


def test_the_end_of_a_series_waits_for_other_events_of_its_pod() -> None:
    async def scenario() -> None:
        server = EventServer(latency_s=0.0)
        async with recording(server) as recorder:
            await tell(recorder, *[failed(pod_info())] * 3)
            await sleep_virtually(12 * MINUTE_S - 5)
            server.latency_s = 10.0
            recorder.record(scheduled(pod_info()))
            await sleep_virtually(6 * MINUTE_S)
            assert server.counts == [2, 1]
            await sleep_virtually(MINUTE_S)
            assert server.counts == [3, 1]

    run_virtually(scenario())


def test_while_the_server_is_away_a_round_of_refreshes_ends_with_the_first() -> None:
    async def scenario() -> None:
        server = EventServer(latency_s=0.0)
        pods = [pod_info(f"pod-{number}") for number in range(5)]
        async with recording(server) as recorder:
            for _ in range(6):
                await tell(recorder, *[failed(pod) for pod in pods])
                await sleep_virtually(5 * MINUTE_S - 1)
            await tell(recorder, *[failed(pod) for pod in pods])
            before = len(server.writes)
            server.trouble = lambda _: Unreachable("gone")
            await sleep_virtually(MINUTE_S)
            assert len(server.writes) == before + 1
            server.trouble = lambda _: None
            await sleep_virtually(20 * MINUTE_S)
        assert server.counts == [7] * 5

    run_virtually(scenario())


def test_the_table_is_bounded_and_a_series_that_has_to_go_leaves_its_count() -> None:
    series = EventSeries("tower", Random(1), most=2)
    pods = [pod_info(f"pod-{number}") for number in range(4)]
    for _ in range(5):
        series.take(failed(pods[0]), BEGIN_S, 0.0)
    assert len(series.take(failed(pods[1]), BEGIN_S, 1.0)) == 1
    last, created = series.take(failed(pods[2]), BEGIN_S, 2.0)
    assert isinstance(last.patch, SeriesPatch)
    assert (last.about, last.patch.series.count) == ("default/pod-0", 5)
    assert created.about == "default/pod-2"
    assert len(series.take(failed(pods[3]), BEGIN_S, 3.0)) == 1
    assert len(series) == 2


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.1, 30.0, 200.0, 500.0])), max_size=40
    ),
    st.integers(0, 5),
)
def test_when_all_is_silent_the_counts_add_up_to_what_was_told(
    told: list[tuple[int, float]], latency: int
) -> None:
    async def scenario() -> None:
        server = EventServer(latency_s=float(latency))
        pods = [pod_info(f"pod-{number}") for number in range(4)]
        async with recording(server) as recorder:
            for number, pause_s in told:
                recorder.record(failed(pods[number]))
                await sleep_virtually(pause_s)
            await sleep_virtually(20 * MINUTE_S)
        assert sum(server.counts) == len(told)
        assert server.methods.count("POST") == len(server.stored)

    run_virtually(scenario())


def test_the_names_of_events_grow_even_when_the_clock_goes_back() -> None:
    series = EventSeries("tower", Random(1))
    times = [BEGIN_S, BEGIN_S, BEGIN_S - 100, BEGIN_S + 1]
    writes = [
        series.take(failed(pod_info(version=number)), at, 0.0)[0] for number, at in enumerate(times)
    ]
    names = [write.body.metadata.name for write in writes]
    assert all(earlier < later for earlier, later in pairwise(names))
