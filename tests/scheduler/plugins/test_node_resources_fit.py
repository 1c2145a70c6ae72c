"""NodeResourcesFit's filter: room for one more pod and for everything it requests."""

from typing import Any

import pytest
from hypothesis import given
from support.scheduler.plugins.resource_clusters import (
    GPU,
    HUGE,
    NodeBook,
    ResourceCase,
    resource_cases,
)

from podium.kubernetes.kinds.devices import DeviceClass, DeviceClassSpec
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.rules.requests import is_extended
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import NodeResourcesFitArgs
from podium.scheduler.framework.cycle import StateMissing
from podium.scheduler.framework.status import Status, unresolvable, unschedulable
from podium.scheduler.plugins.node_resources_fit import NodeResourcesFit
from podium.testing import (
    cycle_for,
    filter_answers,
    make_cluster,
    make_handle,
    make_node,
    make_pod,
    present_rows,
)

IMPLICIT_GPU = "deviceclass.resource.kubernetes.io/gpu"


def fit_plugin(cluster: Cluster, gates: dict[str, bool] | None = None, **args: Any) -> Any:
    return NodeResourcesFit(NodeResourcesFitArgs(**args), make_handle(cluster, **(gates or {})))


def answers(cluster: Cluster, requests: dict[str, Any], **args: Any) -> dict[str, Status | None]:
    plugin = fit_plugin(cluster, **args)
    return filter_answers(plugin, make_pod("pending", requests=requests), cluster)


def on_one_node(
    allocatable: dict[str, Any], requests: dict[str, Any], *placed: dict[str, Any], **args: Any
) -> Status | None:
    pods = [make_pod(f"p{i}", node="a", requests=r) for i, r in enumerate(placed)]
    cluster = make_cluster([make_node("a", allocatable={"pods": 110, **allocatable})], pods)
    return answers(cluster, requests, **args)["a"]


def expected(book: NodeBook, wanted: dict[str, int], ignored: set[str]) -> Status | None:
    """The rule for one node in plain Python."""
    reasons, hopeless = [], False
    if book.pods + 1 > book.allocatable["pods"]:
        reasons.append("Too many pods")
    native = [n for n in ("cpu", "memory", "ephemeral-storage") if n in wanted]
    for name in native + sorted(wanted.keys() - set(native)):
        has = book.allocatable.get(name, 0)
        skipped = is_extended(name) and (name in ignored or name.split("/")[0] in ignored)
        if wanted[name] and not skipped and wanted[name] > has - book.requested.get(name, 0):
            reasons.append(f"Insufficient {name}")
            hopeless = hopeless or wanted[name] > has
    if not reasons:
        return None
    return unresolvable(*reasons) if hopeless else unschedulable(*reasons)


@given(resource_cases())
def test_columns_answer_as_node_by_node_books_do(case: ResourceCase) -> None:
    pod = make_pod("pending", requests=case.requests)
    wanted = case.cluster.infos.of(pod).shape.requests
    for args in (
        {},
        {"ignored_resources": (GPU, HUGE)},
        {"ignored_resource_groups": ("example.com",)},
    ):
        ignored = {name for names in args.values() for name in names}
        assert filter_answers(fit_plugin(case.cluster, **args), pod, case.cluster) == {
            name: expected(book, wanted, ignored) for name, book in case.books.items()
        }


def test_a_pod_that_fits_exactly_is_let_in() -> None:
    assert on_one_node({"cpu": "2"}, {"cpu": "1500m"}, {"cpu": "500m"}) is None
    assert on_one_node({"cpu": "2"}, {"cpu": "1501m"}, {"cpu": "500m"}) == unschedulable(
        "Insufficient cpu"
    )


def test_a_request_beyond_the_empty_node_closes_the_node_to_preemption() -> None:
    small = {"cpu": "1", "memory": "1Gi"}
    wanted = {"cpu": "2", "memory": "1Gi"}
    assert on_one_node(small, wanted, {"memory": "1Gi"}) == unresolvable(
        "Insufficient cpu", "Insufficient memory"
    )


def test_too_many_pods_is_never_hopeless() -> None:
    assert on_one_node({"pods": 0}, {}) == unschedulable("Too many pods")
    assert on_one_node({"pods": 1}, {}) is None
    assert on_one_node({"pods": 1}, {}, {}) == unschedulable("Too many pods")


def test_a_node_without_a_pod_limit_takes_no_pods() -> None:
    cluster = make_cluster([make_node("a", allocatable={"cpu": "4"})])
    assert answers(cluster, {})["a"] == unschedulable("Too many pods")


def test_a_resource_that_no_node_ever_had_is_insufficient_everywhere() -> None:
    assert on_one_node({"cpu": "4"}, {GPU: "1"}) == unresolvable(f"Insufficient {GPU}")
    assert on_one_node({"cpu": "4"}, {GPU: "0"}) is None


def test_shortages_are_told_in_a_fixed_order() -> None:
    wanted = {"b.com/x": 1, "a.com/x": 1, "ephemeral-storage": 1, "memory": 1, "cpu": 1}
    assert on_one_node({"pods": 0}, wanted) == unresolvable(
        "Too many pods",
        "Insufficient cpu",
        "Insufficient memory",
        "Insufficient ephemeral-storage",
        "Insufficient a.com/x",
        "Insufficient b.com/x",
    )


def test_more_shortages_than_a_verdict_has_bits_are_all_told() -> None:
    names = [f"example.com/r{i:02}" for i in range(40)]
    cluster = make_cluster(
        [
            make_node("none", allocatable={"pods": 110}),
            make_node("all", allocatable={"pods": 110, **dict.fromkeys(names, 1)}),
            make_node("used", allocatable={"pods": 110, **dict.fromkeys(names, 1)}),
            make_node("half", allocatable={"pods": 110, **dict.fromkeys(names[20:], 1)}),
        ],
        [make_pod("p", node="used", requests=dict.fromkeys(names[3:35], 1))],
    )
    told = [f"Insufficient {name}" for name in names]
    assert answers(cluster, dict.fromkeys(names, 1)) == {
        "none": unresolvable(*told),
        "all": None,
        "used": unschedulable(*told[3:35]),
        "half": unresolvable(*told[:20]),
    }


def test_only_extended_resources_can_be_ignored() -> None:
    ignore = {"ignored_resources": (GPU, HUGE, "cpu"), "ignored_resource_groups": ("a.com",)}
    assert on_one_node({}, {GPU: 1, "a.com/x": 1}, **ignore) is None
    assert on_one_node({}, {HUGE: "2Mi", "cpu": 1}, **ignore) == unresolvable(
        "Insufficient cpu", f"Insufficient {HUGE}"
    )


def device_cluster(*nodes: dict[str, Any]) -> Cluster:
    """Nodes n0, n1... in a cluster where the device class `gpu` serves a resource."""
    cluster = make_cluster(
        make_node(f"n{i}", allocatable={"pods": 110, **offered}) for i, offered in enumerate(nodes)
    )
    cluster.catalog.put(
        DeviceClass(
            metadata=ObjectMeta(name="gpu"), spec=DeviceClassSpec(extended_resource_name=GPU)
        )
    )
    return cluster


def test_a_resource_that_devices_serve_is_left_to_them_on_nodes_without_it() -> None:
    cluster = device_cluster({}, {GPU: 0}, {GPU: 1}, {GPU: 2})
    assert answers(cluster, {GPU: 2}) == {
        "n0": None,
        "n1": None,
        "n2": unresolvable(f"Insufficient {GPU}"),
        "n3": None,
    }


def test_a_class_serves_the_resource_of_its_own_name_on_nodes_that_never_had_it() -> None:
    assert answers(device_cluster({}), {IMPLICIT_GPU: 2}) == {"n0": None}


def test_devices_serve_nothing_while_the_gate_is_off() -> None:
    cluster = device_cluster({GPU: 0})
    plugin = fit_plugin(cluster, {"DRAExtendedResource": False})
    pod = make_pod("pending", requests={GPU: 1, IMPLICIT_GPU: 1})
    assert filter_answers(plugin, pod, cluster) == {
        "n0": unresolvable(f"Insufficient {IMPLICIT_GPU}", f"Insufficient {GPU}")
    }


def test_the_filter_sees_pods_that_a_trial_adds() -> None:
    cluster = make_cluster([make_node("a", allocatable={"cpu": "1", "pods": 2})])
    plugin = fit_plugin(cluster)
    cycle = cycle_for(make_pod("pending", requests={"cpu": "600m"}), cluster)
    plugin.pre_filter(cycle)
    trial = cycle.fork()
    trial.usage.add(0, cluster.infos.of(make_pod("other", requests={"cpu": "600m"})))
    assert plugin.filter(cycle, present_rows(cluster)) is None
    verdict = plugin.filter(trial, present_rows(cluster))
    assert verdict.describe(int(verdict.values[0])) == unschedulable("Insufficient cpu")


def test_filtering_without_preparation_fails_with_the_text_users_know() -> None:
    cluster = make_cluster([make_node("a")])
    cycle = cycle_for(make_pod("pending"), cluster)
    with pytest.raises(StateMissing) as problem:
        fit_plugin(cluster).filter(cycle, present_rows(cluster))
    assert str(problem.value) == (
        'error reading "PreFilterNodeResourcesFit" from cycleState: not found'
    )
