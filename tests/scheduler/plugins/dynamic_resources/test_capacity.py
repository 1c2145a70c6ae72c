"""How much of a shared device a request takes, and when it does not fit."""

from typing import Any

import msgspec
import pytest

from podium.kubernetes.kinds.devices import DeviceCapacity
from podium.scheduler.plugins.dynamic_resources.capacity import (
    asked_of,
    binary_text,
    has_room,
    rules_of,
    taken_of,
)


def rules(**capacity: Any) -> Any:
    written = {
        name: entry if isinstance(entry, dict) else {"value": entry}
        for name, entry in capacity.items()
    }
    return rules_of(msgspec.convert(written, dict[str, DeviceCapacity]))


STEPPED = {"value": "10", "requestPolicy": {"validRange": {"min": "2", "max": "8", "step": "2"}}}
RANGED = {"value": "10", "requestPolicy": {"validRange": {"min": "2", "max": "8"}}}
LISTED = {"value": "10", "requestPolicy": {"default": "1", "validValues": ["1", "3", "9"]}}
DEFAULTED = {"value": "10", "requestPolicy": {"default": "4"}}


@pytest.mark.parametrize(
    ("capacity", "asked", "taken"),
    [
        ("10", None, "10"),
        ("10", "3", "3"),
        (DEFAULTED, None, "4"),
        (DEFAULTED, "5", "5"),
        (RANGED, "1", "2"),
        (RANGED, "5", "5"),
        (STEPPED, "1", "2"),
        (STEPPED, "3", "4"),
        (STEPPED, "4", "4"),
        (LISTED, None, "1"),
        (LISTED, "2", "3"),
        (LISTED, "10", "10"),
    ],
)
def test_a_request_is_rounded_to_what_the_policy_allows(
    capacity: Any, asked: str | None, taken: str
) -> None:
    requests = asked_of({} if asked is None else {"c": asked})
    assert str(taken_of(rules(c=capacity), requests)["c"][1]) == taken


@pytest.mark.parametrize(
    ("capacity", "asked"), [(RANGED, "9"), (STEPPED, "9"), (LISTED, "10"), ("10", "11")]
)
def test_amounts_the_policy_forbids_do_not_fit(capacity: Any, asked: str) -> None:
    assert not has_room(rules(c=capacity), asked_of({"c": asked}), {}, {})


def test_what_others_consume_is_gone() -> None:
    available, asked = rules(c="10"), asked_of({"c": "4"})
    nano = 10**9
    assert has_room(available, asked, {"c": 4 * nano}, {"c": 2 * nano})
    assert not has_room(available, asked, {"c": 4 * nano}, {"c": 3 * nano})


def test_names_are_taken_literally() -> None:
    assert not has_room(rules(c="10"), asked_of({"gpu.example.com/c": "1"}), {}, {})
    assert has_room(rules(), asked_of(None), {}, {})


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (1023, "1023"),
        (1024, "1Ki"),
        (4 * 2**30, "4Gi"),
        (1536, "1536"),
        (3 * 2**20, "3Mi"),
    ],
)
def test_rounded_amounts_are_written_in_binary_units(number: int, text: str) -> None:
    assert binary_text(number) == text
