"""The search against a plain reference: list every assignment in order, take the first good one."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

from hypothesis import strategies as st
from support.scheduler.plugins.device_builders import (
    DRIVER,
    DeviceWorld,
    allocated,
    alternative,
    device,
    exactly,
    first_of,
    make_claim,
    make_slice,
)
from support.suite.slow_cases import given_examples


class Dev(NamedTuple):
    kind: int
    size: int
    busy: bool


class Want(NamedTuple):
    """`kind` is what the selector asks for, -1 for anything."""

    number: int
    kind: int
    admin: bool


class Case(NamedTuple):
    devices: list[Dev]
    claims: list[list[list[Want]]]
    """Claims of requests of alternatives."""
    match: bool
    limit: int


def wants() -> st.SearchStrategy[Want]:
    return st.builds(Want, st.integers(1, 2), st.integers(-1, 1), st.booleans())


def requests() -> st.SearchStrategy[list[Want]]:
    several = st.lists(wants().map(lambda w: w._replace(admin=False)), min_size=2, max_size=2)
    return wants().map(lambda w: [w]) | several


cases = st.builds(
    Case,
    st.lists(st.builds(Dev, st.integers(0, 1), st.integers(0, 2), st.booleans()), max_size=5),
    st.lists(st.lists(requests(), min_size=1, max_size=2), min_size=1, max_size=2),
    st.booleans(),
    st.integers(0, 4),
)

Pick = tuple[int, int, int, int]
"""(claim, request, alternative, device)"""


def assignments(case: Case, claim: int = 0, request: int = 0) -> Iterator[list[Pick]]:
    """All ways to give devices to requests, in the order in which they count."""
    if claim == len(case.claims):
        yield []
        return
    if request == len(case.claims[claim]):
        yield from assignments(case, claim + 1, 0)
        return
    for number, want in enumerate(case.claims[claim][request]):
        for chosen in combinations(range(len(case.devices)), want.number):
            for rest in assignments(case, claim, request + 1):
                yield [(claim, request, number, index) for index in chosen] + rest


def is_good(case: Case, picks: list[Pick]) -> bool:
    used: dict[int, set[int]] = {}
    left = case.limit - sum(dev.size for dev in case.devices if dev.busy)
    kinds: dict[int, set[int]] = {}
    for claim, request, number, index in picks:
        want, dev = case.claims[claim][request][number], case.devices[index]
        holders = used.setdefault(index, set())
        if claim in holders if want.admin else (dev.busy or bool(holders)):
            return False
        holders.add(claim)
        if want.kind not in (-1, dev.kind):
            return False
        kinds.setdefault(claim, set()).add(dev.kind)
        if dev.size:
            left -= dev.size
            if left < 0:
                return False
    return not case.match or all(len(found) == 1 for found in kinds.values())


def expected(case: Case) -> list[str] | None:
    for picks in assignments(case):
        if is_good(case, picks):
            return [_shown(case, pick) for pick in picks]
    return None


def _shown(case: Case, pick: Pick) -> str:
    claim, request, number, index = pick
    suffix = f"/a{number}" if len(case.claims[claim][request]) > 1 else ""
    return f"r{request}{suffix}=p/d{index}"


def found(case: Case) -> list[str] | None:
    world = DeviceWorld(*_slices(case))
    busy = [f"r=p/d{index}" for index, dev in enumerate(case.devices) if dev.busy]
    world.put(make_claim("other", status=allocated(*busy)))
    constraints = [{"matchAttribute": f"{DRIVER}/kind"}] if case.match else []
    claims = [
        make_claim(
            f"c{number}",
            *(_request(index, parts) for index, parts in enumerate(claim)),
            constraints=constraints,
        )
        for number, claim in enumerate(case.claims)
    ]
    return world.picks(*claims)


def _slices(case: Case) -> list[Any]:
    counters = {"name": "set", "counters": {"c": {"value": case.limit}}}
    devices = []
    for index, dev in enumerate(case.devices):
        consumed = {"counterSet": "set", "counters": {"c": {"value": dev.size}}}
        more: dict[str, Any] = {"consumesCounters": [consumed]} if dev.size else {}
        devices.append(device(f"d{index}", {"kind": dev.kind}, **more))
    return [
        make_slice("s0", node="n", pool="p", count=2, sharedCounters=[counters]),
        make_slice("s1", devices, node="n", pool="p", count=2),
    ]


def _request(index: int, parts: list[Want]) -> dict[str, Any]:
    def selectors(want: Want) -> list[str]:
        return [] if want.kind < 0 else [f'device.attributes["{DRIVER}"].kind == {want.kind}']

    if len(parts) == 1:
        (want,) = parts
        admin: dict[str, Any] = {"adminAccess": True} if want.admin else {}
        return exactly(f"r{index}", want.number, *selectors(want), **admin)
    listed = (
        alternative(f"a{number}", want.number, *selectors(want))
        for number, want in enumerate(parts)
    )
    return first_of(f"r{index}", *listed)


@given_examples(60, 300, cases)
def test_the_search_finds_the_first_good_assignment(case: Case) -> None:
    assert found(case) == expected(case)
