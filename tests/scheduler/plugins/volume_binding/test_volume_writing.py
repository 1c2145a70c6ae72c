"""PreBind: the writes, the waiting, and every way it can fail; time is only told, not spent."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace
from support.scheduler.plugins.storage_builders import (
    SELECTED_NODE,
    claim_volume,
    make_claim,
    make_class,
    make_csi_node,
    make_volume,
    put,
)

from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import VolumeBindingArgs
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.handle import ApiHandle, ObjectNotFound
from podium.scheduler.framework.status import error
from podium.scheduler.plugins.volume_binding import VolumeBinding
from podium.scheduler.plugins.volume_binding.pod_volumes import BindingFailure
from podium.testing import FakeApi, cycle_for, make_cluster, make_handle, make_node, make_pod

HOST = "kubernetes.io/hostname"
K = TypeVar("K", bound=KubeObject)
Event = Callable[[Cluster], None]


class VolumesApi(FakeApi):
    """Stores what is written in the cluster's catalog; events happen while time passes."""

    def __init__(self, cluster: Cluster, events: dict[float, Event] | None = None) -> None:
        super().__init__()
        self.cluster = cluster
        self.events = events or {}
        self.now_s = 0.0
        self.version = 100
        self.written: list[str] = []
        self.refuses: set[str] = set()
        self.shows_writes = True

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        raise NotImplementedError

    async def update(self, obj: K, *, base: K | None = None, subresource: str = "") -> K:
        stored: K = replace(obj, metadata=self._metadata(obj))
        if self.shows_writes:
            put(self.cluster, stored)
        return stored

    def _metadata(self, written: KubeObject) -> Any:
        name = written.metadata.name
        if name in self.refuses:
            raise RuntimeError(f"{name} has been modified")
        self.written.append(name)
        self.version += 1
        return replace(written.metadata, resource_version=str(self.version))

    async def pause(self, seconds: float) -> None:
        self.now_s += seconds
        event = self.events.pop(self.now_s, None)
        if event is not None:
            event(self.cluster)


def bind_claim(name: str, volume: str) -> Event:
    """What the volume controller does in the end."""

    def event(cluster: Cluster) -> None:
        claim = cluster.catalog.get(PersistentVolumeClaim, name, "default")
        assert claim is not None
        marks = {**(claim.metadata.annotations or {}), "pv.kubernetes.io/bind-completed": "yes"}
        put(
            cluster,
            replace(
                claim,
                metadata=replace(claim.metadata, annotations=marks, resource_version="900"),
                spec=replace(claim.spec, volume_name=volume),
            ),
        )

    return event


def change_claim(name: str, **meta: Any) -> Event:
    def event(cluster: Cluster) -> None:
        claim = cluster.catalog.get(PersistentVolumeClaim, name, "default")
        assert claim is not None
        put(cluster, replace(claim, metadata=replace(claim.metadata, **meta)))

    return event


def change_volume(name: str, **spec: Any) -> Event:
    def event(cluster: Cluster) -> None:
        volume = cluster.catalog.get(PersistentVolume, name)
        assert volume is not None
        put(cluster, replace(volume, spec=replace(volume.spec, **spec)))

    return event


def remove(kind: type[Any], name: str, namespace: str = "") -> Event:
    def event(cluster: Cluster) -> None:
        found = cluster.catalog.get(kind, name, namespace)
        assert found is not None
        cluster.catalog.remove(found)

    return event


def in_turn(*events: Event) -> Event:
    def event(cluster: Cluster) -> None:
        for each in events:
            each(cluster)

    return event


def reserved(timeout_s: int = 600, node: str = "n") -> tuple[VolumeBinding, Cycle, VolumesApi]:
    """A pod with one claim for an existing volume and one whose volume is to be made."""
    cluster = make_cluster([make_node(name, labels={HOST: name}) for name in ("n", "m")])
    versions = {"resourceVersion": "1"}
    put(
        cluster,
        make_class("static", provisioner="kubernetes.io/no-provisioner"),
        make_class("made"),
        make_volume("v", storage_class="static", metadata=versions, nodes=["n"]),
        make_claim("c", storage_class="static", metadata=versions),
        make_claim("d", storage_class="made", metadata=versions),
    )
    plugin = VolumeBinding(VolumeBindingArgs(bind_timeout_seconds=timeout_s), make_handle(cluster))
    cycle = cycle_for(make_pod("p", volumes=[claim_volume("c"), claim_volume("d")]), cluster)
    assert plugin.pre_filter(cycle) is None
    plugin.filter(cycle, cluster.nodes.all_rows())
    cluster.assume(cycle.pod, node)
    assert plugin.reserve(cycle, node) is None
    return plugin, cycle, VolumesApi(cluster)


def run(plugin: VolumeBinding, cycle: Cycle, api: ApiHandle) -> object:
    return asyncio.run(plugin.pre_bind(cycle, "n", api))


def test_volumes_are_written_first_and_prebind_ends_when_all_claims_are_bound() -> None:
    plugin, cycle, api = reserved()
    api.events = {2.0: bind_claim("c", "v"), 3.0: bind_claim("d", "new")}
    api.events[4.0] = lambda cluster: put(cluster, make_volume("new", nodes=["n"]))
    assert run(plugin, cycle, api) is None
    assert api.written == ["v", "d"]
    assert api.now_s == 4.0
    volume = api.cluster.catalog.get(PersistentVolume, "v")
    claim = api.cluster.catalog.get(PersistentVolumeClaim, "d", "default")
    assert volume is not None
    assert volume.spec.claim_ref is not None
    assert volume.spec.claim_ref.name == "c"
    assert claim is not None
    assert (claim.metadata.annotations or {})[SELECTED_NODE] == "n"


def test_prebind_does_nothing_when_everything_was_bound() -> None:
    plugin, cycle, api = reserved()
    in_turn(bind_claim("c", "v"), bind_claim("d", "new"))(api.cluster)
    assert plugin.reserve(cycle, "n") is None
    assert run(plugin, cycle, api) is None
    assert api.written == []


@pytest.mark.parametrize(("timeout_s", "waited_s"), [(5, 5.0), (1, 1.0), (0, 0.0)])
def test_prebind_gives_up_when_the_time_is_over(timeout_s: int, waited_s: float) -> None:
    plugin, cycle, api = reserved(timeout_s)
    with pytest.raises(BindingFailure) as caught:
        run(plugin, cycle, api)
    assert str(caught.value) == "binding volumes: context deadline exceeded"
    assert api.now_s == waited_s


def test_objects_older_than_the_write_are_waited_for() -> None:
    plugin, cycle, api = reserved(3)
    api.shows_writes = False
    api.events = {1.0: in_turn(bind_claim("c", "v"), change_claim("c", resource_version="1"))}
    with pytest.raises(BindingFailure, match="deadline exceeded"):
        run(plugin, cycle, api)


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (
            lambda cluster: cluster.remove_node("n"),
            'failed to get node "n": node "n" not found',
        ),
        (
            lambda cluster: cluster.remove_pod("uid-default-p"),
            'pod does not exist any more: pod "p" not found',
        ),
        (
            remove(PersistentVolume, "v"),
            'failed to check binding: persistentvolumes "v" not found',
        ),
        (
            remove(PersistentVolumeClaim, "c", "default"),
            'failed to check binding: persistentvolumeclaims "default/c" not found',
        ),
        (
            lambda cluster: cluster.put_node(make_node("n", labels={HOST: "renamed"})),
            'pv "v" node affinity doesn\'t match node "n": no matching NodeSelectorTerms',
        ),
        (
            lambda cluster: put(
                cluster,
                make_volume("v", azureDisk={"diskURI": "u", "kind": "Shared"}),
                make_csi_node("n", migrated=["kubernetes.io/azure-disk"]),
            ),
            "failed to translate pv to csi: could not translate pv:"
            " kind(Shared) is not supported in csi migration",
        ),
        (change_volume("v", claim_ref=None), 'ClaimRef got reset for pv "v"'),
        (
            in_turn(bind_claim("c", "v"), remove(PersistentVolumeClaim, "d", "default")),
            'failed to check provisioning pvc: persistentvolumeclaims "default/d" not found',
        ),
        (
            in_turn(bind_claim("c", "v"), change_claim("d", annotations=None)),
            'selectedNode annotation reset for PVC "d"',
        ),
        (
            in_turn(bind_claim("c", "v"), change_claim("d", annotations={SELECTED_NODE: "m"})),
            'provisioning failed for PVC "d"',
        ),
        (
            in_turn(bind_claim("c", "v"), change_claim("d", annotations={})),
            'provisioning failed for PVC "d"',
        ),
        (
            in_turn(
                bind_claim("c", "v"),
                bind_claim("d", "far"),
                lambda cluster: put(cluster, make_volume("far", nodes=["m"])),
            ),
            'pv "far" node affinity doesn\'t match node "n": no matching NodeSelectorTerms',
        ),
        (
            in_turn(
                bind_claim("c", "v"),
                bind_claim("d", "old"),
                lambda cluster: put(
                    cluster,
                    make_volume("old", azureDisk={"diskURI": "u", "kind": "Shared"}),
                    make_csi_node("n", migrated=["kubernetes.io/azure-disk"]),
                ),
            ),
            "could not translate pv: kind(Shared) is not supported in csi migration",
        ),
    ],
)
def test_prebind_stops_when_the_plan_cannot_come_true(event: Event, text: str) -> None:
    plugin, cycle, api = reserved()
    api.events = {3.0: event}
    with pytest.raises(BindingFailure) as caught:
        run(plugin, cycle, api)
    assert str(caught.value) == f"binding volumes: {text}"
    assert api.now_s == 3.0


def test_a_refused_volume_takes_everything_back() -> None:
    plugin, cycle, api = reserved()
    api.refuses = {"v"}
    with pytest.raises(RuntimeError, match="v has been modified"):
        run(plugin, cycle, api)
    assert api.written == []
    again = cycle_for(make_pod("q", volumes=[claim_volume("c"), claim_volume("d")]), api.cluster)
    assert plugin.pre_filter(again) is None
    plugin.filter(again, api.cluster.nodes.all_rows())
    assert plugin.reserve(again, "n") is None
    assert plugin.reserved(again) == {"bindings": {"default/c": "v"}, "provision": ["default/d"]}


def test_a_refused_write_keeps_what_was_written_and_takes_back_the_rest() -> None:
    plugin, cycle, api = reserved()
    api.refuses = {"d"}
    with pytest.raises(RuntimeError, match="d has been modified"):
        run(plugin, cycle, api)
    assert api.written == ["v"]
    after = cycle_for(make_pod("q", volumes=[claim_volume("d")]), api.cluster)
    assert plugin.pre_filter(after) is None
    # The claim is not on its way to n any more, so any node will do.
    assert plugin.filter(after, api.cluster.nodes.all_rows()) is None


def test_a_volume_that_the_server_does_not_have_fails_the_binding() -> None:
    plugin, cycle, _ = reserved()
    with pytest.raises(ObjectNotFound, match='persistentvolumes "v" not found'):
        run(plugin, cycle, FakeApi())


def test_prebind_without_a_plan_is_an_error() -> None:
    plugin, cycle, api = reserved()
    plugin.unreserve(cycle, "n")
    assert run(plugin, cycle, api) == error('no pod volumes found for node "n"')
