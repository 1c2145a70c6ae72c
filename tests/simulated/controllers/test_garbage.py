"""Garbage: what is left of objects whose owners are gone."""

import json
from typing import Any

from support.live.scripted_server import ScriptedServer, make_object, refusal, reply
from support.live.virtual_loop import run_virtually
from support.simulated.controller_objects import build, shown, timestamp

from podium.client import KubeClient
from podium.client.resources import DEPLOYMENTS, PODS, REPLICA_SETS
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.kinds.meta import KubeObject, OwnerReference
from podium.simulated.controllers.garbage import (
    FOREGROUND,
    ORPHAN,
    Found,
    Garbage,
    Owners,
    decide_dependent,
    decide_owner,
)
from podium.simulated.informers import Informers
from podium.simulated.request_executor import RequestExecutor


def thing(name: str, *owners: str, blocks: bool = True, **metadata: Any) -> KubeObject:
    references = [
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "name": owner,
            "uid": f"uid-{owner}",
            "blockOwnerDeletion": blocks,
        }
        for owner in owners
    ]
    return build(KubeObject, name, metadata={"ownerReferences": references or None, **metadata})


def owner(name: str) -> OwnerReference:
    return OwnerReference(api_version="apps/v1", kind="ReplicaSet", name=name, uid=f"uid-{name}")


def going(name: str, finalizer: str) -> Found:
    held = [finalizer]
    return Found(REPLICA_SETS, thing(name, deletionTimestamp=timestamp(), finalizers=held))


A, B = owner("a"), owner("b")


def dependent(of: Owners, *dependents: Found, **metadata: Any) -> list[str]:
    found = Found(PODS, thing("pod", "a", "b", **metadata))
    return shown(decide_dependent(found, of, dependents))


def test_an_object_goes_when_all_its_owners_are_gone() -> None:
    assert dependent(Owners((), (A, B), ())) == ["-pods pod Background"]
    assert dependent(Owners((A, B), (), ())) == []


def test_an_object_that_keeps_one_owner_only_forgets_the_others() -> None:
    found = Found(PODS, thing("pod", "a", "b"))
    (patch,) = decide_dependent(found, Owners((A,), (B,), ()), [])
    kept = patch.body["metadata"]["ownerReferences"]  # type: ignore[union-attr]
    assert [each["uid"] for each in kept] == ["uid-a"]


def test_finalizers_and_waiting_owners_say_how_an_object_goes() -> None:
    own = Found(PODS, thing("own", "pod"))
    assert dependent(Owners((), (A,), (B,)), own) == ["-pods pod Foreground"]
    assert dependent(Owners((), (A,), (B,)), own, finalizers=[ORPHAN]) == ["-pods pod Foreground"]
    assert dependent(Owners((), (A,), (B,))) == ["-pods pod Background"]
    assert dependent(Owners((), (A, B), ()), finalizers=[ORPHAN]) == ["-pods pod Orphan"]
    assert dependent(Owners((), (A, B), ()), finalizers=[FOREGROUND]) == ["-pods pod Foreground"]


def test_a_circle_of_owners_in_the_foreground_is_opened() -> None:
    found = Found(PODS, thing("pod", "a", "b"))
    unblocked, removal = decide_dependent(found, Owners((), (), (A, B)), [going("a", FOREGROUND)])
    assert shown([unblocked, removal]) == ["~pods pod", "-pods pod Foreground"]
    references = unblocked.body["metadata"]["ownerReferences"]  # type: ignore[union-attr]
    assert {(each["uid"], each["blockOwnerDeletion"]) for each in references} == {
        ("uid-a", False),
        ("uid-b", False),
    }


def test_an_owner_in_the_foreground_waits_for_those_that_block_it() -> None:
    blocking = Found(PODS, thing("pod", "a"))
    loose = Found(PODS, thing("pod", "a", blocks=False))
    assert decide_owner(going("a", FOREGROUND), [blocking]) == []
    for dependents in ([loose], []):
        released = decide_owner(going("a", FOREGROUND), dependents)
        assert shown(released) == ["~replicasets a"]


def test_an_owner_that_orphans_lets_go_of_its_dependents_first() -> None:
    left = Found(PODS, thing("pod", "a"))
    assert shown(decide_owner(going("a", ORPHAN), [left])) == ["~pods pod"]
    assert shown(decide_owner(going("a", ORPHAN), [])) == ["~replicasets a"]


class Heap:
    """A collector with its informers, and a server that answers what a test says."""

    def __init__(self, *answers: Any) -> None:
        self.informers = Informers()
        self.server = ScriptedServer(*answers)
        client = KubeClient(self.server)
        self.collector = Garbage(self.informers, client, RequestExecutor(client, self.informers))
        self.woken: list[Any] = []
        self.collector.watch(self.woken.append)
        for resource in (PODS, REPLICA_SETS, DEPLOYMENTS):
            self.collector.include(resource)

    async def settle(self) -> list[tuple[str, str]]:
        while self.woken:
            await self.collector.sync(self.woken.pop(0))
        return [(request.method, request.path) for request in self.server.requests]


def test_an_owner_that_is_not_known_is_looked_up_before_it_is_believed_gone() -> None:
    async def main() -> None:
        set_path = "/apis/apps/v1/namespaces/ns/replicasets/a"
        pod_path = "/api/v1/namespaces/ns/pods/pod"
        there = make_object("a", 1)
        there["metadata"]["uid"] = "uid-a"
        heap = Heap(reply(there))
        heap.informers.pods.put(build(Pod, "pod", metadata=_owned()))
        assert await heap.settle() == [("GET", set_path)]
        heap = Heap(refusal(404, "NotFound"), reply({"kind": "Status"}))
        heap.informers.pods.put(build(Pod, "pod", metadata=_owned()))
        assert await heap.settle() == [("GET", set_path), ("DELETE", pod_path)]
        deletion = json.loads(heap.server.requests[1].body)
        assert deletion["preconditions"] == {"uid": "uid-pod"}
        assert len(heap.informers.pods) == 0

    run_virtually(main())


def test_owners_that_go_wake_their_dependents() -> None:
    async def main() -> None:
        heap = Heap(refusal(404, "NotFound"), reply({"kind": "Status"}))
        owning = build(KubeObject, "a", metadata={})
        heap.informers.store_of(REPLICA_SETS).put(owning)
        heap.informers.pods.put(build(Pod, "pod", metadata=_owned()))
        assert await heap.settle() == []
        heap.informers.store_of(REPLICA_SETS).drop(owning)
        assert (await heap.settle())[-1][0] == "DELETE"

    run_virtually(main())


def _owned() -> dict[str, Any]:
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "a", "uid": "uid-a"}
    return {"ownerReferences": [reference]}
