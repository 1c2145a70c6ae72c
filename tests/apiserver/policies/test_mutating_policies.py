"""Mutating admission policies, through the server: what they make of objects."""

from typing import Any

import pytest
from support.apiserver.api_calls import CONFIG_MAPS, MERGE, PODS, Answer, Api, config_map, pod
from support.apiserver.hooked_api import HookedApi, hook
from support.apiserver.webhook_server import patching, webhook_server

GROUP = "/apis/admissionregistration.k8s.io/v1"
POLICIES = f"{GROUP}/mutatingadmissionpolicies"
BINDINGS = f"{GROUP}/mutatingadmissionpolicybindings"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
LABELLED = 'Object{metadata: Object.metadata{labels: {"set": "yes"}}}'
COUNTED = '[JSONPatch{op: "add", path: "/data/n" + string(size(object.data)), value: "1"}]'


def mutation(expression: str) -> dict[str, Any]:
    """A JSON patch where it is a list, else a configuration."""
    if expression.startswith("["):
        return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}
    return {
        "patchType": "ApplyConfiguration",
        "applyConfiguration": {"expression": expression},
    }


def policy(*expressions: str, name: str = "p", resource: str = "configmaps", **spec: Any) -> Any:
    rule = {
        "apiGroups": ["*"],
        "apiVersions": ["*"],
        "operations": ["CREATE", "UPDATE"],
        "resources": [resource],
    }
    return {
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "mutations": [mutation(each) for each in expressions],
            "reinvocationPolicy": "Never",
            **spec,
        },
    }


def bound(api: Api, *expressions: str, binding: dict[str, Any] | None = None, **more: Any) -> None:
    """A policy with one binding of the same name."""
    made = policy(*expressions, **more)
    api.create(POLICIES, made)
    name = made["metadata"]["name"]
    spec = {"policyName": name, **(binding or {})}
    api.create(BINDINGS, {"metadata": {"name": name}, "spec": spec})


def write(api: Api, name: str = "x", **data: str) -> Answer:
    return api.ask("POST", CONFIG_MAPS, config_map(name, **(data or {"k": "v"})))


def refused(answer: Answer) -> str:
    assert (answer.status, answer.body["reason"]) == (403, "Invalid")
    told, _, why = answer.message.partition(" denied request: ")
    assert told == "policy 'p' with binding 'p'"
    assert answer.body["details"]["causes"] == [{"message": answer.message}]
    return why


# --- configurations -------------------------------------------------------------------------------


def test_a_configuration_is_merged_into_a_new_object() -> None:
    api = Api()
    bound(api, LABELLED)

    created = write(api).body

    assert created["metadata"]["labels"] == {"set": "yes"}
    assert created["data"] == {"k": "v"}


def test_items_of_keyed_lists_are_merged_and_defaulted() -> None:
    api = Api()
    side = 'Object.spec.containers{name: "side", image: "s:latest"}'
    changed = 'Object.spec.containers{name: "c", image: "r.io/" + object.spec.containers[0].image}'
    bound(api, f"Object{{spec: Object.spec{{containers: [{side}, {changed}]}}}}", resource="pods")

    made = pod("x")
    made["spec"]["containers"] = [{"name": "c", "image": "i:1"}]
    containers = api.ask("POST", PODS, made).body["spec"]["containers"]

    assert {each["name"]: each["image"] for each in containers} == {
        "c": "r.io/i:1",
        "side": "s:latest",
    }
    assert {each["imagePullPolicy"] for each in containers} == {"IfNotPresent", "Always"}


def test_updates_and_patches_are_changed_too() -> None:
    api = Api()
    write(api)
    bound(api, 'Object{metadata: Object.metadata{labels: {"op": request.operation}}}')

    patched = api.ask("PATCH", f"{CONFIG_MAPS}/x", {"data": {"a": "1"}}, content_type=MERGE)

    assert patched.body["metadata"]["labels"] == {"op": "UPDATE"}


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        (
            "Object{nope: 1}",
            "error applying patch: failed to convert patch object to typed object: .nope: field"
            " not declared in schema",
        ),
        (
            'Object{metadata: Object.meta{name: "x"}}',
            'type mismatch: unexpected type name "Object.meta", expected "Object.metadata", which'
            " matches field name path from root Object type",
        ),
        (
            'Object{metadata: Object.metadata{labels: {"a": object.nope}}}',
            "expression 'Object{metadata: Object.metadata{labels: {\"a\": object.nope}}}' resulted"
            " in error: no such key: nope",
        ),
        (
            "Object{data: null}",
            "error applying patch: failed to convert patch object to typed object: .data: expected"
            " map, got &{NULL_VALUE}",
        ),
        ('Object{data: {1: "a"}}', "invalid return type: *dynamic.ObjectVal"),
        (
            'Object{binaryData: {"a": "!!"}}',
            "unable to convert unstructured object to /v1, Kind=ConfigMap: error decoding from"
            " json: illegal base64 data at input byte 0",
        ),
    ],
)
def test_a_configuration_that_does_not_fit_refuses_the_write(expression: str, why: str) -> None:
    api = Api()
    bound(api, expression)

    assert refused(write(api)) == why
    assert api.ask("GET", f"{CONFIG_MAPS}/x").status == 404


def test_what_is_replaced_as_a_whole_cannot_be_part_of_a_configuration() -> None:
    api = Api()
    container = 'Object.spec.containers{name: "c", args: ["a"]}'
    bound(api, f"Object{{spec: Object.spec{{containers: [{container}]}}}}", resource="pods")

    assert refused(api.ask("POST", PODS, pod("x"))) == (
        "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or"
        " structs: .spec.containers[0].args"
    )


# --- JSON patches ---------------------------------------------------------------------------------


def test_a_patch_is_a_list_of_operations() -> None:
    api = Api()
    key = 'jsonpatch.escapeKey("example.com/a")'
    bound(
        api,
        '[JSONPatch{op: "test", path: "/data/k", value: "v"},'
        ' JSONPatch{op: "add", path: "/metadata/annotations", value: {}},'
        f' JSONPatch{{op: "add", path: "/metadata/annotations/" + {key}, value: "b"}},'
        ' JSONPatch{op: "move", from: "/data/k", path: "/data/l"}]',
    )

    created = write(api).body

    assert created["metadata"]["annotations"] == {"example.com/a": "b"}
    assert created["data"] == {"l": "v"}


def test_a_patch_whose_test_fails_changes_nothing() -> None:
    api = Api()
    tested = 'JSONPatch{op: "test", path: "/data/k", value: "other"}'
    bound(api, f'[{tested}, JSONPatch{{op: "remove", path: "/data/k"}}]')

    assert write(api).body["data"] == {"k": "v"}


def test_objects_can_be_values_of_a_patch() -> None:
    api = Api()
    added = 'Object.spec.containers{name: "d", image: "e:1"}'
    bound(
        api,
        f'[JSONPatch{{op: "add", path: "/spec/containers/-", value: {added}}}]',
        resource="pods",
    )

    containers = api.ask("POST", PODS, pod("x")).body["spec"]["containers"]

    assert [each["image"] for each in containers][-1] == "e:1"


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ('b"abc"', "YWJj"),
        ('duration("90s")', "90s"),
        ('timestamp("2020-01-01T00:00:00Z")', "2020-01-01T00:00:00Z"),
        ('optional.of("a")', "a"),
        ("9223372036854775807", "9223372036854775807"),
    ],
)
def test_values_of_a_patch_are_written_as_json(value: str, stored: str) -> None:
    api = Api()
    bound(api, f'[JSONPatch{{op: "add", path: "/data/n", value: {value}}}]')

    assert write(api).body["data"]["n"] == stored


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (
            'op: "remove", path: "/data/zz"',
            "JSON Patch: error in remove for path: '/data/zz': Unable to remove nonexistent key:"
            " zz: missing value",
        ),
        ('op: "frob", path: "/data/k"', "JSON Patch: Unexpected kind: frob"),
        (
            'op: "add", path: "/data/n", value: quantity("1")',
            "JSONPath valueExpression evaluated to a type that could not marshal to JSON: type"
            " conversion error from 'Quantity' to '*structpb.Value'",
        ),
    ],
)
def test_a_patch_that_does_not_apply_refuses_the_write(operation: str, why: str) -> None:
    api = Api()
    bound(api, f"[JSONPatch{{{operation}}}]")

    assert refused(write(api)) == why


def test_a_patch_that_leaves_an_unknown_field_is_an_internal_error() -> None:
    api = Api()
    bound(api, '[JSONPatch{op: "add", path: "/foo", value: "a"}]')

    answer = write(api)

    assert answer.status == 500
    assert answer.message == 'Internal error occurred: strict decoding error: unknown field "foo"'


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
