"""Admission policies, through the server: what they see, what they match, what they answer."""

from collections.abc import Sequence
from typing import Any

import pytest
from support.apiserver.api_calls import CONFIG_MAPS, MERGE, PODS, Answer, Api, config_map, pod

GROUP = "/apis/admissionregistration.k8s.io/v1"
POLICIES = f"{GROUP}/validatingadmissionpolicies"
BINDINGS = f"{GROUP}/validatingadmissionpolicybindings"


def rule(
    *resources: str, operations: Sequence[str] = ("*",), **more: Sequence[str]
) -> dict[str, Any]:
    found = {
        "apiGroups": ["*"],
        "apiVersions": ["*"],
        "operations": list(operations),
        "resources": list(resources),
        **more,
    }
    return {"resourceRules": [found]}


def add_policy(
    api: Api,
    *expressions: str | dict[str, Any],
    actions: Sequence[str] = ("Deny",),
    binding: dict[str, Any] | None = None,
    **spec: Any,
) -> None:
    """A policy `p` with one binding `b`; about config maps unless it says otherwise."""
    validations = [each if isinstance(each, dict) else {"expression": each} for each in expressions]
    spec.setdefault("matchConstraints", rule("configmaps"))
    api.create(POLICIES, {"metadata": {"name": "p"}, "spec": {"validations": validations, **spec}})
    bound = {"policyName": "p", "validationActions": list(actions), **(binding or {})}
    api.create(BINDINGS, {"metadata": {"name": "b"}, "spec": bound})


def write(api: Api, name: str = "x", **data: str) -> Answer:
    return api.ask("POST", CONFIG_MAPS, config_map(name, **data))


def denied(told: str) -> str:
    return f"ValidatingAdmissionPolicy 'p' with binding 'b' denied request: {told}"


# --- what is answered -----------------------------------------------------------------------------


def test_what_does_not_hold_is_refused_and_not_stored() -> None:
    api = Api()
    add_policy(api, "!('a' in object.data)")

    answer = write(api, a="1")

    assert (answer.status, answer.body["reason"]) == (422, "Invalid")
    told = denied("failed expression: !('a' in object.data)")
    assert answer.message == f'configmaps "x" is forbidden: {told}'
    assert answer.body["details"] == {
        "name": "x",
        "kind": "configmaps",
        "causes": [{"message": told}],
    }
    assert api.ask("GET", f"{CONFIG_MAPS}/x").status == 404
    assert write(api, b="1").status == 201


@pytest.mark.parametrize(
    ("reason", "code"), [("Forbidden", 403), ("RequestEntityTooLarge", 413), ("Invalid", 422)]
)
def test_a_reason_has_its_code(reason: str, code: int) -> None:
    api = Api()
    add_policy(api, {"expression": "false", "message": " no ", "reason": reason}, "false")
    answer = write(api)
    assert (answer.status, answer.body["reason"]) == (code, reason)
    assert answer.message.endswith(denied("no"))


def test_a_message_can_be_an_expression() -> None:
    api = Api()
    expression = "object.metadata.name + ' by ' + request.userInfo.username"
    add_policy(api, {"expression": "false", "messageExpression": expression, "message": "m"})
    assert write(api).message.endswith(denied("x by admin"))


def test_a_message_that_fails_is_the_written_one() -> None:
    api = Api()
    told = {"expression": "false", "messageExpression": "string(object.nope)", "message": "m"}
    add_policy(api, told)
    assert write(api).message.endswith(denied("m"))


def test_warnings_let_the_request_through() -> None:
    api = Api()
    add_policy(api, "false", actions=("Warn", "Audit"))
    answer = write(api)
    assert answer.status == 201
    assert answer.header("warning") == [
        "299 - \"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': failed"
        ' expression: false"'
    ]


def test_an_expression_that_fails_refuses_unless_failures_are_ignored() -> None:
    strict, lenient = Api(), Api()
    add_policy(strict, "object.spec.nope == 1")
    add_policy(lenient, "object.spec.nope == 1", failurePolicy="Ignore")
    assert write(strict).message.endswith(
        denied("expression 'object.spec.nope == 1' resulted in error: no such key: spec")
    )
    assert write(lenient).status == 201


def test_a_policy_without_a_binding_is_not_asked() -> None:
    api = Api()
    add_policy(api, "false", binding={"policyName": "other"})
    assert write(api).status == 201


def test_a_policy_is_asked_from_the_next_request_until_it_goes() -> None:
    api = Api()
    assert write(api, "a").status == 201
    add_policy(api, "false")
    assert write(api, "b").status == 422
    api.delete(f"{POLICIES}/p")
    assert write(api, "b").status == 201


# --- what expressions see -------------------------------------------------------------------------


def test_variables_are_worked_out_from_each_other() -> None:
    api = Api()
    add_policy(
        api,
        "variables.few",
        variables=[
            {"name": "count", "expression": "size(object.data)"},
            {"name": "few", "expression": "variables.count < 2"},
        ],
    )
    assert write(api, "x", a="1").status == 201
    assert write(api, "y", a="1", b="2").status == 422


def test_a_variable_sees_those_before_it_alone() -> None:
    variables = [{"name": "a", "expression": "1"}, {"name": "b", "expression": "variables.b"}]
    spec = {
        "matchConstraints": rule("configmaps"),
        "validations": [{"expression": "true"}],
        "variables": variables,
    }
    answer = Api().ask("POST", POLICIES, {"metadata": {"name": "p"}, "spec": spec})
    assert answer.status == 422
    assert "undefined field 'b'" in answer.message


def test_a_variable_that_fails_says_which() -> None:
    api = Api()
    add_policy(
        api, "variables.bad == 1", variables=[{"name": "bad", "expression": "object.nope.x"}]
    )
    assert 'composited variable "bad" fails to evaluate: no such key: nope' in write(api).message


def test_updates_and_deletions_show_the_old_object() -> None:
    api = Api()
    write(api, a="1")
    add_policy(
        api,
        "request.operation != 'UPDATE' || object.data.a == oldObject.data.a",
        "request.operation != 'DELETE' || (object == null && oldObject.data.a != '1')",
    )
    change = {"data": {"a": "2"}}
    assert api.ask("PATCH", f"{CONFIG_MAPS}/x", change, content_type=MERGE).status == 422
    assert api.ask("DELETE", f"{CONFIG_MAPS}/x").status == 422
    assert api.ask("DELETE", CONFIG_MAPS).status == 422
    assert api.ask("GET", f"{CONFIG_MAPS}/x").status == 200


def test_the_request_says_who_does_what() -> None:
    api = Api()
    told = (
        "request.operation + ' ' + request.resource.resource + ' ' + request.kind.kind + ' ' +"
        " string(request.dryRun) + ' ' + request.namespace"
    )
    add_policy(api, {"expression": "false", "messageExpression": told})
    assert write(api).message.endswith("CREATE configmaps ConfigMap false default")
    answer = api.ask("POST", f"{CONFIG_MAPS}?dryRun=All", config_map("x"))
    assert answer.message.endswith("CREATE configmaps ConfigMap true default")


def test_the_namespace_is_there_for_what_is_in_one() -> None:
    api = Api()
    told = "namespaceObject.metadata.name + ' is ' + namespaceObject.status.phase"
    add_policy(api, {"expression": "false", "messageExpression": told})
    assert write(api).message.endswith("default is Active")
    other = Api()
    add_policy(other, "namespaceObject == null", matchConstraints=rule("nodes"))
    assert other.ask("POST", "/api/v1/nodes", {"metadata": {"name": "n"}}).status == 201


# --- parameters -----------------------------------------------------------------------------------

KIND = {"apiVersion": "v1", "kind": "ConfigMap"}


def reference(**more: Any) -> dict[str, Any]:
    return {"paramRef": {"parameterNotFoundAction": "Deny", **more}}


def test_a_config_map_can_be_the_parameter() -> None:
    api = Api()
    write(api, "limits", most="2")
    add_policy(
        api,
        "size(object.data) <= int(params.data.most)",
        paramKind=KIND,
        binding=reference(name="limits"),
    )
    assert write(api, "x", a="", b="").status == 201
    assert write(api, "y", a="", b="", c="").status == 422


def test_a_custom_object_can_be_the_parameter() -> None:
    api = Api()
    spec = {"type": "object", "properties": {"most": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"spec": spec}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    names = {"plural": "limits", "kind": "Limit"}
    api.create(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        {
            "metadata": {"name": "limits.x.dev"},
            "spec": {"group": "x.dev", "scope": "Cluster", "names": names, "versions": [version]},
        },
    )
    limit = {"apiVersion": "x.dev/v1", "kind": "Limit", "metadata": {"name": "l"}}
    api.create("/apis/x.dev/v1/limits", {**limit, "spec": {"most": 1}})
    add_policy(
        api,
        "size(object.data) <= params.spec.most",
        paramKind={"apiVersion": "x.dev/v1", "kind": "Limit"},
        binding=reference(name="l"),
    )
    assert write(api, "x", a="").status == 201
    assert write(api, "y", a="", b="").status == 422


def test_every_object_that_a_selector_finds_is_a_parameter() -> None:
    api = Api()
    for name in ("one", "two"):
        labelled = config_map(name, forbids=name)
        labelled["metadata"]["labels"] = {"limits": "yes"}
        api.create(CONFIG_MAPS, labelled)
    add_policy(
        api,
        "object.metadata.name != params.data.forbids",
        paramKind=KIND,
        binding=reference(selector={"matchLabels": {"limits": "yes"}}),
        matchConstraints=rule("configmaps", operations=["CREATE"]),
    )
    assert [write(api, name).status for name in ("one", "two", "three")] == [422, 422, 201]


def test_a_missing_parameter_denies_or_allows() -> None:
    strict, lenient = Api(), Api()
    add_policy(strict, "false", paramKind=KIND, binding=reference(name="none"))
    allow = reference(name="none", parameterNotFoundAction="Allow")
    add_policy(lenient, "false", paramKind=KIND, binding=allow)
    assert write(strict).message.endswith(
        denied(
            "failed to configure binding: no params found for policy binding with `Deny`"
            " parameterNotFoundAction"
        )
    )
    assert write(lenient).status == 201


def test_a_kind_that_is_not_served_is_a_mistake_of_the_policy() -> None:
    api = Api()
    add_policy(
        api,
        "true",
        paramKind={"apiVersion": "no.io/v1", "kind": "No"},
        binding=reference(name="n"),
    )
    assert write(api).message.endswith(
        "ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find"
        " resource referenced by paramKind: 'no.io/v1, Kind=No'"
    )


# --- what is matched ------------------------------------------------------------------------------


def test_conditions_keep_a_policy_out() -> None:
    api = Api()
    add_policy(
        api,
        "false",
        matchConditions=[{"name": "c", "expression": "request.name.startsWith('x')"}],
    )
    assert write(api, "x").status == 422
    assert write(api, "y").status == 201


def test_conditions_that_fail_are_told_together() -> None:
    api = Api()
    conditions = [
        {"name": "c", "expression": "object.a == 1"},
        {"name": "d", "expression": "object.b == 1"},
    ]
    add_policy(api, "true", matchConditions=conditions)
    assert write(api).message.endswith(
        denied(
            "[expression 'object.a == 1' resulted in error: no such key: a, expression"
            " 'object.b == 1' resulted in error: no such key: b]"
        )
    )


def test_labels_of_the_namespace_and_of_the_object_select() -> None:
    api = Api()
    api.create("/api/v1/namespaces", {"metadata": {"name": "prod", "labels": {"env": "prod"}}})
    selector = {"matchLabels": {"env": "prod"}}
    add_policy(api, "false", matchConstraints={**rule("configmaps"), "namespaceSelector": selector})
    assert write(api).status == 201
    in_prod = "/api/v1/namespaces/prod/configmaps"
    assert api.ask("POST", in_prod, config_map("x")).status == 422
    other = Api()
    add_policy(other, "false", matchConstraints={**rule("configmaps"), "objectSelector": selector})
    assert write(other).status == 201
    labelled = config_map("y")
    labelled["metadata"]["labels"] = {"env": "prod"}
    assert other.ask("POST", CONFIG_MAPS, labelled).status == 422


def test_a_binding_narrows_what_its_policy_matches() -> None:
    api = Api()
    named = rule("configmaps", resourceNames=["x"])
    add_policy(api, "false", binding={"matchResources": named})
    assert (write(api, "x").status, write(api, "y").status) == (422, 201)
    other = Api()
    add_policy(
        other,
        "false",
        binding={"matchResources": {"excludeResourceRules": named["resourceRules"]}},
    )
    assert (write(other, "x").status, write(other, "y").status) == (201, 422)


def test_subresources_are_matched_by_name() -> None:
    api = Api()
    api.create("/api/v1/nodes", {"metadata": {"name": "n"}})
    api.create_pod("a")
    api.create_pod("b")
    told = "request.subResource + ' ' + request.kind.kind"
    constraints = rule("pods/binding", "pods/eviction", "pods/status")
    add_policy(
        api, {"expression": "false", "messageExpression": told}, matchConstraints=constraints
    )

    target = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n"}}
    assert api.ask("POST", f"{PODS}/a/binding", target).message.endswith("binding Binding")
    eviction = {"metadata": {"name": "a"}}
    assert api.ask("POST", f"{PODS}/a/eviction", eviction).message.endswith("eviction Eviction")
    status = {"status": {"message": "m"}}
    answer = api.ask("PATCH", f"{PODS}/a/status", status, content_type=MERGE)
    assert answer.message.endswith("status Pod")
    assert api.ask("POST", PODS, pod("c")).status == 201
    assert api.ask("DELETE", f"{PODS}/b").status == 200


def test_a_rule_for_one_version_is_one_for_all() -> None:
    api = Api()
    told = "object.apiVersion + ' ' + request.requestKind.version"
    add_policy(
        api,
        {"expression": "false", "messageExpression": told},
        matchConstraints=rule("horizontalpodautoscalers", apiVersions=["v2"]),
    )
    target = {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}
    autoscaler = {
        "metadata": {"name": "h"},
        "spec": {"maxReplicas": 3, "scaleTargetRef": target},
    }
    path = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
    assert api.ask("POST", path, autoscaler).message.endswith("autoscaling/v2 v1")


def test_policies_do_not_judge_policies() -> None:
    api = Api()
    add_policy(api, "false", matchConstraints=rule("*"))
    assert api.ask("DELETE", f"{POLICIES}/p").status == 200


def test_deleting_a_definition_asks_nobody_about_its_objects() -> None:
    api = Api()
    add_policy(api, "false", matchConstraints=rule("gizmos", operations=["DELETE"]))
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object"}},
    }
    names = {"plural": "gizmos", "kind": "Gizmo"}
    api.create(
        definitions,
        {
            "metadata": {"name": "gizmos.x.dev"},
            "spec": {"group": "x.dev", "scope": "Cluster", "names": names, "versions": [version]},
        },
    )
    gizmos = "/apis/x.dev/v1/gizmos"
    gizmo = {"apiVersion": "x.dev/v1", "kind": "Gizmo", "metadata": {"name": "g"}}
    api.create(gizmos, gizmo)
    assert api.ask("DELETE", f"{gizmos}/g").status == 422
    assert api.ask("DELETE", f"{definitions}/gizmos.x.dev").status == 200
    assert api.ask("GET", f"{definitions}/gizmos.x.dev").status == 404


# --- what is bounded ------------------------------------------------------------------------------


def test_expressions_share_a_budget() -> None:
    api = Api()
    costly = "object.data.all(a, object.data.all(b, object.data.all(c, a != '' && b != c + 'z')))"
    add_policy(api, *[costly] * 20)
    answer = write(api, **{f"k{number}": "v" for number in range(80)})
    assert answer.status == 422
    assert "cost" in answer.message


def test_a_policy_has_a_bounded_number_of_expressions() -> None:
    spec = {
        "matchConstraints": rule("configmaps"),
        "validations": [{"expression": "true"}] * 501,
    }
    answer = Api().ask("POST", POLICIES, {"metadata": {"name": "p"}, "spec": spec})
    assert answer.status == 422
    assert "must not have more than 500 expressions" in answer.message
