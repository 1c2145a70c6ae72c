"""What plugins of the binding cycle do to objects, on an API server."""

import asyncio
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from podium.client import KubeClient, LoopClock
from podium.client.resources import NODES, PODS, ResourceType
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.storage import PersistentVolumeClaim
from podium.kubernetes.kinds.typed_objects import KubeObject
from podium.kubernetes.kinds.workloads import Namespace
from podium.live.api_dispatcher import ObjectAccess
from podium.plugin import (
    ApiCallFailed,
    Node,
    ObjectConflict,
    ObjectExists,
    ObjectMeta,
    ObjectNotFound,
    Pod,
)
from podium.testing import SimulatedClusterOptions, embedded_cluster

CONTAINER = {
    "name": "main",
    "image": "app:v1",
    "env": [{"name": "COLOUR", "value": "red"}],
}
POD = {"metadata": {"name": "web"}, "spec": {"containers": [CONTAINER]}}
CRDS = ResourceType(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", False
)
RACKS = {
    "metadata": {"name": "racks.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Cluster",
        "names": {"plural": "racks", "singular": "rack", "kind": "Rack", "listKind": "RackList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "watts": {"type": "integer"},
                                    "row": {"type": "string"},
                                },
                            }
                        },
                    }
                },
            }
        ],
    },
}


class RackSpec(KubeStruct, frozen=True):
    watts: int = 0


class Rack(KubeObject, frozen=True):
    api_version: str = "example.com/v1"
    kind: str = "Rack"
    spec: RackSpec = RackSpec()


Work = Callable[[ObjectAccess, KubeClient], Coroutine[Any, Any, None]]


def on_a_server(work: Work) -> None:
    async def main() -> None:
        options = SimulatedClusterOptions()
        async with embedded_cluster(options, seed=1) as cluster:
            access = ObjectAccess(cluster.client, clock=LoopClock(), randomness=Random(1))
            await work(access, cluster.client)

    asyncio.run(main())


async def stored(client: KubeClient, name: str = "web") -> Any:
    return msgspec.json.decode(await client.get(PODS, name, "default"))


def test_an_update_leaves_fields_alone_that_podium_does_not_read() -> None:
    async def work(access: ObjectAccess, client: KubeClient) -> None:
        await client.create(PODS, POD, "default")
        pod = await access.get(Pod, "web", "default")
        labelled = replace(pod, metadata=replace(pod.metadata, labels={"app": "web"}))
        written = await access.update(labelled)
        found = await stored(client)
        assert written.metadata.labels == {"app": "web"}
        assert found["metadata"]["labels"] == {"app": "web"}
        assert found["spec"]["containers"][0]["env"] == CONTAINER["env"]

    on_a_server(work)


def test_an_object_that_has_moved_on_is_a_conflict() -> None:
    async def work(access: ObjectAccess, client: KubeClient) -> None:
        await client.create(PODS, POD, "default")
        pod = await access.get(Pod, "web", "default")
        await access.patch(Pod, "web", {"metadata": {"labels": {"a": "b"}}}, "default")
        changed = replace(pod, metadata=replace(pod.metadata, labels={"app": "web"}))
        with pytest.raises(ObjectConflict, match="the object has been modified"):
            await access.update(changed)
        without = replace(changed, metadata=replace(changed.metadata, resource_version=""))
        assert (await access.update(without)).metadata.labels == {"app": "web"}

    on_a_server(work)


def test_a_status_is_written_by_its_subresource() -> None:
    async def work(access: ObjectAccess, client: KubeClient) -> None:
        await client.create(NODES, {"metadata": {"name": "n"}})
        node = await access.get(Node, "n")
        allocatable = {"cpu": "4", "memory": "8Gi", "pods": "110"}
        wanted = replace(node, status=replace(node.status, allocatable=allocatable))
        assert not (await access.update(wanted)).status.allocatable
        node = await access.get(Node, "n")
        wanted = replace(node, status=replace(node.status, allocatable=allocatable))
        written = await access.update(wanted, subresource="status")
        assert written.status.allocatable == allocatable
        patch = {"status": {"allocatable": {"cpu": "8"}}}
        patched = await access.patch(Node, "n", patch, subresource="status")
        assert patched.status.allocatable is not None
        assert patched.status.allocatable["cpu"] == "8"

    on_a_server(work)


def test_objects_are_created_with_names_given_or_made() -> None:
    async def work(access: ObjectAccess, client: KubeClient) -> None:
        made = await access.create(Namespace(metadata=ObjectMeta(name="shop")))
        assert made.metadata.uid
        with pytest.raises(ObjectExists, match="already exists"):
            await access.create(Namespace(metadata=ObjectMeta(name="shop")))
        named = await access.create(Namespace(), generate_name="shop-")
        assert named.metadata.name.startswith("shop-")

    on_a_server(work)


def test_what_is_not_there_or_not_allowed_is_told() -> None:
    async def work(access: ObjectAccess, client: KubeClient) -> None:
        with pytest.raises(ObjectNotFound, match='persistentvolumeclaims "c" not found'):
            await access.get(PersistentVolumeClaim, "c", "default")
        with pytest.raises(ApiCallFailed, match="is invalid"):
            await access.create(Namespace(metadata=ObjectMeta(name="No Name")))
        with pytest.raises(ObjectNotFound):
            await access.get(Rack, "r")

    on_a_server(work)


def test_a_kind_of_a_crd_is_asked_for_once_and_then_known() -> None:
    async def work(access: ObjectAccess, client: KubeClient) -> None:
        await client.create(CRDS, RACKS)
        await access.create(Rack(metadata=ObjectMeta(name="r"), spec=RackSpec(watts=5)))
        patched = await access.patch(Rack, "r", {"spec": {"row": "A"}})
        changed = await access.update(replace(patched, spec=RackSpec(watts=7)))
        assert changed.spec.watts == 7
        found = msgspec.json.decode(await client.request("GET", "/apis/example.com/v1/racks/r"))
        assert found["spec"] == {"watts": 7, "row": "A"}

    on_a_server(work)
