"""NodeResourcesFit: which events are worth another attempt."""

from typing import Any

from podium.kubernetes.kinds.devices import DeviceClass, DeviceClassSpec
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import NodeResourcesFitArgs
from podium.scheduler.framework.events import Action, ClusterEvent, Hint, Resource
from podium.scheduler.plugins.node_resources_fit import NodeResourcesFit
from podium.testing import make_cluster, make_handle, make_node, make_pod

GPU = "example.com/gpu"
IMPLICIT_GPU = "deviceclass.resource.kubernetes.io/gpu"


def hint_for(event: ClusterEvent, cluster: Cluster | None = None, **args: Any) -> Hint:
    """The one hint that the plugin registers for an event."""
    plugin = NodeResourcesFit(NodeResourcesFitArgs(**args), make_handle(cluster))
    (found,) = [r.hint for r in plugin.events() if r.concerns(event)]
    assert found is not None
    return found


def waiting(**requests: Any) -> PodInfo:
    return Cluster(ALL_REQUESTS).infos.of(make_pod("waiting", requests=requests))


def device_class(serves: str | None) -> DeviceClass:
    return DeviceClass(
        metadata=ObjectMeta(name="gpu"), spec=DeviceClassSpec(extended_resource_name=serves)
    )


POD_DELETED = hint_for(ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE))
POD_SHRUNK = hint_for(ClusterEvent(Resource.ASSIGNED_POD, Action.UPDATE_POD_SCALE_DOWN))
NODE_ADDED = hint_for(ClusterEvent(Resource.NODE, Action.ADD))
NODE_CHANGED = hint_for(ClusterEvent(Resource.NODE, Action.UPDATE_NODE_ALLOCATABLE))
CLASS_ADDED = hint_for(ClusterEvent(Resource.DEVICE_CLASS, Action.ADD))
CLASS_CHANGED = hint_for(ClusterEvent(Resource.DEVICE_CLASS, Action.UPDATE))


def test_other_events_are_of_no_interest() -> None:
    registrations = NodeResourcesFit(NodeResourcesFitArgs(), make_handle()).events()
    for event in (
        ClusterEvent(Resource.ASSIGNED_POD, Action.ADD),
        ClusterEvent(Resource.ASSIGNED_POD, Action.UPDATE_POD_LABEL),
        ClusterEvent(Resource.NODE, Action.UPDATE_NODE_LABEL),
        ClusterEvent(Resource.DEVICE_CLASS, Action.DELETE),
    ):
        assert not any(r.concerns(event) for r in registrations)


def test_device_classes_are_of_no_interest_while_the_gate_is_off() -> None:
    handle = make_handle(None, DRAExtendedResource=False)
    registrations = NodeResourcesFit(NodeResourcesFitArgs(), handle).events()
    assert [r.resource for r in registrations] == [Resource.POD, Resource.NODE]


def test_a_deleted_pod_helps_if_it_had_a_node_or_was_promised_one() -> None:
    pod = waiting(cpu="1")
    assert POD_DELETED(pod, make_pod("other", node="a"), None)
    assert POD_DELETED(pod, make_pod("other", status={"nominatedNodeName": "a"}), None)
    assert not POD_DELETED(pod, make_pod("other"), None)


def test_the_waiting_pod_is_tried_again_when_it_shrinks_itself() -> None:
    old, new = (make_pod("waiting", requests={"cpu": n}) for n in ("2", "1"))
    assert POD_SHRUNK(waiting(cpu="2"), old, new)


def test_another_pod_that_shrinks_helps_if_it_gives_back_what_is_wanted() -> None:
    old = make_pod("other", node="a", requests={"cpu": "2", "memory": "2Gi", GPU: 2})
    less_cpu = make_pod("other", node="a", requests={"cpu": "1", "memory": "2Gi", GPU: 2})
    no_gpu = make_pod("other", node="a", requests={"cpu": "2", "memory": "2Gi"})
    assert POD_SHRUNK(waiting(cpu="1"), old, less_cpu)
    assert not POD_SHRUNK(waiting(memory="1Gi", cpu="0"), old, less_cpu)
    assert POD_SHRUNK(waiting(**{GPU: 1}), old, no_gpu)
    assert not POD_SHRUNK(waiting(cpu="1"), less_cpu, old)


def test_a_pod_that_shrinks_without_a_node_helps_nobody() -> None:
    old, new = (make_pod("other", requests={"cpu": n}) for n in ("2", "1"))
    assert not POD_SHRUNK(waiting(cpu="1"), old, new)


def test_a_resize_that_is_not_done_yet_frees_nothing() -> None:
    status = {"containerStatuses": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]}
    old = make_pod("other", node="a", requests={"cpu": "2"}, status=status)
    asked = make_pod("other", node="a", requests={"cpu": "1"}, status=status)
    assert not POD_SHRUNK(waiting(cpu="1"), old, asked)


def test_a_new_node_helps_if_the_pod_fits_on_it_when_empty() -> None:
    node = make_node("a", allocatable={"cpu": "2", "pods": 1})
    assert NODE_ADDED(waiting(cpu="2"), None, node)
    assert not NODE_ADDED(waiting(cpu="3"), None, node)
    assert not NODE_ADDED(waiting(cpu="1", **{GPU: 1}), None, node)
    assert not NODE_ADDED(waiting(), None, make_node("a", allocatable={"cpu": "2", "pods": 0}))


def test_ignored_resources_still_count_on_a_new_node() -> None:
    hint = hint_for(ClusterEvent(Resource.NODE, Action.ADD), ignored_resources=(GPU,))
    assert not hint(waiting(**{GPU: 1}), None, make_node("a"))


def test_a_changed_node_helps_if_it_grew_where_the_pod_needs_it() -> None:
    def node(**changes: Any) -> Node:
        offered = {"cpu": "2", "memory": "2Gi", "pods": 1, GPU: 1, **changes}
        return make_node("a", allocatable=offered)

    pod = waiting(cpu="1", **{GPU: 1})
    assert NODE_CHANGED(pod, node(), node(cpu="3"))
    assert NODE_CHANGED(pod, node(), node(pods=2))
    assert NODE_CHANGED(pod, node(**{GPU: 0}), node())
    assert not NODE_CHANGED(pod, node(), node(memory="3Gi"))
    assert not NODE_CHANGED(pod, node(cpu="3"), node())
    assert not NODE_CHANGED(pod, node(cpu="500m"), node(cpu="600m"))


def test_a_changed_node_helps_if_devices_serve_there_what_the_pod_wants() -> None:
    cluster = make_cluster()
    cluster.catalog.put(device_class(GPU))
    hint = hint_for(ClusterEvent(Resource.NODE, Action.UPDATE_NODE_ALLOCATABLE), cluster)
    bare, more = (make_node("a", allocatable={"cpu": n, "pods": 1}) for n in ("1", "2"))
    assert hint(waiting(**{GPU: 1}), more, bare)
    assert hint(waiting(**{GPU: 1}), None, bare)
    assert not hint(waiting(**{"example.com/other": 1}), bare, more)


def test_a_new_device_class_helps_if_the_pod_wants_what_it_serves() -> None:
    assert CLASS_ADDED(waiting(**{GPU: 1}), None, device_class(GPU))
    assert CLASS_ADDED(waiting(**{IMPLICIT_GPU: 1}), None, device_class(None))
    assert not CLASS_ADDED(waiting(**{GPU: 1}), None, device_class(None))
    assert not CLASS_ADDED(waiting(cpu=1), None, device_class(GPU))


def test_a_changed_device_class_helps_if_it_serves_something_else_now() -> None:
    pod = waiting(**{GPU: 1, IMPLICIT_GPU: 1})
    assert CLASS_CHANGED(pod, device_class(None), device_class(GPU))
    assert not CLASS_CHANGED(pod, device_class(GPU), device_class(GPU))
    assert not CLASS_CHANGED(pod, device_class(GPU), device_class(None))
    assert not CLASS_CHANGED(pod, device_class(GPU), device_class("example.com/other"))
