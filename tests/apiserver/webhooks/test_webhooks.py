"""Admission webhooks, through the server and over real sockets: when, in which order, and how."""

from collections.abc import Iterator
from typing import Any

import pytest
from support.apiserver.api_calls import CONFIG_MAPS, MERGE, PODS, config_map, pod
from support.apiserver.hooked_api import EVERYTHING, MUTATING, VALIDATING, HookedApi, hook
from support.apiserver.webhook_server import (
    WebhookServer,
    allow,
    denying,
    patching,
    webhook_server,
)

REFUSED = 'admission webhook "a.hook.example" denied the request'


@pytest.fixture(scope="module")
def listening() -> Iterator[WebhookServer]:
    with webhook_server() as server:
        yield server


@pytest.fixture
def hooks(listening: WebhookServer) -> WebhookServer:
    listening.seen.clear()
    return listening


@pytest.fixture
def api() -> HookedApi:
    return HookedApi()


# --- what is asked --------------------------------------------------------------------------------


def test_a_webhook_sees_who_does_what_to_which_object(api: HookedApi, hooks: WebhookServer) -> None:
    api.validated_by(hook(hooks.at("/v")))

    api.create(CONFIG_MAPS, config_map("x", a="1"))
    api.patch(f"{CONFIG_MAPS}/x?fieldManager=me", {"data": {"a": "2"}})
    api.delete(f"{CONFIG_MAPS}/x")

    created, changed, deleted = hooks.requests("/v")
    assert created["resource"] == {"group": "", "version": "v1", "resource": "configmaps"}
    assert created["kind"] == {"group": "", "version": "v1", "kind": "ConfigMap"}
    assert (created["operation"], created["name"], created["namespace"]) == (
        "CREATE",
        "x",
        "default",
    )
    assert (created["object"]["data"], created["oldObject"]) == ({"a": "1"}, None)
    assert created["userInfo"]["groups"] == ["system:masters", "system:authenticated"]
    assert (created["dryRun"], created["options"]["kind"]) == (False, "CreateOptions")
    assert (changed["object"]["data"], changed["oldObject"]["data"]) == ({"a": "2"}, {"a": "1"})
    assert changed["options"]["fieldManager"] == "me"
    assert (deleted["object"], deleted["oldObject"]["data"]) == (None, {"a": "2"})
    assert len({each["uid"] for each in (created, changed, deleted)}) == 3


def test_the_call_says_how_long_it_is_waited_for(api: HookedApi, hooks: WebhookServer) -> None:
    api.validated_by(hook(hooks.at("/v"), timeoutSeconds=7))

    api.create(CONFIG_MAPS, config_map("x"))

    (seen,) = hooks.seen
    assert seen.path == "/v?timeout=7s"
    assert seen.headers["user-agent"] == "kube-apiserver-admission"
    assert seen.headers["content-type"] == "application/json"


def test_an_old_webhook_gets_the_old_review(api: HookedApi, hooks: WebhookServer) -> None:
    api.validated_by(hook(hooks.at("/v"), admissionReviewVersions=["v7", "v1beta1", "v1"]))

    api.create(CONFIG_MAPS, config_map("x"))

    assert hooks.seen[0].review["apiVersion"] == "admission.k8s.io/v1beta1"


@pytest.mark.parametrize(
    "silent",
    [
        {"rules": [{**EVERYTHING, "operations": ["UPDATE"]}]},
        {"rules": [{**EVERYTHING, "resources": ["pods"]}]},
        {"rules": [{**EVERYTHING, "scope": "Cluster"}]},
        {"rules": []},
        {"objectSelector": {"matchLabels": {"ask": "me"}}},
        {"namespaceSelector": {"matchLabels": {"ask": "me"}}},
        {"matchConditions": [{"name": "n", "expression": "object.metadata.name != 'x'"}]},
        {"matchConditions": [{"name": "n", "expression": "request.userInfo.username == 'eve'"}]},
        {
            "matchConditions": [{"name": "n", "expression": "object.nothing == 1"}],
            "failurePolicy": "Ignore",
        },
    ],
)
def test_a_webhook_that_does_not_match_is_not_asked(
    api: HookedApi, hooks: WebhookServer, silent: dict[str, Any]
) -> None:
    api.validated_by(hook(hooks.at("/v", denying()), **silent))
    api.mutated_by(hook(hooks.at("/m", denying()), **silent))

    api.create(CONFIG_MAPS, config_map("x"))

    assert hooks.seen == []


def test_a_condition_that_fails_refuses_where_the_webhook_must_not_be_passed_over(
    api: HookedApi, hooks: WebhookServer
) -> None:
    conditions = [{"name": "n", "expression": "object.nothing == 1"}]
    api.validated_by(hook(hooks.at("/v"), matchConditions=conditions))

    answer = api.ask("POST", CONFIG_MAPS, config_map("x"))

    assert (answer.status, answer.message) == (
        403,
        "configmaps \"x\" is forbidden: expression 'object.nothing == 1' resulted in error:"
        " no such key: nothing",
    )


def test_configurations_of_webhooks_are_nobodys_business(
    api: HookedApi, hooks: WebhookServer
) -> None:
    all_of_them = {**EVERYTHING, "resources": ["*"]}
    api.validated_by(hook(hooks.at("/v", denying()), rules=[all_of_them]))

    api.delete(f"{VALIDATING}/v")

    assert hooks.seen == []


def test_a_rule_for_one_version_holds_for_its_equivalents(
    api: HookedApi, hooks: WebhookServer
) -> None:
    rules = [{**EVERYTHING, "apiGroups": ["autoscaling"], "apiVersions": ["v2"]}]
    rules = [{**rules[0], "resources": ["horizontalpodautoscalers"]}]
    labels = [{"op": "add", "path": "/metadata/labels", "value": {"seen": "as-v2"}}]
    api.mutated_by(hook(hooks.at("/m", patching(*labels)), rules=rules))
    target = {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}
    spec = {"maxReplicas": 3, "targetCPUUtilizationPercentage": 40, "scaleTargetRef": target}

    path = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
    made = api.create(path, {"metadata": {"name": "h"}, "spec": spec})

    (request,) = hooks.requests("/m")
    assert request["kind"]["version"] == "v2"
    assert request["requestKind"]["version"] == "v1"
    assert request["object"]["spec"]["metrics"][0]["resource"]["name"] == "cpu"
    assert made["metadata"]["labels"] == {"seen": "as-v2"}
    assert made["spec"]["targetCPUUtilizationPercentage"] == 40


# --- what is answered -----------------------------------------------------------------------------


def test_a_refusal_has_the_webhooks_own_words_and_code(
    api: HookedApi, hooks: WebhookServer
) -> None:
    said = denying(message="no way", reason="Because", code=418, details={"causes": []})
    api.validated_by(hook(hooks.at("/v", said)))

    answer = api.ask("POST", CONFIG_MAPS, config_map("x"))

    assert (answer.status, answer.body["reason"]) == (418, "Because")
    assert answer.message == f"{REFUSED}: no way"
    assert api.ask("GET", f"{CONFIG_MAPS}/x").status == 404


@pytest.mark.parametrize(
    ("status", "told"),
    [({}, " without explanation"), ({"reason": "Because"}, ": Because"), ({"code": 200}, "")],
)
def test_a_refusal_that_says_little_is_one_all_the_same(
    api: HookedApi, hooks: WebhookServer, status: dict[str, object], told: str
) -> None:
    api.mutated_by(hook(hooks.at("/m", denying(**status))))

    answer = api.ask("POST", CONFIG_MAPS, config_map("x"))

    assert answer.status == 400
    assert answer.message.startswith(REFUSED + told)


def test_warnings_are_told_whatever_becomes_of_the_write(
    api: HookedApi, hooks: WebhookServer
) -> None:
    api.mutated_by(hook(hooks.at("/m", lambda _: {"allowed": True, "warnings": ["one"]})))
    api.validated_by(hook(hooks.at("/v", lambda _: {"allowed": False, "warnings": ["two"]})))

    answer = api.ask("POST", CONFIG_MAPS, config_map("x"))

    assert answer.status == 400
    assert answer.header("warning") == ['299 - "one"', '299 - "two"']


# --- changing objects -----------------------------------------------------------------------------


def test_mutating_webhooks_are_asked_in_order_and_see_what_was_changed_before(
    api: HookedApi, hooks: WebhookServer
) -> None:
    def put(key: str) -> dict[str, object]:
        return {"op": "add", "path": f"/data/{key}", "value": "1"}

    api.mutated_by(hook(hooks.at("/second", patching(put("c")))), name="b")
    api.mutated_by(
        hook(hooks.at("/first", patching(put("a"))), "z.hook.example"),
        hook(hooks.at("/next", patching(put("b"))), "a.hook.example"),
        name="a",
    )
    api.validated_by(hook(hooks.at("/v")))

    made = api.create(CONFIG_MAPS, config_map("x", own="1"))

    assert [each.path for each in hooks.seen] == [
        f"/{path}?timeout=10s" for path in ("first", "next", "second", "v")
    ]
    assert [sorted(each.request["object"]["data"]) for each in hooks.seen] == [
        ["own"],
        ["a", "own"],
        ["a", "b", "own"],
        ["a", "b", "c", "own"],
    ]
    assert made["data"] == {"own": "1", "a": "1", "b": "1", "c": "1"}


def test_what_webhooks_make_is_read_defaulted_and_validated_like_everything(
    api: HookedApi, hooks: WebhookServer
) -> None:
    port = {"op": "add", "path": "/spec/containers/0/ports", "value": [{"containerPort": 80}]}
    unknown = {"op": "add", "path": "/spec/unknown", "value": 1}
    rules = [{**EVERYTHING, "resources": ["pods"]}]
    api.mutated_by(hook(hooks.at("/m", patching(port, unknown)), rules=rules))

    made = api.create_pod("good")
    assert made["spec"]["containers"][0]["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    assert "unknown" not in made["spec"]

    hooks.at("/m", patching({"op": "add", "path": "/spec/containers/0/image", "value": ""}))
    answer = api.ask("POST", PODS, pod("bad"))
    assert (answer.status, answer.message) == (
        422,
        'Pod "bad" is invalid: spec.containers[0].image: Required value',
    )


def test_a_webhook_that_wants_to_sees_what_later_ones_have_changed(
    api: HookedApi, hooks: WebhookServer
) -> None:
    add = {"op": "add", "path": "/data/late", "value": "1"}
    api.mutated_by(
        hook(hooks.at("/early"), "a.hook.example", reinvocationPolicy="IfNeeded"),
        hook(hooks.at("/never"), "b.hook.example"),
        hook(hooks.at("/late", patching(add)), "c.hook.example", reinvocationPolicy="IfNeeded"),
    )

    api.create(CONFIG_MAPS, config_map("x", own="1"))

    asked = [each.path.partition("?")[0] for each in hooks.seen]
    assert asked == ["/early", "/never", "/late", "/early"]
    assert hooks.seen[-1].request["object"]["data"] == {"own": "1", "late": "1"}


def test_the_servers_own_admission_looks_at_what_webhooks_added(
    api: HookedApi, hooks: WebhookServer
) -> None:
    api.create(
        "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "high"}, "value": 7}
    )
    add = [
        {"op": "add", "path": "/spec/priorityClassName", "value": "high"},
        {"op": "remove", "path": "/spec/priority"},
    ]
    rules = [{**EVERYTHING, "resources": ["pods"]}]
    api.mutated_by(hook(hooks.at("/m", patching(*add)), rules=rules))

    assert api.create_pod("x")["spec"]["priority"] == 7


def test_a_deletion_cannot_be_patched(api: HookedApi, hooks: WebhookServer) -> None:
    api.create(CONFIG_MAPS, config_map("x"))
    api.mutated_by(hook(hooks.at("/m", patching({"op": "add", "path": "/data", "value": {}}))))

    answer = api.ask("DELETE", f"{CONFIG_MAPS}/x")

    assert answer.status == 500
    assert "attempted to modify the object, which is not supported" in answer.message


def test_every_object_of_a_collection_is_asked_about_and_deleted_once(
    api: HookedApi, hooks: WebhookServer
) -> None:
    for name in ("a", "b", "c"):
        api.create(CONFIG_MAPS, config_map(name))
    api.validated_by(hook(hooks.at("/v"), rules=[{**EVERYTHING, "operations": ["DELETE"]}]))

    listed = api.delete(CONFIG_MAPS)

    assert [each["metadata"]["name"] for each in listed["items"]] == ["a", "b", "c"]
    assert [each["name"] for each in hooks.requests("/v")] == ["a", "b", "c"]
    assert api.get(CONFIG_MAPS)["items"] == []


def test_subresources_are_asked_about_by_name(api: HookedApi, hooks: WebhookServer) -> None:
    rules = [{**EVERYTHING, "resources": ["pods/binding", "pods/status", "pods/eviction"]}]
    api.mutated_by(hook(hooks.at("/m"), rules=rules))
    api.validated_by(hook(hooks.at("/v"), rules=rules))
    api.create_pod("p")

    target = {"target": {"kind": "Node", "name": "n"}, "metadata": {"name": "p"}}
    api.ask("POST", f"{PODS}/p/binding", target)
    api.patch(f"{PODS}/p/status", {"status": {"message": "m"}})
    api.ask("POST", f"{PODS}/p/eviction", {"metadata": {"name": "p"}})

    assert [each["subResource"] for each in hooks.requests("/v")] == [
        "binding",
        "status",
        "eviction",
    ]
    assert [each["object"]["kind"] for each in hooks.requests("/m")] == [
        "Binding",
        "Pod",
        "Eviction",
    ]


# --- dry runs, policies, and the order of everything ----------------------------------------------


def test_a_dry_run_asks_and_stores_nothing(api: HookedApi, hooks: WebhookServer) -> None:
    api.validated_by(hook(hooks.at("/v"), sideEffects="NoneOnDryRun"))

    answer = api.ask("POST", f"{CONFIG_MAPS}?dryRun=All", config_map("x"))

    assert answer.status == 201
    assert hooks.requests("/v")[0]["dryRun"] is True
    assert api.ask("GET", f"{CONFIG_MAPS}/x").status == 404


def test_policies_come_before_validating_webhooks_and_see_what_mutating_ones_made(
    api: HookedApi, hooks: WebhookServer
) -> None:
    group = "/apis/admissionregistration.k8s.io/v1"
    spec = {
        "matchConstraints": {"resourceRules": [EVERYTHING]},
        "validations": [{"expression": "!('bad' in object.data)"}],
    }
    api.create(f"{group}/validatingadmissionpolicies", {"metadata": {"name": "p"}, "spec": spec})
    bound = {"policyName": "p", "validationActions": ["Deny"]}
    bindings = f"{group}/validatingadmissionpolicybindings"
    api.create(bindings, {"metadata": {"name": "b"}, "spec": bound})
    add = {"op": "add", "path": "/data/bad", "value": "1"}
    api.mutated_by(hook(hooks.at("/m", patching(add))))
    api.validated_by(hook(hooks.at("/v")))

    answer = api.ask("POST", CONFIG_MAPS, config_map("x", a="1"))

    assert "ValidatingAdmissionPolicy 'p' with binding 'b' denied request" in answer.message
    assert [each.path for each in hooks.seen] == ["/m?timeout=10s"]


def test_a_generated_name_and_uid_stay_the_same_until_the_object_is_stored(
    api: HookedApi, hooks: WebhookServer
) -> None:
    api.mutated_by(hook(hooks.at("/m")))
    api.validated_by(hook(hooks.at("/v")))

    made = api.create(CONFIG_MAPS, {"metadata": {"generateName": "x-"}})

    seen = hooks.requests("/v")[0]
    assert seen["name"] == made["metadata"]["name"]
    assert seen["object"]["metadata"]["uid"] == made["metadata"]["uid"]
    assert "name" not in hooks.requests("/m")[0]


def test_a_webhook_that_is_taken_away_is_asked_no_more(
    api: HookedApi, hooks: WebhookServer
) -> None:
    api.mutated_by(hook(hooks.at("/m", denying())))
    assert api.ask("POST", CONFIG_MAPS, config_map("x")).status == 400

    api.patch(f"{MUTATING}/m", {"webhooks": None}, MERGE)

    assert api.ask("POST", CONFIG_MAPS, config_map("x")).status == 201
    hooks.at("/m", allow)
