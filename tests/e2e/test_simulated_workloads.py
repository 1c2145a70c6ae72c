"""Workloads in a simulated cluster, server and all, in virtual time."""

from support.live.virtual_loop import sleep_virtually
from support.simulated.simulated_clusters import (
    Cluster,
    in_cluster,
    pod_spec,
    template,
    workload,
)

from podium.client import DeleteOptions, ResourceType
from podium.client.resources import (
    CONTROLLER_REVISIONS,
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
    STORAGE_CLASSES,
)

CONFIG_MAPS = ResourceType("", "v1", "configmaps", "ConfigMap")


async def ready(cluster: Cluster, app: str) -> int:
    found = await cluster.all(PODS, f"app={app}")
    return sum(
        any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"]["conditions"])
        for pod in found
        if pod["status"].get("conditions") and "deletionTimestamp" not in pod["metadata"]
    )


def test_a_deployment_comes_up_scales_and_rolls_out() -> None:
    async def scenario(cluster: Cluster) -> None:
        await cluster.create(DEPLOYMENTS, workload("web", 4))

        async def available(count: int) -> bool:
            found = await cluster.get(DEPLOYMENTS, "web")
            status = found["status"]
            complete = status.get("observedGeneration") == found["metadata"]["generation"]
            counts = {status.get(f"{each}Replicas", 0) for each in ("updated", "available")}
            return complete and counts == {count} and status.get("replicas", 0) == count

        took_s = await cluster.until(lambda: available(4))
        assert 1 <= took_s < 4
        await cluster.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 2}})
        await cluster.until(lambda: available(2))
        (first,) = await cluster.all(REPLICA_SETS)
        image = {"containers": [{"name": "c", "image": "nginx:2"}]}
        body = {"spec": {"template": {"spec": image}}}
        await cluster.patch(DEPLOYMENTS, "web", body)
        await cluster.until(lambda: available(2))
        sets = {each["metadata"]["name"]: each for each in await cluster.all(REPLICA_SETS)}
        assert len(sets) == 2
        assert sets.pop(first["metadata"]["name"])["spec"]["replicas"] == 0

        async def gone() -> bool:
            return len(await cluster.all(PODS)) == 2

        await cluster.until(gone)
        images = {pod["spec"]["containers"][0]["image"] for pod in await cluster.all(PODS)}
        assert images == {"nginx:2"}
        done = await cluster.get(DEPLOYMENTS, "web")
        assert done["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "2"
        conditions = {c["type"]: c["reason"] for c in done["status"]["conditions"]}
        assert conditions["Progressing"] == "NewReplicaSetAvailable"

    in_cluster(scenario)


def test_a_replication_controller_keeps_its_number_of_pods() -> None:
    async def scenario(cluster: Cluster) -> None:
        spec = {"replicas": 2, "selector": {"app": "old"}, "template": template("old")}
        body = {"metadata": {"name": "old"}, "spec": spec}
        await cluster.create(REPLICATION_CONTROLLERS, body)

        async def both() -> bool:
            return await ready(cluster, "old") == 2

        await cluster.until(both)
        victim = (await cluster.all(PODS))[0]["metadata"]["name"]
        await cluster.client.delete(PODS, victim, "default")

        async def replaced() -> bool:
            return await both() and not await cluster.exists(PODS, victim)

        await cluster.until(replaced)

    in_cluster(scenario)


def test_a_stateful_set_starts_in_order_with_volumes_of_its_own() -> None:
    async def scenario(cluster: Cluster) -> None:
        storage = {
            "metadata": {"name": "fast"},
            "provisioner": "csi.example.com",
            "volumeBindingMode": "WaitForFirstConsumer",
        }
        await cluster.create(STORAGE_CLASSES, storage)
        claim = {
            "metadata": {"name": "data"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "fast",
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }
        body = workload("db", 3, serviceName="db", volumeClaimTemplates=[claim])
        await cluster.create(STATEFUL_SETS, body)

        async def all_ready() -> bool:
            return await ready(cluster, "db") == 3

        took_s = await cluster.until(all_ready)
        assert took_s >= 3, "one after the other"
        claims = await cluster.all(PERSISTENT_VOLUME_CLAIMS)
        assert {each["metadata"]["name"] for each in claims} == {f"data-db-{i}" for i in range(3)}
        assert {each["status"]["phase"] for each in claims} == {"Bound"}
        volumes = await cluster.all(PERSISTENT_VOLUMES)
        assert {each["status"]["phase"] for each in volumes} == {"Bound"}
        await cluster.patch(STATEFUL_SETS, "db", {"spec": {"replicas": 1}})

        async def shrunk() -> bool:
            return len(await cluster.all(PODS)) == 1

        await cluster.until(shrunk)
        assert len(await cluster.all(PERSISTENT_VOLUME_CLAIMS)) == 3
        await cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, "data-db-2", "default")

        async def reclaimed() -> bool:
            return len(await cluster.all(PERSISTENT_VOLUMES)) == 2

        await cluster.until(reclaimed)
        image = {"containers": [{"name": "c", "image": "db:2"}]}
        await cluster.patch(STATEFUL_SETS, "db", {"spec": {"template": {"spec": image}}})

        async def updated() -> bool:
            status = (await cluster.get(STATEFUL_SETS, "db"))["status"]
            return bool(status["currentRevision"] == status["updateRevision"]) and (
                len(await cluster.all(CONTROLLER_REVISIONS)) == 2
            )

        await cluster.until(updated)
        (pod,) = await cluster.all(PODS)
        assert pod["spec"]["containers"][0]["image"] == "db:2"

    in_cluster(scenario)


def test_claims_go_with_the_pods_and_the_set_that_a_retention_policy_names() -> None:
    async def scenario(cluster: Cluster) -> None:
        storage = {"metadata": {"name": "fast"}, "provisioner": "csi.example.com"}
        await cluster.create(STORAGE_CLASSES, storage)
        claim = {
            "metadata": {"name": "data"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "fast",
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }
        policy = {"whenDeleted": "Delete", "whenScaled": "Delete"}
        made = workload("db", 2)
        made["spec"] |= {
            "serviceName": "db",
            "volumeClaimTemplates": [claim],
            "persistentVolumeClaimRetentionPolicy": policy,
        }
        await cluster.create(STATEFUL_SETS, made)

        async def claims() -> dict[str, list[str]]:
            return {
                each["metadata"]["name"]: [
                    owner["kind"] for owner in each["metadata"].get("ownerReferences") or ()
                ]
                for each in await cluster.all(PERSISTENT_VOLUME_CLAIMS)
            }

        async def are(expected: dict[str, list[str]]) -> bool:
            return await claims() == expected

        both = {"data-db-0": ["StatefulSet"], "data-db-1": ["StatefulSet"]}
        await cluster.until(lambda: are(both))
        await cluster.patch(STATEFUL_SETS, "db", {"spec": {"replicas": 1}})
        await cluster.until(lambda: are({"data-db-0": ["StatefulSet"]}))
        await cluster.patch(STATEFUL_SETS, "db", {"spec": {"replicas": 2}})
        await cluster.until(lambda: are(both))
        await cluster.client.delete(STATEFUL_SETS, "db", "default")
        await cluster.until(lambda: are({}))

    in_cluster(scenario)


def test_a_claim_in_use_outlives_its_deletion() -> None:
    async def scenario(cluster: Cluster) -> None:
        volume = {
            "metadata": {"name": "disk"},
            "spec": {
                "capacity": {"storage": "5Gi"},
                "accessModes": ["ReadWriteOnce"],
                "hostPath": {"path": "/x"},
            },
        }
        await cluster.create(PERSISTENT_VOLUMES, volume)
        claim = {
            "metadata": {"name": "data"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "",
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }
        await cluster.create(PERSISTENT_VOLUME_CLAIMS, claim)
        volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
        user = {"metadata": {"name": "user"}, "spec": pod_spec(volumes=volumes)}
        await cluster.create(PODS, user)

        async def running() -> bool:
            return bool((await cluster.get(PODS, "user"))["status"]["phase"] == "Running")

        await cluster.until(running)
        await cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, "data", "default")
        await cluster.until(running)
        assert await cluster.exists(PERSISTENT_VOLUME_CLAIMS, "data")
        await cluster.client.delete(PODS, "user", "default")

        async def gone() -> bool:
            return not await cluster.exists(PERSISTENT_VOLUME_CLAIMS, "data")

        await cluster.until(gone)

        async def released() -> bool:
            found = await cluster.get(PERSISTENT_VOLUMES, "disk")
            return bool(found["status"]["phase"] == "Released")

        await cluster.until(released)

    in_cluster(scenario)


def test_a_daemon_set_follows_the_nodes() -> None:
    async def scenario(cluster: Cluster) -> None:
        await cluster.create(DAEMON_SETS, workload("agent"))

        async def on_nodes(count: int) -> bool:
            pods = await cluster.all(PODS, "app=agent")
            nodes = {pod["spec"].get("nodeName") for pod in pods}
            return await ready(cluster, "agent") == count == len(pods) == len(nodes)

        await cluster.until(lambda: on_nodes(3))
        fresh = {
            "metadata": {"name": "late", "labels": {"podium.dev/simulated": "true"}},
            "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
        }
        await cluster.create(NODES, fresh)
        await cluster.until(lambda: on_nodes(4))
        await cluster.client.delete(NODES, "late")
        await cluster.until(lambda: on_nodes(3))

    in_cluster(scenario)


def test_a_job_runs_to_completion_and_vanishes_after_its_time() -> None:
    async def scenario(cluster: Cluster) -> None:
        run = {"podium.dev/run-seconds": "5"}
        spec = {
            "completions": 4,
            "parallelism": 2,
            "ttlSecondsAfterFinished": 30,
            "template": template("sum", run, restartPolicy="Never"),
        }
        await cluster.create(JOBS, {"metadata": {"name": "sum"}, "spec": spec})

        async def complete() -> bool:
            status = (await cluster.get(JOBS, "sum"))["status"]
            return any(c["type"] == "Complete" for c in status.get("conditions", ()))

        took_s = await cluster.until(complete)
        assert 12 <= took_s < 20
        status = (await cluster.get(JOBS, "sum"))["status"]
        assert status["succeeded"] == 4
        assert status.get("uncountedTerminatedPods", {}) == {}
        pods = await cluster.all(PODS)
        assert {pod["status"]["phase"] for pod in pods} == {"Succeeded"}
        assert not any(pod["metadata"].get("finalizers") for pod in pods)

        async def vanished() -> bool:
            return not await cluster.exists(JOBS, "sum") and not await cluster.all(PODS)

        assert await cluster.until(vanished) > 25

    in_cluster(scenario)


def test_a_job_that_keeps_failing_is_given_up_after_growing_pauses() -> None:
    async def scenario(cluster: Cluster) -> None:
        fail = {"podium.dev/run-seconds": "1", "podium.dev/result": "Failed"}
        spec = {"backoffLimit": 2, "template": template("bad", fail, restartPolicy="Never")}
        await cluster.create(JOBS, {"metadata": {"name": "bad"}, "spec": spec})

        async def failed() -> bool:
            status = (await cluster.get(JOBS, "bad"))["status"]
            return any(c["type"] == "Failed" for c in status.get("conditions", ()))

        took_s = await cluster.until(failed)
        assert took_s > 10 + 20
        status = (await cluster.get(JOBS, "bad"))["status"]
        assert status["failed"] == 3
        reasons = {c["type"]: c["reason"] for c in status["conditions"]}
        assert reasons["Failed"] == "BackoffLimitExceeded"

    in_cluster(scenario)


def test_deleting_a_deployment_takes_everything_with_it() -> None:
    async def scenario(cluster: Cluster) -> None:
        for name, how in (("front", "Foreground"), ("back", "Background"), ("left", "Orphan")):
            await cluster.create(DEPLOYMENTS, workload(name, 2))

            async def up(app: str = name) -> bool:
                return await ready(cluster, app) == 2

            await cluster.until(up)
            options = DeleteOptions(propagation=how)
            await cluster.client.delete(DEPLOYMENTS, name, "default", options)

        async def settled() -> bool:
            sets = {each["metadata"]["labels"]["app"] for each in await cluster.all(REPLICA_SETS)}
            pods = {each["metadata"]["labels"]["app"] for each in await cluster.all(PODS)}
            return sets == pods == {"left"} and not await cluster.all(DEPLOYMENTS)

        await cluster.until(settled)
        (orphan,) = await cluster.all(REPLICA_SETS)
        assert "ownerReferences" not in orphan["metadata"]
        assert await ready(cluster, "left") == 2

    in_cluster(scenario)


def test_kinds_that_are_defined_later_own_things_too() -> None:
    async def scenario(cluster: Cluster) -> None:
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        version = {"name": "v1", "served": True, "storage": True}
        definition = {
            "metadata": {"name": "shops.example.com"},
            "spec": {
                "group": "example.com",
                "scope": "Namespaced",
                "names": {"plural": "shops", "singular": "shop", "kind": "Shop"},
                "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
            },
        }
        definitions = ResourceType(
            "apiextensions.k8s.io",
            "v1",
            "customresourcedefinitions",
            "CustomResourceDefinition",
            namespaced=False,
        )
        await cluster.create(definitions, definition)
        shops = ResourceType("example.com", "v1", "shops", "Shop")
        body = {"apiVersion": "example.com/v1", "kind": "Shop", "metadata": {"name": "corner"}}
        shop = await cluster.create(shops, body)
        owner = {
            "apiVersion": "example.com/v1",
            "kind": "Shop",
            "name": "corner",
            "uid": shop["metadata"]["uid"],
        }
        settings = ResourceType("", "v1", "configmaps", "ConfigMap")
        owned = {"metadata": {"name": "hours", "ownerReferences": [owner]}}
        await cluster.create(settings, owned)
        await sleep_virtually(45)
        assert await cluster.exists(settings, "hours")
        await cluster.client.delete(shops, "corner", "default")

        async def gone() -> bool:
            return not await cluster.exists(settings, "hours")

        await cluster.until(gone, within_s=10)

    in_cluster(scenario, nodes=0)


def test_a_circle_of_owners_that_is_deleted_in_the_foreground_ends() -> None:
    async def scenario(cluster: Cluster) -> None:
        names = ("a", "b", "c")
        made = {}
        for name in names:
            body = {"metadata": {"name": name}, "data": {}}
            made[name] = await cluster.create(CONFIG_MAPS, body)
        for name, owner in zip(names, (*names[1:], names[0]), strict=True):
            reference = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "name": owner,
                "uid": made[owner]["metadata"]["uid"],
                "blockOwnerDeletion": True,
            }
            await cluster.patch(CONFIG_MAPS, name, {"metadata": {"ownerReferences": [reference]}})
        options = DeleteOptions(propagation="Foreground")
        await cluster.client.delete(CONFIG_MAPS, "a", "default", options)

        async def gone() -> bool:
            left = {each["metadata"]["name"] for each in await cluster.all(CONFIG_MAPS)}
            return not left & set(names)

        await cluster.until(gone)

    in_cluster(scenario, nodes=0)
