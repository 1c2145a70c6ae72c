"""Events that arrive while pods are being tried."""

from hypothesis import given
from hypothesis import strategies as st
from support.scheduler.engine.queues import NODE_ADDED

from podium.scheduler.engine.queue.in_flight import Happened, InFlight


def event(number: int) -> Happened:
    return Happened(NODE_ADDED, None, number)


def seen_by(flight: InFlight, uid: str) -> list[int] | None:
    found = flight.since(uid)
    return None if found is None else [happened.new for happened in found]


def test_nothing_is_remembered_while_nobody_is_in_flight() -> None:
    flight = InFlight()
    flight.note(event(1))
    assert flight.event_count == 0


def test_a_pod_sees_the_events_after_it_was_taken_in_order() -> None:
    flight = InFlight()
    assert flight.start("a")
    flight.note(event(1))
    assert flight.start("b")
    flight.note(event(2))
    flight.note(event(3))
    assert seen_by(flight, "a") == [1, 2, 3]
    assert seen_by(flight, "b") == [2, 3]
    assert seen_by(flight, "c") is None


def test_a_pod_is_in_flight_only_once() -> None:
    flight = InFlight()
    assert flight.start("a")
    assert not flight.start("a")
    assert len(flight) == 1


def test_events_are_dropped_when_no_remaining_pod_can_want_them() -> None:
    flight = InFlight()
    flight.start("a")
    flight.note(event(1))
    flight.start("b")
    flight.note(event(2))
    flight.done("b")
    assert flight.event_count == 2  # a was there before both
    flight.done("a")
    assert (flight.event_count, len(flight)) == (0, 0)


def test_the_oldest_pod_leaving_takes_the_events_before_the_next_with_it() -> None:
    flight = InFlight()
    flight.start("a")
    flight.note(event(1))
    flight.start("b")
    flight.note(event(2))
    flight.done("a")
    assert (flight.event_count, seen_by(flight, "b")) == (1, [2])


def test_being_done_twice_is_fine() -> None:
    flight = InFlight()
    flight.start("a")
    flight.done("a")
    flight.done("a")
    assert "a" not in flight


@given(st.lists(st.tuples(st.sampled_from(["start", "note", "done"]), st.sampled_from("abc"))))
def test_every_pod_sees_just_what_happened_since_it_was_taken(steps: list[tuple[str, str]]) -> None:
    flight = InFlight()
    model: dict[str, list[int]] = {}
    for number, (step, uid) in enumerate(steps):
        if step == "start" and flight.start(uid):
            model[uid] = []
        elif step == "note":
            flight.note(event(number))
            for seen in model.values():
                seen.append(number)
        elif step == "done":
            flight.done(uid)
            model.pop(uid, None)
        assert {uid: seen_by(flight, uid) for uid in flight} == model
        assert flight.event_count == max(map(len, model.values()), default=0)
