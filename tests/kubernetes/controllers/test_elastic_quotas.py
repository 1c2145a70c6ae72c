"""What an ElasticQuota's status says is used."""

from podium.kubernetes.controllers.elastic_quotas import elastic_quota_used

QUOTA = {"spec": {"min": {"cpu": "1"}, "max": {"cpu": "4", "example.com/gpu": "2"}}}


def pod(phase: str, **requests: str) -> dict[str, object]:
    return {
        "spec": {"containers": [{"resources": {"requests": requests}}]},
        "status": {"phase": phase},
    }


def test_running_pods_count_and_every_named_resource_is_there() -> None:
    pods = [
        pod("Running", cpu="500m", memory="1Gi"),
        pod("Running", cpu="1"),
        pod("Pending", cpu="1"),
    ]
    assert elastic_quota_used(QUOTA, pods) == {
        "cpu": "1500m",
        "memory": "1Gi",
        "example.com/gpu": "0",
    }


def test_overhead_and_init_containers_count() -> None:
    large = pod("Running", cpu="1")
    large["spec"] = {
        "containers": [{"resources": {"requests": {"cpu": "1"}}}],
        "initContainers": [{"resources": {"requests": {"cpu": "2"}}}],
        "overhead": {"cpu": "100m"},
    }
    assert elastic_quota_used({"spec": {}}, [large]) == {"cpu": "2100m"}


def test_a_namespace_without_pods_uses_nothing() -> None:
    assert elastic_quota_used(QUOTA, []) == {"cpu": "0", "example.com/gpu": "0"}
