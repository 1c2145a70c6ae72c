"""The API handle without an API server keeps the server's rules, as far as plugins can see them."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from podium.kubernetes.kinds.storage import PersistentVolumeClaim
from podium.kubernetes.kinds.workloads import Namespace
from podium.offline.driver.in_memory_api import InMemoryApi
from podium.plugin import (
    ApiCallFailed,
    Node,
    ObjectConflict,
    ObjectExists,
    ObjectMeta,
    ObjectNotFound,
    Pod,
)
from podium.testing import FakeApi, FakeCluster, make_node, make_pod


def claim(name: str = "c", **annotations: str) -> PersistentVolumeClaim:
    metadata = ObjectMeta(name=name, namespace="default", annotations=annotations or None)
    return PersistentVolumeClaim(metadata=metadata)


class Scene:
    def __init__(self, *objects: Any) -> None:
        self.cluster = FakeCluster(*objects)
        self.api = InMemoryApi(self.cluster.engine)


def test_writes_are_seen_by_the_engine_at_once() -> None:
    scene = Scene(make_node("n"), make_pod("p"))
    patch = {"metadata": {"labels": {"disk": "ssd"}}}
    asyncio.run(scene.api.patch(Node, "n", patch))
    asyncio.run(scene.api.patch(Pod, "p", patch, "default"))
    asyncio.run(scene.api.create(claim()))
    cluster = scene.cluster.engine.cluster

    assert cluster.nodes.labels.labels_of(0) == {"disk": "ssd"}
    assert scene.cluster.pod("p").metadata.labels == {"disk": "ssd"}
    assert cluster.catalog.get(PersistentVolumeClaim, "c", "default") is not None


def test_a_patch_of_a_node_wakes_pods_that_it_helps() -> None:
    scene = Scene(make_node("n"))
    scene.cluster.schedule(make_pod("p", nodeSelector={"disk": "ssd"}))
    asyncio.run(scene.api.patch(Node, "n", {"metadata": {"labels": {"disk": "ssd"}}}))

    assert scene.cluster.where() == {"p": "backoff"}


@pytest.mark.parametrize("api", [FakeApi(claim()), Scene(claim()).api], ids=["fake", "engine"])
def test_an_object_that_has_moved_on_is_not_overwritten(api: Any) -> None:
    async def main() -> None:
        first = await api.update(claim(colour="red"))
        assert first.metadata.resource_version
        second = await api.update(first)
        assert second.metadata.resource_version != first.metadata.resource_version
        with pytest.raises(ObjectConflict, match="the object has been modified"):
            await api.update(first)
        without = replace(first, metadata=replace(first.metadata, resource_version=""))
        await api.update(without)

    asyncio.run(main())


@pytest.mark.parametrize("api", [FakeApi(claim()), Scene(claim()).api], ids=["fake", "engine"])
def test_a_change_of_something_that_is_no_longer_so_is_refused(api: Any) -> None:
    async def main() -> None:
        base = await api.get(PersistentVolumeClaim, "c", "default")
        assert not base.metadata.resource_version
        with pytest.raises(ObjectConflict, match="the object has been modified"):
            await api.update(claim(colour="red"), base=claim(colour="blue"))
        first = await api.update(claim(colour="red"), base=base)
        with pytest.raises(ObjectConflict, match="the object has been modified"):
            await api.update(claim(colour="green"), base=base)
        second = replace(first, metadata=replace(first.metadata, annotations={"colour": "green"}))
        stored = await api.update(second, base=first)
        assert stored.metadata.annotation("colour") == "green"

    asyncio.run(main())


@pytest.mark.parametrize("api", [FakeApi(make_pod("p")), Scene(make_pod("p")).api])
def test_an_object_is_deleted_once_and_no_other_of_its_name(api: Any) -> None:
    async def main() -> None:
        pod = await api.get(Pod, "p", "default")
        with pytest.raises(ObjectConflict, match="UID in precondition: another"):
            await api.delete(replace(pod, metadata=replace(pod.metadata, uid="another")))
        await api.delete(pod)
        with pytest.raises(ObjectNotFound):
            await api.delete(pod)

    asyncio.run(main())


def test_a_status_is_written_by_its_subresource_and_by_nothing_else() -> None:
    scene = Scene(make_node("n"))

    async def main() -> None:
        node = await scene.api.get(Node, "n")
        bigger = replace(node, status=replace(node.status, allocatable={"cpu": "64"}))
        labelled = replace(bigger, metadata=replace(node.metadata, labels={"a": "b"}))
        plain = await scene.api.update(labelled)
        assert (plain.metadata.labels, plain.status) == ({"a": "b"}, node.status)
        status = await scene.api.update(bigger_of(plain), subresource="status")
        assert status.status.allocatable == {"cpu": "64"}
        assert status.metadata.labels == {"a": "b"}

    def bigger_of(node: Node) -> Node:
        return replace(node, status=replace(node.status, allocatable={"cpu": "64"}))

    asyncio.run(main())


def test_names_are_made_and_taken_once() -> None:
    api = Scene().api

    async def main() -> None:
        one = await api.create(Namespace(), generate_name="shop-")
        two = await api.create(Namespace(), generate_name="shop-")
        assert one.metadata.name != two.metadata.name
        assert one.metadata.uid != two.metadata.uid
        with pytest.raises(ObjectExists, match="already exists"):
            await api.create(one)
        with pytest.raises(ApiCallFailed, match="name or generateName is required"):
            await api.create(Namespace())

    asyncio.run(main())


@pytest.mark.parametrize(
    ("kind", "name", "namespace", "text"),
    [
        (Pod, "p", "default", 'pods "p" not found'),
        (Node, "n", "", 'nodes "n" not found'),
        (PersistentVolumeClaim, "c", "default", 'persistentvolumeclaims "c" not found'),
    ],
)
def test_what_is_not_there_is_told(kind: Any, name: str, namespace: str, text: str) -> None:
    with pytest.raises(ObjectNotFound, match=text):
        asyncio.run(Scene().api.get(kind, name, namespace))


@pytest.mark.parametrize(
    ("patch", "subresource", "text"),
    [
        ({"spec": {"nodeName": 5}}, "", "is invalid"),
        ({"metadata": {"name": "other"}}, "", "metadata.name: is immutable"),
        ({}, "eviction", "cannot be written here"),
    ],
)
def test_a_patch_that_makes_no_sense_is_refused(
    patch: dict[str, Any], subresource: str, text: str
) -> None:
    api = Scene(make_pod("p")).api
    with pytest.raises(ApiCallFailed, match=text):
        asyncio.run(api.patch(Pod, "p", patch, "default", subresource=subresource))


def test_a_pod_that_a_plugin_has_written_to_can_be_bound() -> None:
    scene = Scene(make_node("n"), make_pod("p"))
    patch = {"metadata": {"annotations": {"written": "before"}}}
    asyncio.run(scene.api.patch(Pod, "p", patch, "default"))
    info = scene.cluster.engine.cluster.infos.of(scene.cluster.pod("p"))
    asyncio.run(scene.api.bind(info, "n"))
    pod = scene.cluster.pod("p")
    assert pod.spec.node_name == "n"
    assert pod.metadata.annotation("written") == "before"
