"""Host ports in use: wildcards, the plain set, private copies."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.rules.host_ports import HostPort, conflicts
from podium.scheduler.cluster.growth import Rows
from podium.scheduler.cluster.usage import PortColumns

WEB = HostPort("0.0.0.0", "TCP", 80)
LOCAL = HostPort("127.0.0.1", "TCP", 80)
OTHER = HostPort("10.0.0.1", "TCP", 80)
DNS = HostPort("0.0.0.0", "UDP", 80)
ALL: Rows = slice(0, 4)

host_ports = st.builds(
    HostPort,
    st.sampled_from(("0.0.0.0", "127.0.0.1", "10.0.0.1")),
    st.sampled_from(("TCP", "UDP")),
    st.sampled_from((80, 81)),
)


def busy(ports: PortColumns, *wanted: HostPort, rows: Rows = ALL) -> list[bool]:
    mask = ports.busy(wanted, rows)
    return [False] * 4 if mask is None else mask.tolist()


def test_a_wildcard_meets_every_address_of_its_port() -> None:
    ports = PortColumns(4)
    ports.add(0, [WEB])
    ports.add(1, [LOCAL])
    assert busy(ports, WEB) == [True, True, False, False]
    assert busy(ports, LOCAL) == [True, True, False, False]
    assert busy(ports, OTHER) == [True, False, False, False]
    assert busy(ports, DNS) == [False] * 4


def test_ports_nobody_ever_used_give_no_mask() -> None:
    ports = PortColumns(4)
    ports.add(0, [WEB])
    assert ports.busy([HostPort("0.0.0.0", "TCP", 81)], ALL) is None
    assert ports.busy([], ALL) is None


def test_two_pods_on_one_port_are_one_entry_so_the_first_to_go_frees_it() -> None:
    ports = PortColumns(4)
    ports.add(2, [WEB])
    ports.add(2, [WEB, LOCAL])
    ports.remove(2, [WEB])
    assert ports.used_ports(2) == {LOCAL}


def test_taking_away_an_unknown_port_changes_nothing() -> None:
    ports = PortColumns(4)
    ports.remove(0, [WEB])
    assert ports.used_ports(0) == set()


def test_a_mask_covers_just_the_rows_asked_for() -> None:
    ports = PortColumns(4)
    ports.add(1, [WEB])
    ports.add(3, [WEB])
    rows = np.array([3, 0, 1], dtype=np.intp)
    mask = ports.busy([WEB], rows)
    assert mask is not None
    assert mask.tolist() == [True, False, True]


def test_growth_keeps_what_is_used() -> None:
    ports = PortColumns(2)
    ports.add(1, [WEB])
    ports.grow(4)
    ports.add(3, [WEB])
    assert busy(ports, WEB) == [False, True, False, True]


def test_writes_to_a_copy_stay_in_the_copy() -> None:
    ports = PortColumns(4)
    ports.add(0, [WEB])
    twin = ports.fork()
    assert busy(twin, WEB) == [True, False, False, False]
    twin.add(1, [WEB, DNS])
    twin.remove(0, [WEB])
    assert busy(ports, WEB) == [True, False, False, False]
    assert busy(ports, DNS) == [False] * 4
    assert busy(twin, WEB) == [False, True, False, False]


def test_a_copy_of_a_copy_is_its_own() -> None:
    ports = PortColumns(4)
    twin = ports.fork()
    twin.add(0, [WEB])
    third = twin.fork()
    third.remove(0, [WEB])
    assert twin.used_ports(0) == {WEB}
    assert ports.used_ports(0) == set()


def test_a_row_can_be_made_equal_to_that_of_another() -> None:
    ports = PortColumns(4)
    ports.add(0, [WEB])
    twin = ports.fork()
    twin.remove(0, [WEB])
    twin.add(0, [DNS])
    twin.add(1, [DNS])
    twin.copy_row(0, ports)
    assert twin.used_ports(0) == {WEB}
    assert twin.used_ports(1) == {DNS}


@given(
    used=st.lists(st.sets(host_ports, max_size=4), min_size=4, max_size=4),
    wanted=st.lists(host_ports, max_size=3),
)
def test_rows_conflict_as_nodes_do(used: list[set[HostPort]], wanted: list[HostPort]) -> None:
    ports = PortColumns(4)
    for row, taken in enumerate(used):
        ports.add(row, taken)
    assert busy(ports, *wanted) == [conflicts(wanted, taken) for taken in used]
    assert [ports.used_ports(row) for row in range(4)] == used
