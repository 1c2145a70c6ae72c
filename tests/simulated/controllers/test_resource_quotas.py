"""Resource quotas: their status follows what is in their namespace."""

from typing import Any

from support.simulated.controller_objects import build, patches

from podium.kubernetes.controllers.controller import Plan
from podium.kubernetes.kinds.workloads import ResourceQuota
from podium.kubernetes.rules.quota_usage import CLAIMS, PODS, SERVICES, Counted, kinds_of
from podium.simulated.controllers.resource_quotas import decide

CONFIG_MAPS = Counted("", "configmaps")


def quota(hard: dict[str, str], **fields: Any) -> ResourceQuota:
    return build(ResourceQuota, "q", spec={"hard": hard, **fields.pop("spec", {})}, **fields)


def pod(cpu: str, phase: str = "Running", **metadata: Any) -> dict[str, Any]:
    containers = [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]
    return {"metadata": metadata, "spec": {"containers": containers}, "status": {"phase": phase}}


def written(of: ResourceQuota, now_s: float = 0, **contents: Any) -> Any:
    kinds = {"pods": PODS, "services": SERVICES, "claims": CLAIMS, "maps": CONFIG_MAPS}
    found = decide(of, {kinds[name]: objects for name, objects in contents.items()}, now_s)
    return [patch.body["status"] for patch in patches(Plan(found))]


def test_what_is_used_is_added_up_and_told_once() -> None:
    hard = {"pods": "5", "requests.cpu": "2", "configmaps": "3"}
    pods = [pod("500m"), pod("1"), pod("9", "Succeeded")]
    used = {"pods": "2", "requests.cpu": "1500m", "configmaps": "1"}
    (status,) = written(quota(hard), pods=pods, maps=[{}])
    assert status == {"hard": hard, "used": used}
    assert written(quota(hard, status=status), pods=pods, maps=[{}]) == []


def test_amounts_that_are_limited_no_more_leave_the_status() -> None:
    known = {"hard": {"pods": "5", "secrets": "1"}, "used": {"pods": "0", "secrets": "0"}}
    (status,) = written(quota({"pods": "5"}, status=known), pods=[])
    assert status == {
        "hard": {"pods": "5", "secrets": None},
        "used": {"pods": "0", "secrets": None},
    }


def test_pods_whose_grace_period_is_over_are_not_charged() -> None:
    gone = pod("1", deletionTimestamp="2027-01-15T08:00:00Z", deletionGracePeriodSeconds=30)
    hard = {"pods": "5", "count/pods": "5"}
    (before,) = written(quota(hard), now_s=1_800_000_010, pods=[gone])
    assert before["used"] == {"pods": "1", "count/pods": "1"}
    (after,) = written(quota(hard), now_s=1_800_000_031, pods=[gone])
    assert after["used"] == {"pods": "0", "count/pods": "1"}


def test_a_scope_leaves_others_out() -> None:
    deadline = pod("1")
    deadline["spec"]["activeDeadlineSeconds"] = 5
    of = quota({"pods": "5"}, spec={"scopes": ["NotTerminating"]})
    (status,) = written(of, pods=[pod("1"), deadline])
    assert status["used"] == {"pods": "1"}


def test_names_tell_which_kinds_to_look_at() -> None:
    assert kinds_of(["requests.nvidia.com/gpu", "hugepages-2Mi"]) == {PODS}
    assert kinds_of(["services.nodeports", "count/pods"]) == {SERVICES, PODS}
    assert kinds_of(["gold.storageclass.storage.k8s.io/persistentvolumeclaims"]) == {CLAIMS}
    assert kinds_of(["count/deployments.apps"]) == {Counted("apps", "deployments")}
