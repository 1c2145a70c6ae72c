"""The client libraries that Python programs use take the server for a real one.

Both speak to one process: the `kubernetes` library with its generated, custom-object and dynamic
clients, and `kubernetes_asyncio`. Each test has a namespace to itself.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from support.apiserver.api_calls import pod
from support.apiserver.apiserver_process import RunningServer, serving
from support.suite.late_imports import LateImport
from support.waiting import PATIENCE_S, wait_in_loop

kubernetes = LateImport("kubernetes")
kubernetes_asyncio = LateImport("kubernetes_asyncio")

GROUP = "example.com"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"queues.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"kind": "Queue", "plural": "queues"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {"weight": {"type": "integer", "default": 7}},
                            },
                            "status": {
                                "type": "object",
                                "properties": {"used": {"type": "integer"}},
                            },
                        },
                    }
                },
            }
        ],
    },
}
QUEUE = {"apiVersion": f"{GROUP}/v1", "kind": "Queue", "metadata": {"name": "one"}, "spec": {}}
numbers = count(1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        status, _ = running.ask(
            "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION
        )
        assert status == 201
        yield running
        _, err = running.stop()
    assert "Traceback" not in err


@pytest.fixture
def namespace(server: RunningServer) -> str:
    name = f"team-{next(numbers)}"
    status, _ = server.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    assert status == 201
    return name


@pytest.fixture
def client(server: RunningServer) -> Iterator[Any]:
    with kubernetes.config.new_client_from_config(str(server.kubeconfig)) as found:
        yield found


@pytest.fixture
def core(client: Any) -> Any:
    return kubernetes.client.CoreV1Api(client)


def names(listed: Any) -> list[str]:
    return [each.metadata.name for each in listed.items]


# --- kubernetes ----------------------------------------------------------------------------------


def test_objects_come_back_as_models(core: Any, namespace: str) -> None:
    created = core.create_namespaced_pod(namespace, pod("a", labels={"app": "web"}))

    assert created.spec.scheduler_name == "default-scheduler"
    assert created.metadata.creation_timestamp.tzinfo is not None
    assert core.read_namespaced_pod("a", namespace).metadata.uid == created.metadata.uid
    created.metadata.labels["tier"] = "x"
    replaced = core.replace_namespaced_pod("a", namespace, created)
    assert replaced.metadata.labels == {"app": "web", "tier": "x"}
    with pytest.raises(kubernetes.client.ApiException) as stale:
        core.replace_namespaced_pod("a", namespace, created)
    assert stale.value.status == 409
    with pytest.raises(kubernetes.client.ApiException) as twice:
        core.create_namespaced_pod(namespace, pod("a"))
    assert json.loads(twice.value.body)["reason"] == "AlreadyExists"
    deleted = core.delete_namespaced_pod("a", namespace, grace_period_seconds=0)
    assert deleted.metadata.name == "a"
    with pytest.raises(kubernetes.client.ApiException) as gone:
        core.read_namespaced_pod("a", namespace)
    assert gone.value.status == 404


@pytest.mark.slow
def test_lists_are_selected_and_paged(core: Any, namespace: str) -> None:
    for number in range(5):
        core.create_namespaced_pod(namespace, pod(f"p{number}", labels={"odd": str(number % 2)}))

    odd = core.list_namespaced_pod(namespace, label_selector="odd=1")
    assert names(odd) == ["p1", "p3"]
    one = core.list_namespaced_pod(namespace, field_selector="metadata.name=p2")
    assert names(one) == ["p2"]
    first = core.list_namespaced_pod(namespace, limit=2)
    rest = core.list_namespaced_pod(namespace, limit=9, _continue=first.metadata._continue)
    assert names(first) == ["p0", "p1"]
    assert names(rest) == ["p2", "p3", "p4"]
    assert first.metadata.remaining_item_count == 3
    assert rest.metadata._continue is None


@pytest.mark.slow
def test_a_watch_resumes_where_the_last_one_ended(core: Any, namespace: str) -> None:
    core.create_namespaced_pod(namespace, pod("a"))
    listed = core.list_namespaced_pod(namespace)
    core.create_namespaced_pod(namespace, pod("b"))
    core.delete_namespaced_pod("a", namespace)

    def watched(revision: str, most: int) -> list[tuple[str, str, str]]:
        watch = kubernetes.watch.Watch()
        seen = []
        for event in watch.stream(
            core.list_namespaced_pod,
            namespace,
            resource_version=revision,
            timeout_seconds=int(PATIENCE_S),
        ):
            metadata = event["object"].metadata
            seen.append((event["type"], metadata.name, metadata.resource_version))
            if len(seen) == most:
                watch.stop()
        return seen

    first = watched(listed.metadata.resource_version, 1)
    core.create_namespaced_pod(namespace, pod("c"))
    rest = watched(first[-1][2], 3)

    assert [each[:2] for each in first] == [("ADDED", "b")]
    assert [each[:2] for each in rest] == [("MODIFIED", "a"), ("DELETED", "a"), ("ADDED", "c")]


@pytest.mark.slow
def test_patches_of_every_kind_are_taken(client: Any, namespace: str) -> None:
    apps = kubernetes.client.AppsV1Api(client)
    labels = {"app": "web"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "main", "image": "nginx"}]},
    }
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    apps.create_namespaced_deployment(namespace, {"metadata": {"name": "d"}, "spec": spec})

    side = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "busybox"}]}}}}
    strategic = apps.patch_namespaced_deployment("d", namespace, side)
    assert {each.name for each in strategic.spec.template.spec.containers} == {"main", "side"}
    merged = apps.patch_namespaced_deployment(
        "d", namespace, side, _content_type="application/merge-patch+json"
    )
    assert [each.name for each in merged.spec.template.spec.containers] == ["side"]
    steps = [{"op": "replace", "path": "/spec/replicas", "value": 4}]
    stepped = apps.patch_namespaced_deployment(
        "d", namespace, steps, _content_type="application/json-patch+json"
    )
    assert stepped.spec.replicas == 4
    scaled = apps.patch_namespaced_deployment_scale("d", namespace, {"spec": {"replicas": 2}})
    assert scaled.spec.replicas == 2
    apps.patch_namespaced_deployment_status("d", namespace, {"status": {"observedGeneration": 1}})
    found = apps.read_namespaced_deployment("d", namespace)
    assert (found.spec.replicas, found.status.observed_generation) == (2, 1)


@pytest.mark.slow
def test_a_status_patch_changes_only_the_status(core: Any, namespace: str) -> None:
    core.create_namespaced_pod(namespace, pod("a"))
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}

    patched = core.patch_namespaced_pod_status(
        "a",
        namespace,
        {
            "metadata": {"labels": {"kept": "yes"}},
            "spec": {"priority": 5},
            "status": {"conditions": [condition], "nominatedNodeName": "n1"},
        },
    )

    assert patched.status.nominated_node_name == "n1"
    assert patched.status.conditions[0].reason == "Unschedulable"
    assert patched.spec.priority == 0


@pytest.mark.slow
@pytest.mark.parametrize("through_pod", [True, False])
def test_pods_are_bound(core: Any, namespace: str, through_pod: bool) -> None:
    core.create_namespaced_pod(namespace, pod("a"))
    binding = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n1"}}

    def bind() -> Any:
        # Read as it comes: the library's model of a binding does not fit any server's answer.
        if through_pod:
            return core.create_namespaced_pod_binding(
                "a", namespace, binding, _preload_content=False
            )
        return core.create_namespaced_binding(namespace, binding, _preload_content=False)

    assert bind().status == 201
    found = core.read_namespaced_pod("a", namespace)
    assert found.spec.node_name == "n1"
    assert [each.type for each in found.status.conditions] == ["PodScheduled"]
    with pytest.raises(kubernetes.client.ApiException) as again:
        bind()
    assert again.value.status == 409


@pytest.mark.slow
def test_evictions_respect_budgets(client: Any, core: Any, namespace: str) -> None:
    policy = kubernetes.client.PolicyV1Api(client)
    core.create_namespaced_pod(namespace, pod("a", labels={"app": "web"}))
    core.create_namespaced_pod(namespace, pod("free"))
    core.patch_namespaced_pod_status(
        "a",
        namespace,
        {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}},
    )
    budget = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    policy.create_namespaced_pod_disruption_budget(
        namespace, {"metadata": {"name": "b"}, "spec": budget}
    )
    policy.patch_namespaced_pod_disruption_budget_status(
        "b",
        namespace,
        {
            "status": {
                "observedGeneration": 1,
                "disruptionsAllowed": 0,
                "currentHealthy": 1,
                "desiredHealthy": 1,
                "expectedPods": 1,
            }
        },
    )

    def evict(name: str) -> Any:
        return core.create_namespaced_pod_eviction(name, namespace, {"metadata": {"name": name}})

    evict("free")
    with pytest.raises(kubernetes.client.ApiException) as refused:
        evict("a")
    assert refused.value.status == 429
    assert "disruption budget" in refused.value.body
    assert names(core.list_namespaced_pod(namespace)) == ["a"]


@pytest.mark.slow
def test_custom_objects_are_written_and_read(client: Any, namespace: str) -> None:
    custom = kubernetes.client.CustomObjectsApi(client)
    place = (GROUP, "v1", namespace, "queues")

    assert custom.create_namespaced_custom_object(*place, QUEUE)["spec"] == {"weight": 7}
    patched = custom.patch_namespaced_custom_object(*place, "one", {"spec": {"weight": 3}})
    assert patched["spec"] == {"weight": 3}
    custom.patch_namespaced_custom_object_status(*place, "one", {"status": {"used": 2}})
    (found,) = custom.list_namespaced_custom_object(*place)["items"]
    assert (found["spec"], found["status"]) == ({"weight": 3}, {"used": 2})
    with pytest.raises(kubernetes.client.ApiException) as refused:
        custom.patch_namespaced_custom_object(*place, "one", {"spec": {"weight": "many"}})
    assert refused.value.status == 422
    custom.delete_namespaced_custom_object(*place, "one")
    assert custom.list_namespaced_custom_object(*place)["items"] == []


@pytest.mark.slow
def test_the_dynamic_client_discovers_and_applies(
    client: Any, namespace: str, tmp_path: Path
) -> None:
    dynamic = kubernetes.dynamic.DynamicClient(client, cache_file=str(tmp_path / "discovery"))
    config_maps = dynamic.resources.get(api_version="v1", kind="ConfigMap")
    queues = dynamic.resources.get(api_version=f"{GROUP}/v1", kind="Queue")
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": namespace},
        "data": {"a": "1"},
    }

    applied = config_maps.server_side_apply(body, field_manager="me")
    assert applied.metadata.managedFields[0].manager == "me"
    queues.create(QUEUE, namespace=namespace)
    assert [each.metadata.name for each in queues.get(namespace=namespace).items] == ["one"]
    first = next(iter(queues.watch(namespace=namespace, timeout=int(PATIENCE_S))))
    assert (first["type"], first["object"].metadata.name) == ("ADDED", "one")


# --- kubernetes_asyncio --------------------------------------------------------------------------


@asynccontextmanager
async def connected(server: RunningServer) -> AsyncIterator[Any]:
    configuration = kubernetes_asyncio.client.Configuration()
    await kubernetes_asyncio.config.load_kube_config(
        config_file=str(server.kubeconfig), client_configuration=configuration
    )
    async with kubernetes_asyncio.client.ApiClient(configuration) as found:
        yield found
    # The library forgets a watch that is left: its TLS goodbye takes a round trip more.
    loop: Any = asyncio.get_running_loop()
    await wait_in_loop(
        lambda: not any(each._sock is not None for each in loop._transports.values())
    )


def test_the_async_library_lists_patches_binds_and_evicts(
    server: RunningServer, namespace: str
) -> None:
    async def run() -> None:
        async with connected(server) as client:
            core = kubernetes_asyncio.client.CoreV1Api(client)
            await asyncio.gather(
                *(core.create_namespaced_pod(namespace, pod(f"p{n}")) for n in range(20))
            )
            first = await core.list_namespaced_pod(namespace, limit=15)
            rest = await core.list_namespaced_pod(namespace, _continue=first.metadata._continue)
            assert len({*names(first), *names(rest)}) == 20
            change = {"metadata": {"labels": {"a": "b"}}}
            patched = await core.patch_namespaced_pod("p1", namespace, change)
            assert patched.metadata.labels == {"a": "b"}
            status = {"status": {"nominatedNodeName": "n1"}}
            told = await core.patch_namespaced_pod_status("p1", namespace, status)
            assert told.status.nominated_node_name == "n1"
            binding = {"metadata": {"name": "p1"}, "target": {"kind": "Node", "name": "n1"}}
            bound = await core.create_namespaced_pod_binding(
                "p1", namespace, binding, _preload_content=False
            )
            assert bound.status == 201
            found = await core.read_namespaced_pod("p1", namespace)
            assert found.spec.node_name == "n1"
            await core.create_namespaced_pod_eviction("p2", namespace, {"metadata": {"name": "p2"}})
            with pytest.raises(kubernetes_asyncio.client.ApiException) as gone:
                await core.read_namespaced_pod("p2", namespace)
            assert gone.value.status == 404

    asyncio.run(run())


@pytest.mark.slow
def test_the_async_library_watches_and_resumes(server: RunningServer, namespace: str) -> None:
    async def watched(core: Any, revision: str, most: int) -> list[Any]:
        seen: list[Any] = []
        async with kubernetes_asyncio.watch.Watch() as watch:
            stream = watch.stream(
                core.list_namespaced_pod,
                namespace,
                resource_version=revision,
                timeout_seconds=int(PATIENCE_S),
            )
            async for event in stream:
                seen.append((event["type"], event["object"].metadata))
                if len(seen) == most:
                    break
        return seen

    async def run() -> None:
        async with connected(server) as client:
            core = kubernetes_asyncio.client.CoreV1Api(client)
            start = (await core.list_namespaced_pod(namespace)).metadata.resource_version
            for name in "abc":
                await core.create_namespaced_pod(namespace, pod(name))
            first = await watched(core, start, 2)
            rest = await watched(core, first[-1][1].resource_version, 1)
            assert [(kind, metadata.name) for kind, metadata in first + rest] == [
                ("ADDED", "a"),
                ("ADDED", "b"),
                ("ADDED", "c"),
            ]

    asyncio.run(run())


@pytest.mark.slow
def test_the_async_library_handles_custom_objects(server: RunningServer, namespace: str) -> None:
    async def run() -> None:
        async with connected(server) as client:
            custom = kubernetes_asyncio.client.CustomObjectsApi(client)
            place = (GROUP, "v1", namespace, "queues")
            created = await custom.create_namespaced_custom_object(*place, QUEUE)
            assert created["spec"] == {"weight": 7}
            await custom.delete_namespaced_custom_object(*place, "one")
            assert (await custom.list_namespaced_custom_object(*place))["items"] == []

    asyncio.run(run())
