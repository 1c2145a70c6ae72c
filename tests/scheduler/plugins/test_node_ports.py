"""NodePorts: host ports that are free."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.framework.cycle import StateMissing
from podium.scheduler.framework.events import Action, Resource
from podium.scheduler.framework.status import SKIP, unschedulable
from podium.scheduler.plugins.node_ports import NodePorts
from podium.testing import (
    cycle_for,
    filter_answers,
    make_cluster,
    make_handle,
    make_node,
    make_pod,
    present_rows,
)

IN_USE = unschedulable("node(s) didn't have free ports for the requested pod ports")

PLUGIN = NodePorts(None, make_handle())
NAMES = ("a", "b", "c")

Ports = list[tuple[str, str, int]]
ports = st.lists(
    st.tuples(
        st.sampled_from(("", "0.0.0.0", "127.0.0.1", "10.0.0.1", "::")),
        st.sampled_from(("", "TCP", "UDP")),
        st.sampled_from((0, 80, 443)),
    ),
    max_size=3,
)


def port_pod(name: str, wanted: Ports, node: str = "", **spec: Any) -> Pod:
    """A pod whose one container has these (ip, protocol, host port)."""
    return make_pod(name, node=node, containers=[port_container(wanted)], **spec)


def port_container(wanted: Ports, **fields: Any) -> dict[str, Any]:
    listed = [{"hostIP": i, "protocol": p, "hostPort": n, "containerPort": 1} for i, p, n in wanted]
    return {"name": "c", "image": "app", "ports": listed, **fields}


def clash(wanted: Ports, used: Ports) -> bool:
    """Every pair of ports, one by one."""
    for ip, protocol, port in wanted:
        for used_ip, used_protocol, used_port in used:
            same_port = port == used_port and port > 0
            same_protocol = (protocol or "TCP") == (used_protocol or "TCP")
            addresses = {ip or "0.0.0.0", used_ip or "0.0.0.0"}
            if same_port and same_protocol and ("0.0.0.0" in addresses or len(addresses) == 1):
                return True
    return False


@given(
    used=st.lists(st.tuples(st.sampled_from(NAMES), ports), max_size=5),
    wanted=ports,
    gone=st.sets(st.sampled_from(NAMES)),
)
def test_columns_answer_as_pairs_of_ports_do(
    used: list[tuple[str, Ports]], wanted: Ports, gone: set[str]
) -> None:
    cluster = make_cluster(
        map(make_node, NAMES),
        [port_pod(f"used-{i}", held, node) for i, (node, held) in enumerate(used)],
    )
    for name in gone:
        cluster.remove_node(name)
    assert filter_answers(PLUGIN, port_pod("p", wanted), cluster) == {
        name: IN_USE if clash(wanted, [p for n, held in used if n == name for p in held]) else None
        for name in NAMES
        if name not in gone
    }


def test_a_pod_without_host_ports_skips() -> None:
    cluster = make_cluster([make_node("a")])
    assert PLUGIN.pre_filter(cycle_for(port_pod("p", [("", "TCP", 0)]), cluster)) is SKIP


def test_sidecars_hold_ports_and_ordinary_init_containers_do_not() -> None:
    wanted: Ports = [("", "", 80)]
    sidecar = port_container(wanted, name="s", restartPolicy="Always")
    cluster = make_cluster(
        map(make_node, ("a", "b")),
        [
            make_pod("sidecar", node="a", initContainers=[sidecar]),
            make_pod("init", node="b", initContainers=[port_container(wanted, name="i")]),
        ],
    )
    assert filter_answers(PLUGIN, port_pod("p", wanted), cluster) == {"a": IN_USE, "b": None}
    assert filter_answers(PLUGIN, make_pod("q", initContainers=[sidecar]), cluster) == {
        "a": IN_USE,
        "b": None,
    }


def test_one_of_two_holders_frees_the_port_when_it_goes() -> None:
    wanted: Ports = [("", "", 80)]
    cluster = make_cluster([make_node("a")])
    first = cluster.add_pod(port_pod("first", wanted, "a"))
    cluster.add_pod(port_pod("second", wanted, "a"))
    assert filter_answers(PLUGIN, port_pod("p", wanted), cluster) == {"a": IN_USE}
    cluster.remove_pod(first.uid)
    assert filter_answers(PLUGIN, port_pod("p", wanted), cluster) == {"a": None}


def test_a_trial_sees_the_pods_it_imagines() -> None:
    wanted: Ports = [("", "", 80)]
    cluster = make_cluster([make_node("a")], [port_pod("holder", wanted, "a")])
    cycle = cycle_for(port_pod("p", wanted), cluster)
    assert PLUGIN.pre_filter(cycle) is None
    trial = cycle.fork()
    (holder,) = trial.usage.pods(0)
    trial.usage.remove(0, holder)
    assert PLUGIN.filter(trial, present_rows(cluster)) is None
    assert PLUGIN.filter(cycle, present_rows(cluster)) is not None


def test_filtering_without_pre_filter_fails_in_upstreams_words() -> None:
    cluster = make_cluster([make_node("a")])
    with pytest.raises(StateMissing) as failure:
        PLUGIN.filter(cycle_for(make_pod("p"), cluster), present_rows(cluster))
    assert str(failure.value) == 'reading "PreFilterNodePorts" from cycleState: not found'


def test_a_deleted_pod_requeues_only_if_it_held_a_wanted_port() -> None:
    registration, new_node = PLUGIN.events()
    assert registration[:2] == (Resource.POD, Action.DELETE)
    assert new_node == (Resource.NODE, Action.ADD, None)
    hint = registration.hint
    assert hint is not None
    waiting = make_cluster().infos.of(port_pod("p", [("10.0.0.1", "TCP", 80)]))
    any_ip: Ports = [("", "", 80)]
    assert hint(waiting, port_pod("gone", any_ip, "a"), None)
    assert hint(waiting, port_pod("gone", any_ip, status={"nominatedNodeName": "a"}), None)
    assert not hint(waiting, port_pod("gone", any_ip), None)
    assert not hint(waiting, port_pod("gone", [], "a"), None)
    assert not hint(waiting, port_pod("gone", [("10.0.0.2", "TCP", 80)], "a"), None)
    assert not hint(waiting, port_pod("gone", [("", "UDP", 80)], "a"), None)
