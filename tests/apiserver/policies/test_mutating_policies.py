"""Mutating admission policies, through the server: what they are made of, when they are asked."""

from typing import Any

import pytest
from support.apiserver.api_calls import CONFIG_MAPS, PODS, Answer, Api, config_map, pod
from support.apiserver.hooked_api import HookedApi, hook
from support.apiserver.mutating_policies import (
    BINDINGS,
    COUNTED,
    LABELLED,
    POLICIES,
    bound,
    mutation,
    policy,
    write,
)
from support.apiserver.webhook_server import patching, webhook_server

# --- what a policy is made of ---------------------------------------------------------------------


def test_mutations_follow_each_other_and_variables_see_what_they_made() -> None:
    api = Api()
    variables = [{"name": "v", "expression": 'object.data.k + "!"'}]
    bound(
        api,
        'Object{data: {"k": "w"}}',
        "Object{data: {'seen': variables.v}}",
        variables=variables,
    )

    assert write(api).body["data"] == {"k": "w", "seen": "w!"}


def test_conditions_keep_a_policy_out() -> None:
    api = Api()
    bound(api, LABELLED, matchConditions=[{"name": "c", "expression": 'object.data.k == "w"'}])

    assert "labels" not in write(api).body["metadata"]
    assert write(api, "y", k="w").body["metadata"]["labels"] == {"set": "yes"}


def test_parameters_come_from_the_binding() -> None:
    api = Api()
    api.create(CONFIG_MAPS, config_map("parameters", team="blue"))
    reference = {"name": "parameters", "parameterNotFoundAction": "Deny"}
    bound(
        api,
        "Object{metadata: Object.metadata{labels: params.data}}",
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        binding={"paramRef": reference},
    )

    assert write(api).body["metadata"]["labels"] == {"team": "blue"}
    api.ask("DELETE", f"{CONFIG_MAPS}/parameters")
    assert refused_configuration(write(api, "y")) == (
        "failed to configure binding: no params found for policy binding with `Deny`"
        " parameterNotFoundAction"
    )


def refused_configuration(answer: Answer) -> str:
    assert (answer.status, answer.body["reason"]) == (403, "Forbidden")
    return answer.message.partition(" denied request: ")[2]


def test_failures_can_be_ignored_and_what_succeeded_stays() -> None:
    api = Api()
    bound(
        api,
        LABELLED,
        'Object{metadata: Object.metadata{labels: {"a": object.nope}}}',
        'Object{data: {"last": "1"}}',
        failurePolicy="Ignore",
    )

    created = write(api).body

    assert created["metadata"]["labels"] == {"set": "yes"}
    assert created["data"] == {"k": "v", "last": "1"}


def test_a_policy_without_a_binding_does_nothing() -> None:
    api = Api()
    api.create(POLICIES, policy(LABELLED))

    assert "labels" not in write(api).body["metadata"]


def test_policies_do_not_change_each_other() -> None:
    api = Api()
    bound(api, LABELLED, resource="*")

    api.create(POLICIES, policy(LABELLED, name="q"))

    assert "labels" not in api.ask("GET", f"{POLICIES}/q").body["metadata"]


def test_what_policies_make_is_validated() -> None:
    api = Api()
    bound(api, 'Object{metadata: Object.metadata{labels: {"a": "not valid!"}}}')

    answer = write(api)

    assert (answer.status, answer.body["reason"]) == (422, "Invalid")
    assert 'metadata.labels: Invalid value: "not valid!"' in answer.message


def test_the_server_s_own_admission_sees_what_policies_made() -> None:
    api = Api()
    limits = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "250m"}}]}
    ranges = "/api/v1/namespaces/default/limitranges"
    api.create(ranges, {"metadata": {"name": "l"}, "spec": limits})
    side = 'Object.spec.containers{name: "side", image: "s:1"}'
    bound(api, f"Object{{spec: Object.spec{{containers: [{side}]}}}}", resource="pods")

    containers = api.ask("POST", PODS, pod("x")).body["spec"]["containers"]

    assert containers[-1]["name"] == "side"
    assert containers[-1]["resources"]["requests"] == {"cpu": "250m"}


def test_other_versions_of_a_kind_are_seen_in_the_form_that_matches() -> None:
    api = Api()
    changed = policy(
        "Object{spec: Object.spec{maxReplicas: object.spec.maxReplicas + 1}}",
        resource="horizontalpodautoscalers",
    )
    changed["spec"]["matchConstraints"]["resourceRules"][0]["apiVersions"] = ["v2"]
    api.create(POLICIES, changed)
    api.create(BINDINGS, {"metadata": {"name": "p"}, "spec": {"policyName": "p"}})
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    spec = {"scaleTargetRef": target, "maxReplicas": 3}
    path = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"

    created = api.ask("POST", path, {"metadata": {"name": "h"}, "spec": spec})

    assert created.body["spec"]["maxReplicas"] == 4


# --- order and asking again -----------------------------------------------------------------------


def test_a_policy_that_wants_to_is_asked_again_after_a_change() -> None:
    once, again = Api(), Api()
    bound(once, COUNTED)
    bound(again, COUNTED, reinvocationPolicy="IfNeeded")

    assert sorted(write(once).body["data"]) == ["k", "n1"]
    assert sorted(write(again).body["data"]) == ["k", "n1", "n2"]


def test_policies_come_in_the_order_of_their_names_and_see_each_other() -> None:
    api = Api()
    for name in ("b", "a", "c"):
        bound(
            api,
            f"Object{{data: {{'order': object.data.?order.orValue('') + '{name}'}}}}",
            name=name,
        )

    assert write(api).body["data"]["order"] == "abc"


def test_webhooks_come_after_policies_and_policies_again_after_them() -> None:
    api = HookedApi()
    bound(
        api,
        "Object{data: {'seen': object.data.?hook.orValue('none')}}",
        reinvocationPolicy="IfNeeded",
    )
    with webhook_server() as server:
        added = {"op": "add", "path": "/data/hook", "value": "there"}
        api.mutated_by(hook(server.at("/m", patching(added))))

        data = write(api).body["data"]

    (asked,) = server.requests("/m")
    assert asked["object"]["data"] == {"k": "v", "seen": "none"}
    assert data == {"k": "v", "hook": "there", "seen": "there"}


def test_a_webhook_is_asked_again_when_policies_change_what_it_has_seen() -> None:
    api = HookedApi()
    bound(api, COUNTED, reinvocationPolicy="IfNeeded")
    with webhook_server() as server:
        api.mutated_by(hook(server.at("/m"), reinvocationPolicy="IfNeeded"))

        write(api)

    assert [sorted(each["object"]["data"]) for each in server.requests("/m")] == [
        ["k", "n1"],
        ["k", "n1", "n2"],
    ]


# --- what is stored -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"mutations": []}, "spec.mutations: Required value: mutations must contain at least one"),
        ({"reinvocationPolicy": ""}, "spec.reinvocationPolicy: Required value"),
        (
            {"reinvocationPolicy": "Often"},
            'spec.reinvocationPolicy: Unsupported value: "Often": supported values: "IfNeeded",'
            ' "Never"',
        ),
        (
            {"mutations": [mutation("Object.spec{}")]},
            'spec.mutations[0].applyConfiguration.expression: Invalid value: "Object.spec{}": must'
            " evaluate to Object but got Object.spec",
        ),
        (
            {"mutations": [mutation("[1]")]},
            'spec.mutations[0].jsonPatch.expression: Invalid value: "[1]": must evaluate to'
            " list(JSONPatch) but got list(int)",
        ),
        (
            {"mutations": [mutation("[JSONPatch{opp: 'add'}]")]},
            "expected type of field 'opp' is '' but provided type is 'string'",
        ),
        ({"mutations": [mutation("variables.x")]}, "undefined field 'x'"),
        (
            {"mutations": [{"patchType": "JSONPatch"}]},
            "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is"
            " JSONPatch",
        ),
        (
            {"mutations": [{**mutation("Object{}"), "jsonPatch": {"expression": "[]"}}]},
            'spec.mutations[0].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when'
            " patchType is ApplyConfiguration",
        ),
        (
            {"mutations": [{"patchType": "Other"}]},
            'spec.mutations[0].patchType: Unsupported value: "Other": supported values:'
            ' "ApplyConfiguration", "JSONPatch"',
        ),
        (
            {"variables": [{"name": "v", "expression": "Object{}"}]},
            "undeclared reference to 'Object'",
        ),
    ],
)
def test_mistakes_in_a_policy_are_told(change: dict[str, Any], problem: str) -> None:
    answer = Api().ask("POST", POLICIES, policy("Object{}", **change))

    assert answer.status == 422
    assert problem in answer.message


@pytest.mark.parametrize("path", [POLICIES, BINDINGS])
def test_nothing_is_changed_when_it_is_deleted(path: str) -> None:
    made = policy("Object{}")
    rules = made["spec"]["matchConstraints"]
    rules["resourceRules"][0]["operations"] = ["DELETE"]
    if path == BINDINGS:
        made = {"metadata": {"name": "b"}, "spec": {"policyName": "p", "matchResources": rules}}

    answer = Api().ask("POST", path, made)

    assert answer.status == 422
    assert 'resourceRules.operations: Unsupported value: "DELETE": supported values: "*"' in (
        answer.message
    )


def test_a_table_counts_mutations() -> None:
    api = Api()
    bound(api, LABELLED, COUNTED)
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io"

    rows = [
        [row["cells"][:3] for row in api.ask("GET", path, accept=accept).body["rows"]]
        for path in (POLICIES, BINDINGS)
    ]

    assert rows == [[["p", 2, "<unset>"]], [["p", "p", "<unset>"]]]
