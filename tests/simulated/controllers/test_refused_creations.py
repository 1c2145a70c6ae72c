"""What a cluster does while the server refuses what its controllers want to make."""

import logging
from collections import Counter
from typing import Any

import pytest
from support.live.virtual_loop import sleep_virtually
from support.simulated.simulated_clusters import (
    Cluster,
    in_cluster,
    pod_spec,
    template,
    workload,
)

from podium.client import ResourceType
from podium.client.resources import (
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    EVENTS,
    JOBS,
    NAMESPACES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    RESOURCE_CLAIM_TEMPLATES,
    RESOURCE_QUOTAS,
    SERVICES,
    STATEFUL_SETS,
)

NAMESPACE = "tight"


async def tighten(cluster: Cluster, hard: dict[str, str]) -> None:
    """A namespace with a quota whose use is known."""
    await cluster.create(NAMESPACES, {"metadata": {"name": NAMESPACE}})
    quota = {"metadata": {"name": "q"}, "spec": {"hard": hard}}
    await cluster.create(RESOURCE_QUOTAS, quota, NAMESPACE)

    async def is_reckoned() -> bool:
        found = await cluster.get(RESOURCE_QUOTAS, "q", NAMESPACE)
        return "used" in found.get("status", {})

    await cluster.until(is_reckoned)


async def events(cluster: Cluster, kind: str) -> list[Any]:
    every = await cluster.all(EVENTS)
    return [each for each in every if each["involvedObject"]["kind"] == kind]


def count_tries(events: list[Any]) -> int:
    """Events that repeat are one with a count."""
    return sum(each.get("count") or 1 for each in events)


def condition(obj: Any, type_: str) -> Any:
    found = obj.get("status", {}).get("conditions", ())
    return next((each for each in found if each["type"] == type_), None)


def test_a_deployment_over_a_quota_says_so_once_and_counts_the_pods_it_has(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(cluster: Cluster) -> None:
        await tighten(cluster, {"pods": "1"})
        await cluster.create(DEPLOYMENTS, workload("web", 3), NAMESPACE)
        await sleep_virtually(60)
        (found,) = await cluster.all(REPLICA_SETS)
        failure = condition(found, "ReplicaFailure")
        assert failure["reason"] == "FailedCreate"
        assert "exceeded quota: q, requested: pods=1, used: pods=1" in failure["message"]
        counts = {"replicas": 1, "readyReplicas": 1, "availableReplicas": 1}
        assert counts.items() <= found["status"].items()
        deployment = await cluster.get(DEPLOYMENTS, "web", NAMESPACE)
        copied = condition(deployment, "ReplicaFailure")
        assert {**copied, "lastUpdateTime": None} == {**failure, "lastUpdateTime": None}
        assert {**counts, "unavailableReplicas": 2}.items() <= deployment["status"].items()
        failures = await events(cluster, "ReplicaSet")
        assert {each["reason"] for each in failures} == {"FailedCreate"}
        starts = Counter(each["message"].partition('pods "web-')[0] for each in failures)
        alike = "(combined from similar events): Error creating: "
        assert starts == {"Error creating: ": 9, alike: 1}
        assert failures[0]["source"] == {"component": "replicaset-controller"}
        # Each try counts: 5 ms, 10 ms and so on are 14 tries within 60 s, and what wakes the set
        # besides (its pod starts, its status is written) is a handful more.
        tries = count_tries(failures)
        assert 10 < tries < 25

        await sleep_virtually(200)
        assert await cluster.all(REPLICA_SETS) == [found]
        later = await events(cluster, "ReplicaSet")
        assert len(later) == len(failures)
        assert tries < count_tries(later) < tries + 6
        (combined,) = (each for each in later if each["message"].startswith(alike))
        assert combined["firstTimestamp"] < combined["lastTimestamp"]

        await cluster.patch(RESOURCE_QUOTAS, "q", {"spec": {"hard": {"pods": "9"}}}, NAMESPACE)

        async def is_complete() -> bool:
            deployment = await cluster.get(DEPLOYMENTS, "web", NAMESPACE)
            return bool(deployment["status"].get("availableReplicas") == 3)

        await cluster.until(is_complete, within_s=1200)
        for resource, name in ((DEPLOYMENTS, "web"), (REPLICA_SETS, found["metadata"]["name"])):
            assert condition(await cluster.get(resource, name, NAMESPACE), "ReplicaFailure") is None

    with caplog.at_level(logging.WARNING):
        in_cluster(scenario)
    told = [each.getMessage() for each in caplog.records if "exceeded quota" in each.getMessage()]
    (line,) = told
    assert line.startswith("replicasets: tight/web-")
    assert line.endswith("; again in 0.16 s")


def claim_template() -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"name": "data"}, "spec": spec}


def ephemeral_pod() -> dict[str, Any]:
    volume = {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": claim_template()["spec"]}}}
    return {"metadata": {"name": "scratch"}, "spec": pod_spec(volumes=[volume])}


def pod_with_device() -> dict[str, Any]:
    claims = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    return {"metadata": {"name": "device"}, "spec": pod_spec(resourceClaims=claims)}


def device_template() -> dict[str, Any]:
    requests = [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]
    return {"metadata": {"name": "gpu"}, "spec": {"spec": {"devices": {"requests": requests}}}}


def job(name: str, **spec: Any) -> dict[str, Any]:
    pods = {"spec": pod_spec(restartPolicy="Never")}
    return {"metadata": {"name": name}, "spec": {"template": pods, **spec}}


def cron_job() -> dict[str, Any]:
    spec = {"schedule": "* * * * *", "jobTemplate": {"spec": job("")["spec"]}}
    return {"metadata": {"name": "cron"}, "spec": spec}


def old_workload() -> dict[str, Any]:
    spec = {"replicas": 2, "selector": {"app": "old"}, "template": template("old")}
    return {"metadata": {"name": "old"}, "spec": spec}


def service() -> dict[str, Any]:
    spec = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
    return {"metadata": {"name": "front"}, "spec": spec}


REFUSED: list[tuple[ResourceType, dict[str, Any], dict[str, str], str]] = [
    (REPLICA_SETS, workload("web", 3), {"pods": "0"}, "FailedCreate"),
    (REPLICATION_CONTROLLERS, old_workload(), {"pods": "0"}, "FailedCreate"),
    (DEPLOYMENTS, workload("web", 3), {"count/replicasets.apps": "0"}, "ReplicaSetCreateError"),
    (DAEMON_SETS, workload("web"), {"pods": "1"}, "FailedCreate"),
    (
        STATEFUL_SETS,
        workload("web", 3, podManagementPolicy="Parallel"),
        {"pods": "1"},
        "FailedCreate",
    ),
    (
        STATEFUL_SETS,
        workload("web", 3, volumeClaimTemplates=[claim_template()]),
        {"persistentvolumeclaims": "0"},
        "FailedCreate",
    ),
    (JOBS, job("work", parallelism=3), {"pods": "1"}, "FailedCreate"),
    (CRON_JOBS, cron_job(), {"count/jobs.batch": "0"}, "FailedCreate"),
    (PODS, ephemeral_pod(), {"persistentvolumeclaims": "0"}, ""),
    (PODS, pod_with_device(), {"count/resourceclaims.resource.k8s.io": "0"}, ""),
    (SERVICES, service(), {"count/endpoints": "0"}, ""),
    (SERVICES, service(), {"count/endpointslices.discovery.k8s.io": "0"}, ""),
]


@pytest.mark.parametrize(
    ("resource", "body", "hard", "reason"),
    REFUSED,
    ids=[f"{each[0].plural}-{'-'.join(each[2])}" for each in REFUSED],
)
def test_what_is_refused_is_tried_ever_more_seldom_and_written_of_once(
    resource: ResourceType,
    body: dict[str, Any],
    hard: dict[str, str],
    reason: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(cluster: Cluster) -> None:
        await tighten(cluster, hard)
        if resource == PODS:
            await cluster.create(RESOURCE_CLAIM_TEMPLATES, device_template(), NAMESPACE)
        name = (await cluster.create(resource, body, NAMESPACE))["metadata"]["name"]
        kinds = (resource, PODS, PERSISTENT_VOLUME_CLAIMS, RESOURCE_QUOTAS)
        await sleep_virtually(90)
        before = [await cluster.all(each) for each in kinds]
        obj = await cluster.get(resource, name, NAMESPACE)
        tries = count_tries(await events(cluster, obj["kind"]))
        await sleep_virtually(150)
        assert [await cluster.all(each) for each in kinds] == before
        more = await events(cluster, obj["kind"])
        if reason:
            assert {each["reason"] for each in more} == {reason}
            assert "exceeded quota: q" in more[0]["message"]
            assert 5 < tries <= 30
        assert count_tries(more) - tries <= 3
        assert len(more) <= 10

    with caplog.at_level(logging.WARNING):
        in_cluster(scenario, nodes=2)
    told = [each.getMessage() for each in caplog.records if "exceeded quota" in each.getMessage()]
    assert len(told) == 1


def test_counts_of_workloads_are_written_although_more_pods_are_refused() -> None:
    async def scenario(cluster: Cluster) -> None:
        await tighten(cluster, {"pods": "1"})
        await cluster.create(DAEMON_SETS, workload("web"), NAMESPACE)
        await sleep_virtually(60)
        found = await cluster.get(DAEMON_SETS, "web", NAMESPACE)
        wanted = {"desiredNumberScheduled": 3, "currentNumberScheduled": 1, "numberReady": 1}
        assert wanted.items() <= found["status"].items()

    in_cluster(scenario)


def test_a_job_counts_pods_that_have_ended_while_others_are_refused() -> None:
    async def scenario(cluster: Cluster) -> None:
        await tighten(cluster, {"pods": "1"})
        pods = template("work", {"podium.dev/run-seconds": "20"}, restartPolicy="Never")
        spec = {"template": pods, "parallelism": 2, "completions": 3}
        await cluster.create(JOBS, {"metadata": {"name": "work"}, "spec": spec}, NAMESPACE)

        async def is_complete() -> bool:
            return bool(condition(await cluster.get(JOBS, "work", NAMESPACE), "Complete"))

        await cluster.until(is_complete, within_s=600)
        found = await cluster.get(JOBS, "work", NAMESPACE)
        assert found["status"]["succeeded"] == 3

    in_cluster(scenario)


def test_nothing_is_tried_again_in_a_namespace_that_goes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(cluster: Cluster) -> None:
        await cluster.create(NAMESPACES, {"metadata": {"name": NAMESPACE}})
        await cluster.create(REPLICA_SETS, workload("web", 2), NAMESPACE)
        await sleep_virtually(30)
        # Nobody empties the namespace, so it stays as it is while it goes.
        await cluster.client.delete(NAMESPACES, NAMESPACE)
        pod, _ = await cluster.all(PODS)
        await cluster.client.delete(PODS, pod["metadata"]["name"], NAMESPACE)
        await sleep_virtually(120)
        assert len(await cluster.all(PODS)) == 1
        found = await cluster.get(REPLICA_SETS, "web", NAMESPACE)
        assert condition(found, "ReplicaFailure") is None
        assert await events(cluster, "ReplicaSet") == []

    with caplog.at_level(logging.WARNING):
        in_cluster(scenario, controllers=("replicasets", "serviceaccounts", "nodelifecycle"))
    assert "being terminated" not in caplog.text
