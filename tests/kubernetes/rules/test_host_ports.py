"""Host ports: whose count, and when they clash."""

import pytest

from podium.kubernetes.kinds.pod import Container, ContainerPort, Pod, PodSpec
from podium.kubernetes.rules.host_ports import HostPort, conflicts, host_ports


def container(*ports: ContainerPort, restart_policy: str = "") -> Container:
    return Container(ports=ports, restart_policy=restart_policy)


def test_sidecars_come_first_and_ordinary_init_containers_do_not_count() -> None:
    pod = Pod(
        spec=PodSpec(
            containers=(
                container(
                    ContainerPort(container_port=80),
                    ContainerPort(host_port=8080, protocol="UDP", host_ip="10.0.0.1"),
                ),
                Container(),
            ),
            init_containers=(
                container(ContainerPort(host_port=1)),
                container(ContainerPort(host_port=2), restart_policy="Always"),
            ),
        )
    )
    assert host_ports(pod) == (("0.0.0.0", "TCP", 2), ("10.0.0.1", "UDP", 8080))


def test_a_pod_without_containers_wants_no_ports() -> None:
    assert host_ports(Pod()) == ()


@pytest.mark.parametrize(
    ("wanted", "used", "expected"),
    [
        (("0.0.0.0", "TCP", 80), ("10.0.0.1", "TCP", 80), True),
        (("10.0.0.1", "TCP", 80), ("0.0.0.0", "TCP", 80), True),
        (("10.0.0.1", "TCP", 80), ("10.0.0.1", "TCP", 80), True),
        (("10.0.0.1", "TCP", 80), ("10.0.0.2", "TCP", 80), False),
        (("0.0.0.0", "TCP", 80), ("0.0.0.0", "UDP", 80), False),
        (("0.0.0.0", "TCP", 80), ("0.0.0.0", "TCP", 81), False),
        (("::", "TCP", 80), ("10.0.0.1", "TCP", 80), False),
        (("0.0.0.0", "TCP", 80), ("::", "TCP", 80), True),
        (("::1", "TCP", 80), ("0:0:0:0:0:0:0:1", "TCP", 80), False),
    ],
)
def test_only_the_ipv4_wildcard_stands_for_all_addresses(
    wanted: tuple[str, str, int], used: tuple[str, str, int], expected: bool
) -> None:
    assert conflicts([HostPort(*wanted)], {HostPort(*used)}) is expected


def test_ports_of_one_pod_do_not_conflict_with_each_other() -> None:
    port = HostPort("0.0.0.0", "TCP", 80)
    assert not conflicts((port, port), set())
    assert not conflicts((), {port})
