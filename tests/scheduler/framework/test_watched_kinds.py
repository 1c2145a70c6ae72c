"""Plugins that read kinds of their own: found, heard of, and left out where nobody asks."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from podium.kubernetes.kinds.typed_objects import decode_as
from podium.plugin import (
    Action,
    Cycle,
    KubeObject,
    KubeStruct,
    ObjectMeta,
    PreFilterPlugin,
    Registration,
    Status,
    WatchedKind,
    unresolvable,
)
from podium.testing import FakeCluster, make_node, make_pod


class PermitSpec(KubeStruct, frozen=True):
    pods: tuple[str, ...] = ()


class PermitObject(KubeObject, frozen=True):
    api_version: Literal["example.com/v1"] = "example.com/v1"
    kind: Literal["Permit"] = "Permit"
    spec: PermitSpec = PermitSpec()


PERMITS = WatchedKind(PermitObject, "permits")


class NeedsPermit(PreFilterPlugin):
    name = "NeedsPermit"
    watched_kinds = (PERMITS,)

    def pre_filter(self, cycle: Cycle) -> Status | None:
        name = cycle.pod.pod.metadata.name
        found = any(name in permit.spec.pods for permit in self.handle.list(PermitObject))
        return None if found else unresolvable("the pod has no permit")

    def events(self) -> Sequence[Registration]:
        return (Registration(PERMITS.event_resource, Action.ADD | Action.UPDATE),)


class NeedsAnything(NeedsPermit):
    name = "NeedsAnything"

    def events(self) -> None:  # type: ignore[override]
        return None


class WaitsAWhile(PreFilterPlugin):
    """Turns pods away for some time only."""

    name = "WaitsAWhile"

    def pre_filter(self, cycle: Cycle) -> Status | None:
        if self.handle.clock() >= 30:
            return None
        cycle.retry_at = 30.0
        return unresolvable("not yet")

    def events(self) -> Sequence[Registration]:
        return ()


def permit(*pods: str, name: str = "p") -> PermitObject:
    metadata = ObjectMeta(name=name, namespace="default")
    return PermitObject(metadata=metadata, spec=PermitSpec(pods=pods))


def test_a_kind_is_named_as_registrations_of_kube_scheduler_name_it() -> None:
    assert PERMITS.event_resource == "permits.v1.example.com"
    assert (PERMITS.group, PERMITS.version, PERMITS.kind) == ("example.com", "v1", "Permit")


def test_a_plugin_finds_objects_of_its_kind_and_is_woken_by_them() -> None:
    cluster = FakeCluster(make_node("n"), plugins=[NeedsPermit])
    assert cluster.schedule(make_pod("web")).bound is None
    cluster.put(permit("other"))
    cluster.wait(2)
    assert cluster.run() == ["web"]
    cluster.put(permit("web"))
    cluster.wait(4)
    cluster.run()
    assert "web" in cluster.bindings
    woken = cluster.engine.state.pod_log.lines("default/web")
    assert any(line.detail == "permits.v1.example.comAdd" for line in woken)


def test_a_plugin_that_any_event_may_help_hears_of_its_own_kind_too() -> None:
    cluster = FakeCluster(make_node("n"), plugins=[NeedsAnything])
    assert cluster.schedule(make_pod("web")).bound is None
    cluster.put(permit("web"))
    cluster.wait(2)
    assert cluster.run() == ["web"]


def test_an_object_of_a_kind_that_nobody_reads_wakes_nobody() -> None:
    cluster = FakeCluster(make_node("n"), plugins=[WaitsAWhile])
    assert cluster.schedule(make_pod("web")).bound is None
    cluster.put(permit("web"))
    cluster.wait(5)
    assert cluster.run() == []


def test_a_pod_is_tried_again_at_the_time_that_a_plugin_says() -> None:
    cluster = FakeCluster(make_node("n"), plugins=[WaitsAWhile])
    begun = cluster.clock()
    assert begun < 30, "the clock of tests starts early"
    assert cluster.schedule(make_pod("web")).bound is None
    assert cluster.engine.queue.next_wake() == 30
    cluster.wait(29 - begun)
    assert cluster.run() == []
    cluster.wait(1)
    assert cluster.run() == ["web"]
    assert "woken" in cluster.story("web")
    assert "web" in cluster.bindings


def test_a_retry_is_forgotten_when_the_pod_is_gone() -> None:
    cluster = FakeCluster(make_node("n"), plugins=[WaitsAWhile])
    cluster.schedule(make_pod("web"))
    cluster.delete("web")
    assert cluster.engine.queue.next_wake() is None


def test_an_object_is_decoded_as_the_api_server_sends_it() -> None:
    written = msgspec.json.encode(permit("web"))
    assert decode_as(written, PermitObject) == permit("web")
