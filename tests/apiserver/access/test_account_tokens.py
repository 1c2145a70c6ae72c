"""Tokens of service accounts: asked for, used, reviewed, and no longer good."""

import base64
import json
from typing import Any

import pytest
from support.apiserver.api_calls import PODS, TOKEN, Answer, Api, good, pod

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
SECRETS = "/api/v1/namespaces/default/secrets"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
ISSUER = "https://kubernetes.default.svc.cluster.local"


@pytest.fixture
def api() -> Api:
    served = Api()
    served.create(ACCOUNTS, {"metadata": {"name": "bob"}})
    served.create(SECRETS, {"metadata": {"name": "sec"}})
    served.create("/api/v1/nodes", {"metadata": {"name": "n1"}})
    served.create(PODS, pod("p1", serviceAccountName="bob", nodeName="n1"))
    return served


def request(api: Api, account: str = "bob", **spec: Any) -> Answer:
    return api.ask("POST", f"{ACCOUNTS}/{account}/token", {"spec": spec})


def token_of(api: Api, **spec: Any) -> str:
    return str(good(request(api, **spec))["status"]["token"])


def bound(kind: str, name: str, **more: str) -> dict[str, str]:
    return {"kind": kind, "apiVersion": "v1", "name": name, **more}


def review(api: Api, token: str, *audiences: str) -> dict[str, Any]:
    spec = {"token": token, **({"audiences": audiences} if audiences else {})}
    found: dict[str, Any] = good(api.ask("POST", REVIEWS, {"spec": spec}))["status"]
    return found


def claims(token: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    return found


def test_a_request_is_completed(api: Api) -> None:
    answer = request(api)
    made = good(answer)
    assert answer.status == 201
    assert (made["kind"], made["metadata"]["name"]) == ("TokenRequest", "bob")
    assert made["spec"] == {
        "audiences": [ISSUER],
        "expirationSeconds": 3600,
        "boundObjectRef": None,
    }
    assert made["status"]["expirationTimestamp"] == "2026-01-01T01:00:00Z"
    said = claims(made["status"]["token"])
    assert (said["iss"], said["sub"]) == (ISSUER, "system:serviceaccount:default:bob")
    assert said["exp"] - said["iat"] == 3600


def test_its_bearer_is_the_account(api: Api) -> None:
    answer = api.ask("GET", PODS, token=token_of(api))
    assert answer.status == 403
    assert answer.message.startswith(
        'pods is forbidden: User "system:serviceaccount:default:bob" cannot list'
    )


def test_its_bearer_may_do_what_roles_grant(api: Api) -> None:
    api.create(
        "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
        {
            "metadata": {"name": "views"},
            "roleRef": {"kind": "ClusterRole", "name": "view"},
            "subjects": [{"kind": "ServiceAccount", "name": "bob", "namespace": "default"}],
        },
    )
    token = token_of(api)
    assert api.ask("GET", PODS, token=token).status == 200
    assert api.ask("POST", PODS, pod("x"), token=token).status == 403


def test_a_review_tells_who_it_is(api: Api) -> None:
    status = review(api, token_of(api, boundObjectRef=bound("Pod", "p1")))
    assert (status["authenticated"], status["audiences"]) == (True, [ISSUER])
    user = status["user"]
    assert user["groups"] == [
        "system:serviceaccounts",
        "system:serviceaccounts:default",
        "system:authenticated",
    ]
    prefix = "authentication.kubernetes.io/"
    assert {key.removeprefix(prefix) for key in user["extra"]} == {
        "credential-id",
        "node-name",
        "node-uid",
        "pod-name",
        "pod-uid",
    }


def test_audiences_say_for_whom_it_is(api: Api) -> None:
    token = token_of(api, audiences=["x", "y"])
    assert review(api, token, "y", "z")["audiences"] == ["y"]
    assert review(api, token)["error"] == (
        f'[invalid bearer token, token audiences ["x" "y"] is invalid for the target audiences'
        f' ["{ISSUER}"]]'
    )
    assert api.ask("GET", PODS, token=token).status == 401


def test_the_owners_token_is_for_the_server_alone(api: Api) -> None:
    assert review(api, TOKEN)["audiences"] == [ISSUER]
    assert review(api, TOKEN, "x") == {"user": {}, "error": "invalid bearer token"}


def test_it_expires_with_a_minute_of_leeway(api: Api) -> None:
    token = token_of(api, expirationSeconds=600)
    api.clock.advance(660)
    assert api.ask("GET", PODS, token=token).status == 403
    api.clock.advance(1)
    assert api.ask("GET", PODS, token=token).status == 401
    assert review(api, token)["error"].endswith("service account token has expired]")


@pytest.mark.parametrize(
    ("reference", "path"),
    [
        (bound("Secret", "sec"), f"{SECRETS}/sec"),
        (bound("Pod", "p1"), f"{PODS}/p1?gracePeriodSeconds=0"),
        (bound("Node", "n1"), "/api/v1/nodes/n1"),
    ],
    ids=["secret", "pod", "node"],
)
def test_it_ends_with_the_object_it_is_bound_to(
    api: Api, reference: dict[str, str], path: str
) -> None:
    token = token_of(api, boundObjectRef=reference)
    assert api.ask("GET", PODS, token=token).status == 403
    api.delete(path)
    assert api.ask("GET", PODS, token=token).status == 401
    assert review(api, token)["error"] == (
        "[invalid bearer token, service account token has been invalidated]"
    )


def test_it_ends_with_its_account_and_does_not_come_back(api: Api) -> None:
    token = token_of(api)
    api.delete(f"{ACCOUNTS}/bob")
    assert review(api, token)["error"] == (
        '[invalid bearer token, serviceaccounts "bob" not found]'
    )
    api.create(ACCOUNTS, {"metadata": {"name": "bob"}})
    assert "does not match claim" in review(api, token)["error"]


def test_another_object_of_the_same_name_does_not_revive_it(api: Api) -> None:
    token = token_of(api, boundObjectRef=bound("Secret", "sec"))
    api.delete(f"{SECRETS}/sec")
    api.create(SECRETS, {"metadata": {"name": "sec"}})
    assert "does not match service account secret ref claim" in review(api, token)["error"]


def test_a_changed_token_is_none(api: Api) -> None:
    header, body, signature = token_of(api).split(".")
    other = base64.urlsafe_b64encode(
        json.dumps({**claims(f".{body}"), "sub": "system:serviceaccount:kube-system:root"}).encode()
    )
    forged = f"{header}.{other.decode().rstrip('=')}.{signature}"
    assert api.ask("GET", PODS, token=forged).status == 401
    for junk in ("a.b.c", f"{header}.{body}.", f"{header}..{signature}", "." * 70_000):
        assert api.ask("GET", PODS, token=junk).status == 401


def test_a_token_of_another_server_is_none(api: Api) -> None:
    other = Api()
    other.create(ACCOUNTS, {"metadata": {"name": "bob"}})
    assert api.ask("GET", PODS, token=token_of(other)).status == 401


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (10, "may not specify a duration less than 10 minutes"),
        (1 << 33, "may not specify a duration larger than 2^32 seconds"),
    ],
)
def test_its_life_has_bounds(api: Api, seconds: int, told: str) -> None:
    answer = request(api, expirationSeconds=seconds)
    assert answer.status == 422
    assert answer.message == (
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value:'
        f" {seconds}: {told}"
    )


@pytest.mark.parametrize(
    ("reference", "code", "told"),
    [
        (bound("Foo", "x"), 400, "cannot bind token to object of type /v1, Kind=Foo"),
        ({"kind": "Pod"}, 400, "Name parameter required."),
        (bound("Pod", "zz"), 404, 'pods "zz" not found'),
        (bound("Pod", "other"), 400, "cannot bind token for serviceaccount"),
        (bound("Pod", "p1", uid="1"), 409, 'Operation cannot be fulfilled on Pod "p1": the UID'),
    ],
)
def test_it_is_bound_to_what_is_there(
    api: Api, reference: dict[str, str], code: int, told: str
) -> None:
    api.create(PODS, pod("other"))
    answer = request(api, boundObjectRef=reference)
    assert answer.status == code
    assert answer.message.startswith(told)


def test_the_body_agrees_with_the_path(api: Api) -> None:
    path = f"{ACCOUNTS}/bob/token"
    assert api.ask("POST", path, {"metadata": {"name": "x"}}).status == 422
    assert api.ask("POST", path, {"metadata": {"namespace": "x"}}).status == 400
    assert api.ask("POST", path, {"metadata": {"uid": "x"}}).status == 409
    assert api.ask("POST", path, {"kind": "Pod"}).status == 400
    assert request(api, "nobody").status == 404
    assert api.ask("GET", path).status == 405
