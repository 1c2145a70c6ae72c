"""Devices with attributes that are lists, in selectors and constraints."""

from collections.abc import Sequence
from typing import Any

import pytest
from support.scheduler.plugins.device_builders import (
    DRIVER,
    DeviceWorld,
    device,
    exactly,
    make_claim,
    make_slice,
)

from podium.scheduler.plugins.dynamic_resources.picks import PickRules

ATTRIBUTE = f"{DRIVER}/numa"


def found(
    attributes: Sequence[Any], constraint: str, count: int = 2, *, gate: bool = True
) -> list[str] | None:
    """The devices d0, d1, ... that a claim for some of them gets, given their attributes."""
    devices = [device(f"d{i}", {"numa": value}) for i, value in enumerate(attributes)]
    world = DeviceWorld(make_slice("p", devices, node="n"), DRAListTypeAttributes=gate)
    claim = make_claim("c", exactly("r", count), constraints=[{constraint: ATTRIBUTE}])
    solution = world.find(claim, rules=PickRules(lists=gate))
    if solution is None:
        return None
    return [pick.entry.id.device for picks in solution.picks for pick in picks]


def ints(*values: int) -> dict[str, Any]:
    return {"ints": list(values)}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ([ints(0, 1), ints(1, 2)], ["d0", "d1"]),
        ([ints(0, 1), ints(2, 3)], None),
        ([ints(0, 1), ints(2, 3), ints(1)], ["d0", "d2"]),
        ([1, ints(1, 2)], ["d0", "d1"]),
        ([ints(1), {"strings": ["1"]}], None),
        ([{"versions": ["1.0.0"]}, {"version": "1.0.0"}], ["d0", "d1"]),
        ([{"bools": [True]}, ints(1)], None),
        ([ints(), ints(1)], None),
        ([ints(), ints(1), ints(1)], ["d1", "d2"]),
    ],
)
def test_devices_match_if_all_lists_have_a_value_in_common(
    attributes: list[Any], expected: list[str] | None
) -> None:
    assert found(attributes, "matchAttribute") == expected


def test_what_is_in_common_narrows_with_every_device() -> None:
    assert found([ints(0, 1), ints(1, 2), ints(2, 0)], "matchAttribute", 3) is None
    assert found([ints(0, 1), ints(1, 2), ints(1, 3)], "matchAttribute", 3) == ["d0", "d1", "d2"]


def test_values_that_a_device_lacked_count_again_when_it_is_given_back() -> None:
    """d1 leaves only 1 in common; without d1, 0 does for the rest."""
    attributes = [ints(0, 1), ints(1), ints(0), ints(0)]
    assert found(attributes, "matchAttribute", 3) == ["d0", "d2", "d3"]


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ([ints(0, 1), ints(2)], ["d0", "d1"]),
        ([ints(0, 1), ints(1, 2)], None),
        ([ints(0, 1), ints(1), ints(2)], ["d0", "d2"]),
        ([1, ints(1)], None),
        ([1, {"strings": ["1"]}], ["d0", "d1"]),
    ],
)
def test_devices_are_distinct_if_their_lists_have_nothing_in_common(
    attributes: list[Any], expected: list[str] | None
) -> None:
    assert found(attributes, "distinctAttribute") == expected


def test_single_values_are_compared_as_ever() -> None:
    for gate in (True, False):
        assert found([1, 2, 1], "matchAttribute", gate=gate) == ["d0", "d2"]
        assert found([1, 1, 2], "distinctAttribute", gate=gate) == ["d0", "d2"]


def test_a_selector_looks_into_a_list() -> None:
    selector = f'device.attributes["{DRIVER}"].numa.includes(2)'
    devices = [device("d0", {"numa": ints(0, 1)}), device("d1", {"numa": ints(1, 2)})]
    claim = make_claim("c", exactly("r", 1, selector))
    world = DeviceWorld(make_slice("p", devices, node="n"), DRAListTypeAttributes=True)
    assert world.picks(claim) == ["r=p/d1"]
