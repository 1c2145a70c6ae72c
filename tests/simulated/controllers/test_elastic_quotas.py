"""ElasticQuotas: their status follows the running pods of their namespace."""

from typing import Any

from support.simulated.controller_objects import build, patches

from podium.kubernetes.controllers.controller import NOTHING, CreateAction, Plan
from podium.kubernetes.controllers.elastic_quotas import decide
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.kinds.scheduler_plugins import ElasticQuota
from podium.kubernetes.rules.timestamps import Moment

NOW = Moment(0, 0)
SPEC = {"min": {"cpu": "2"}, "max": {"cpu": "4", "example.com/gpu": "1"}}


def quota(**fields: Any) -> ElasticQuota:
    return build(ElasticQuota, "team", **{"spec": SPEC, **fields})


def pod(name: str, cpu: str, phase: str = "Running") -> Pod:
    containers = [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]
    return build(Pod, name, spec={"containers": containers}, status={"phase": phase})


def written(plan: Plan) -> Any:
    return [patch.body["status"] for patch in patches(plan)]


def test_what_running_pods_request_is_written_and_told_of() -> None:
    plan = decide(quota(), [pod("a", "500m"), pod("b", "1"), pod("c", "1", "Pending")], NOW)
    assert written(plan) == [{"used": {"cpu": "1500m", "example.com/gpu": "0"}}]
    (event,) = [each.body for each in plan.actions if isinstance(each, CreateAction)]
    assert (event["type"], event["reason"]) == ("Normal", "Synced")
    assert event["message"] == "Elastic Quota ns/team synced successfully"
    assert event["source"] == {"component": "ElasticQuotaController"}
    assert event["involvedObject"]["kind"] == "ElasticQuota"


def test_equal_amounts_are_not_written_again_however_they_are_spelt() -> None:
    known = {"used": {"cpu": "1.5", "example.com/gpu": 0}}
    assert decide(quota(status=known), [pod("a", "1500m")], NOW) is NOTHING


def test_amounts_that_nobody_uses_and_no_bound_names_leave_the_status() -> None:
    known = {"used": {"cpu": "1", "memory": "1Gi", "example.com/gpu": "0"}}
    (status,) = written(decide(quota(status=known), [pod("a", "2")], NOW))
    assert status == {"used": {"cpu": "2", "memory": None, "example.com/gpu": "0"}}
