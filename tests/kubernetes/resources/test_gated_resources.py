"""Resources and fields that only servers with open feature gates have."""

from typing import Any

import pytest
from support.apiserver.api_calls import Api

from podium.kubernetes.releases.feature_gates import FeatureGates

GROUPS = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups"
WORKLOADS = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/workloads"
GANG = {"gang": {"minCount": 2}}
OPTIONAL = {
    "schedulingConstraints": {"topology": [{"key": "zone"}]},
    "resourceClaims": [{"name": "gpu", "resourceClaimName": "g"}],
    "disruptionMode": "PodGroup",
    "priorityClassName": "high",
    "priority": 7,
}
FINER = ("DRAWorkloadResourceClaims", "TopologyAwareWorkloadScheduling", "WorkloadAwarePreemption")


def server(*gates: str) -> Api:
    needed = ("GenericWorkload", "GangScheduling") if gates else ()
    api = Api(gates=FeatureGates(dict.fromkeys((*needed, *gates), True)))
    high = {"metadata": {"name": "high"}, "value": 7}
    api.ask("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", high)
    return api


def created(api: Api, path: str, **spec: Any) -> Any:
    answer = api.ask("POST", path, {"metadata": {"name": "a"}, "spec": spec})
    assert answer.status == 201, answer.text
    return answer.body["spec"]


def test_pod_groups_are_served_behind_their_gate_only() -> None:
    closed, opened = server(), server("GenericWorkload")
    assert closed.ask("GET", "/apis/scheduling.k8s.io/v1alpha2").status == 404
    assert closed.ask("GET", GROUPS).status == 404
    found = opened.ask("GET", "/apis/scheduling.k8s.io/v1alpha2").body["resources"]
    assert [each["name"] for each in found] == ["podgroups", "podgroups/status", "workloads"]
    group = opened.ask("GET", "/apis/scheduling.k8s.io").body
    assert group["preferredVersion"]["version"] == "v1"
    assert [each["version"] for each in group["versions"]] == ["v1", "v1alpha2"]


def test_fields_whose_gates_are_closed_are_not_kept() -> None:
    api = server("GenericWorkload")
    group = created(api, GROUPS, schedulingPolicy=GANG, **OPTIONAL)
    assert group == {"schedulingPolicy": GANG, "podGroupTemplateRef": None, "disruptionMode": "Pod"}
    template = {"name": "t", "schedulingPolicy": GANG, **OPTIONAL}
    workload = created(api, WORKLOADS, podGroupTemplates=[template])
    kept = {"name": "t", "schedulingPolicy": GANG, "schedulingConstraints": None}
    assert workload == {"podGroupTemplates": [kept]}


def test_fields_whose_gates_are_open_are_kept() -> None:
    api = server(*FINER)
    group = created(api, GROUPS, schedulingPolicy=GANG, **OPTIONAL)
    assert {name: group[name] for name in OPTIONAL} == OPTIONAL
    template = {"name": "t", "schedulingPolicy": GANG, **OPTIONAL}
    assert created(api, WORKLOADS, podGroupTemplates=[template]) == {
        "podGroupTemplates": [template]
    }


def test_a_group_gets_the_priority_of_its_class() -> None:
    api = server(*FINER)
    assert created(api, GROUPS, schedulingPolicy=GANG, priorityClassName="high")["priority"] == 7
    spec = {"schedulingPolicy": GANG, "priorityClassName": "high", "priority": 8}
    refused = api.ask("POST", GROUPS, {"metadata": {"name": "b"}, "spec": spec})
    assert refused.status == 403
    assert (
        "priority set in the pod group (8) must match the priority computed (7)" in refused.message
    )


def test_a_group_that_was_made_with_an_open_gate_keeps_its_fields_when_it_is_closed() -> None:
    opened = server(*FINER)
    created(opened, GROUPS, schedulingPolicy=GANG, **OPTIONAL)
    closed = Api(opened.store, FeatureGates({"GenericWorkload": True}))
    found = closed.ask("GET", f"{GROUPS}/a").body
    found["metadata"]["labels"] = {"a": "b"}
    changed = closed.ask("PUT", f"{GROUPS}/a", found)
    assert changed.status == 200, changed.text
    assert {name: changed.body["spec"][name] for name in OPTIONAL} == OPTIONAL


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            {"schedulingConstraints": {"topology": [{"key": "a"}, {"key": "b"}]}},
            "spec.schedulingConstraints.topology: Too many: 2: must have at most 1 item",
        ),
        (
            {"schedulingConstraints": {"topology": [{"key": ""}]}},
            "spec.schedulingConstraints.topology[0].key: Required value",
        ),
        (
            {"resourceClaims": [{"name": "a"}]},
            "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
        ),
        ({"disruptionMode": "Odd"}, 'spec.disruptionMode: Unsupported value: "Odd"'),
    ],
)
def test_such_fields_are_judged_where_they_are_kept(spec: dict[str, Any], told: str) -> None:
    body = {"metadata": {"name": "a"}, "spec": {"schedulingPolicy": GANG, **spec}}
    refused = server(*FINER).ask("POST", GROUPS, body)
    assert refused.status == 422
    assert told in refused.message


@pytest.mark.parametrize(
    ("role", "verb", "resource"),
    [
        ("system:aggregate-to-view", "get", "podgroups/status"),
        ("system:aggregate-to-edit", "create", "workloads"),
        ("system:kube-scheduler", "patch", "podgroups/status"),
    ],
)
def test_roles_have_rules_for_pod_groups_where_these_are_served(
    role: str, verb: str, resource: str
) -> None:
    def grants(api: Api) -> bool:
        path = f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{role}"
        return any(
            verb in rule["verbs"] and resource in rule.get("resources", ())
            for rule in api.ask("GET", path).body["rules"]
        )

    assert grants(server("GenericWorkload"))
    assert not grants(server())
