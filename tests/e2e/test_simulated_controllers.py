"""Controllers of a simulated cluster: virtual time for what takes long, kubectl for the whole."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.apiserver.kubectl_process import Kubectl, installed, required
from support.e2e.up_process import UpProcess, up
from support.live.virtual_loop import sleep_virtually
from support.simulated.simulated_clusters import (
    Cluster,
    in_cluster,
    pod_spec,
    template,
    workload,
)

from podium.client.api_errors import ApiError
from podium.client.resources import (
    CRON_JOBS,
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    ENDPOINTS,
    JOBS,
    NAMESPACES,
    PODS,
    RESOURCE_QUOTAS,
    SERVICE_ACCOUNTS,
    SERVICES,
)

HTTP = {"ports": [{"port": 80, "protocol": "TCP", "targetPort": 8080}]}


def test_every_namespace_has_its_service_account_and_takes_it_along() -> None:
    async def scenario(cluster: Cluster) -> None:
        await cluster.create(NAMESPACES, {"metadata": {"name": "shop"}})

        async def has_account() -> bool:
            return await cluster.exists(SERVICE_ACCOUNTS, "default", "shop")

        await cluster.until(has_account)
        assert await cluster.exists(SERVICE_ACCOUNTS, "default", "kube-system")
        await cluster.client.delete(SERVICE_ACCOUNTS, "default", "shop")
        await cluster.until(has_account)
        await cluster.client.delete(NAMESPACES, "shop")

        async def gone() -> bool:
            return not await cluster.exists(NAMESPACES, "shop")

        await cluster.until(gone)

    in_cluster(scenario, nodes=0)


def test_a_cron_job_runs_every_minute_and_keeps_three_of_its_jobs() -> None:
    async def scenario(cluster: Cluster) -> None:
        pod = {"restartPolicy": "Never", **pod_spec()}
        brief = {"metadata": {"annotations": {"podium.dev/run-seconds": "5"}}, "spec": pod}
        spec = {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": brief}}}
        await cluster.create(CRON_JOBS, {"metadata": {"name": "tick"}, "spec": spec})

        async def has_jobs() -> bool:
            return len(await cluster.all(JOBS)) >= 1

        await cluster.until(has_jobs)
        await sleep_virtually(5 * 60 + 20)
        jobs = [each for each in await cluster.all(JOBS) if each["status"].get("completionTime")]
        assert len(jobs) == 3
        status = (await cluster.get(CRON_JOBS, "tick"))["status"]
        assert status["lastSuccessfulTime"] > status["lastScheduleTime"]
        await cluster.patch(CRON_JOBS, "tick", {"spec": {"suspend": True}})
        await sleep_virtually(30)
        before = {each["metadata"]["name"] for each in await cluster.all(JOBS)}
        await sleep_virtually(180)
        assert {each["metadata"]["name"] for each in await cluster.all(JOBS)} == before

    in_cluster(scenario, nodes=1)


def test_a_quota_stops_a_deployment_until_there_is_room() -> None:
    async def scenario(cluster: Cluster) -> None:
        quota = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "2", "services": "0"}}}
        await cluster.create(RESOURCE_QUOTAS, quota)
        await cluster.create(DEPLOYMENTS, workload("web", 3))

        async def used(count: str) -> bool:
            status = (await cluster.get(RESOURCE_QUOTAS, "few"))["status"]
            return (status.get("used") or {}).get("pods") == count

        await cluster.until(lambda: used("2"))
        assert len(await cluster.all(PODS)) == 2
        with pytest.raises(ApiError, match="exceeded quota: few, requested: services=1"):
            await cluster.create(SERVICES, {"metadata": {"name": "web"}, "spec": HTTP})
        await cluster.patch(RESOURCE_QUOTAS, "few", {"spec": {"hard": {"pods": "5"}}})
        await cluster.until(lambda: used("3"))

    in_cluster(scenario)


def test_endpoints_follow_the_pods_of_a_service() -> None:
    async def scenario(cluster: Cluster) -> None:
        service = {"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, **HTTP}}
        await cluster.create(SERVICES, service)
        await cluster.create(DEPLOYMENTS, workload("web", 3))

        async def addresses(count: int) -> bool:
            if not await cluster.exists(ENDPOINTS, "web"):
                return False
            subsets = (await cluster.get(ENDPOINTS, "web")).get("subsets") or [{}]
            return len(subsets[0].get("addresses") or ()) == count

        await cluster.until(lambda: addresses(3))
        (one,) = await cluster.all(ENDPOINT_SLICES, "kubernetes.io/service-name=web")
        assert {each["conditions"]["ready"] for each in one["endpoints"]} == {True}
        assert {each["zone"] for each in one["endpoints"]} <= {"a", "b"}
        await cluster.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 1}})
        await cluster.until(lambda: addresses(1))
        await cluster.client.delete(SERVICES, "web", "default")

        async def gone() -> bool:
            slices = await cluster.all(ENDPOINT_SLICES, "kubernetes.io/service-name=web")
            return not slices and not await cluster.exists(ENDPOINTS, "web")

        await cluster.until(gone)

    in_cluster(scenario)


def test_a_job_takes_in_the_pods_that_another_left_behind() -> None:
    async def scenario(cluster: Cluster) -> None:
        orphan = {"metadata": {"name": "left", "labels": {"job": "sum"}}, "spec": pod_spec()}
        orphan["spec"]["restartPolicy"] = "Never"
        await cluster.create(PODS, orphan)
        spec = {
            "manualSelector": True,
            "selector": {"matchLabels": {"job": "sum"}},
            "template": {
                **template("sum", restartPolicy="Never"),
                "metadata": {"labels": {"job": "sum"}},
            },
        }
        await cluster.create(JOBS, {"metadata": {"name": "sum"}, "spec": spec})

        async def adopted() -> bool:
            found = await cluster.get(PODS, "left")
            return bool(found["metadata"].get("ownerReferences"))

        await cluster.until(adopted)
        await sleep_virtually(5)
        assert len(await cluster.all(PODS)) == 1

    in_cluster(scenario)


# --- through kubectl --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UpProcess]:
    with up(tmp_path_factory.mktemp("up"), "2", "--quiet", "--speed", "10") as running:
        yield running


@pytest.fixture
def kubectl(cluster: UpProcess, tmp_path: Path) -> Kubectl:
    release = max(installed(), default=None)
    program = required(release)
    assert release is not None
    return Kubectl(program, release, cluster.server.kubeconfig, tmp_path)


def test_kubectl_finds_what_the_controllers_keep(cluster: UpProcess, kubectl: Kubectl) -> None:
    def names(objects: list[Any]) -> set[str]:
        return {each["metadata"]["name"] for each in objects}

    kubectl("create", "namespace", "shop")
    cluster.until(
        "/api/v1/namespaces/shop/configmaps", lambda found: "kube-root-ca.crt" in names(found)
    )
    authority = kubectl.value("get", "configmap", "kube-root-ca.crt", "-n", "shop")
    assert authority["data"]["ca.crt"].startswith("-----BEGIN CERTIFICATE-----")
    assert "default" in kubectl("get", "serviceaccounts", "-n", "shop")
    shop = kubectl.within("shop")
    shop("create", "quota", "few", "--hard=pods=3,count/services=1,requests.cpu=1")
    shop("create", "deployment", "web", "--image=nginx", "--replicas=2", "--port=80")
    told = shop("run", "free", "--image=nginx", code=1)
    assert 'pods "free" is forbidden: failed quota: few: must specify' in told
    shop("set", "resources", "deployment", "web", "--requests=cpu=100m")
    shop("expose", "deployment", "web", "--port=80")
    refused = shop("expose", "deployment", "web", "--port=80", "--name=more", code=1)
    assert "exceeded quota: few, requested: count/services=1, used: count/services=1" in refused
    cluster.until(
        "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices",
        lambda found: any(len(each.get("endpoints") or ()) == 2 for each in found),
    )
    assert shop("get", "endpoints", "web").count(":80") == 2
    cluster.until(
        "/api/v1/namespaces/shop/resourcequotas",
        lambda found: found[0]["status"].get("used", {}).get("requests.cpu") == "200m",
    )
    assert "2/3" in shop("get", "quota", "few").replace("pods: ", "")
    shop("create", "cronjob", "tick", "--image=busybox", "--schedule=*/5 * * * *")
    shop("create", "job", "--from=cronjob/tick", "now", code=0)
    assert "*/5 * * * *" in shop("get", "cronjobs")
    kubectl("delete", "namespace", "shop")
    assert "shop" not in kubectl("get", "namespaces")
