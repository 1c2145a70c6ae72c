"""Who gets in, who may what, and what reviews say of it."""

import pytest
from support.apiserver.api_calls import PODS, TOKEN, Api

from podium.apiserver.access.authorisation import Grants

ACCESS = "/apis/authorization.k8s.io/v1"


@pytest.mark.parametrize("path", ["/api", "/version", "/healthz", PODS, "/metrics"])
def test_a_token_that_nobody_has_is_refused_everywhere(path: str) -> None:
    answer = Api().ask("GET", path, token="wrong")

    assert (answer.status, answer.message) == (401, "Unauthorized")


@pytest.mark.parametrize("path", ["/version", "/version/", "/healthz", "/livez", "/readyz"])
def test_anybody_may_look_at_health_and_version(path: str) -> None:
    assert Api().ask("GET", path, token=None).status == 200


@pytest.mark.parametrize(
    ("method", "path", "text"),
    [
        (
            "GET",
            PODS,
            'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group'
            ' "" in the namespace "default"',
        ),
        (
            "DELETE",
            f"{PODS}/p",
            'pods "p" is forbidden: User "system:anonymous" cannot delete resource "pods" in API'
            ' group "" in the namespace "default"',
        ),
        (
            "GET",
            "/api/v1/nodes?watch=true",
            'nodes is forbidden: User "system:anonymous" cannot watch resource "nodes" in API'
            ' group "" at the cluster scope',
        ),
        (
            "PUT",
            f"{PODS}/p/status",
            'pods "p" is forbidden: User "system:anonymous" cannot update resource "pods/status"'
            ' in API group "" in the namespace "default"',
        ),
        ("GET", "/nope", 'forbidden: User "system:anonymous" cannot get path "/nope"'),
        ("POST", "/version", 'forbidden: User "system:anonymous" cannot post path "/version"'),
    ],
)
def test_somebody_without_a_token_may_do_nothing_else(method: str, path: str, text: str) -> None:
    answer = Api().ask(method, path, token=None)

    assert (answer.status, answer.message) == (403, text)


def test_existence_is_not_told_to_those_who_may_not_look() -> None:
    assert Api().ask("GET", "/apis/nope.example.com/v1/things", token=None).status == 403


def test_another_way_to_say_who_one_is_counts_as_none() -> None:
    answer = Api().ask("GET", PODS, token=None, authorization="Basic YTpi")

    assert answer.status == 403


def test_the_administrator_may_speak_for_others() -> None:
    api = Api()

    jane = api.ask("GET", PODS, impersonate_user="jane")
    master = api.ask("GET", PODS, impersonate_user="x", impersonate_group="system:masters")
    anonymous = api.ask("GET", PODS, token=None, impersonate_user="jane")

    assert 'User "jane" cannot list' in jane.message
    assert master.status == 200
    assert "cannot impersonate" in anonymous.message


def test_a_token_review_knows_the_token() -> None:
    api = Api()
    path = "/apis/authentication.k8s.io/v1/tokenreviews"

    known = api.create(path, {"spec": {"token": TOKEN}})
    unknown = api.create(path, {"spec": {"token": "x"}})
    empty = api.ask("POST", path, {"spec": {}})

    assert known["status"]["user"]["username"] == "admin"
    assert unknown["status"] == {"user": {}, "error": "invalid bearer token"}
    assert empty.message == "token is required for TokenReview in authentication"


def test_access_reviews_answer_for_others_and_oneself() -> None:
    api = Api()
    wanted = {"verb": "list", "resource": "pods"}

    def allowed(path: str, spec: dict[str, object]) -> bool:
        found: bool = api.create(f"{ACCESS}/{path}", {"spec": spec})["status"]["allowed"]
        return found

    assert not allowed("subjectaccessreviews", {"user": "jane", "resourceAttributes": wanted})
    assert allowed(
        "subjectaccessreviews",
        {"user": "system:kube-scheduler", "resourceAttributes": wanted},
    )
    assert allowed(
        "subjectaccessreviews", {"groups": ["system:masters"], "resourceAttributes": wanted}
    )
    assert allowed("selfsubjectaccessreviews", {"resourceAttributes": wanted})
    paths = {"path": "/healthz", "verb": "get"}
    assert not allowed("subjectaccessreviews", {"user": "jane", "nonResourceAttributes": paths})
    known: dict[str, object] = {
        "user": "jane",
        "groups": ["system:authenticated"],
        "nonResourceAttributes": paths,
    }
    assert allowed("subjectaccessreviews", known)


def test_reviews_without_a_question_are_refused() -> None:
    api = Api()

    empty = api.ask("POST", f"{ACCESS}/subjectaccessreviews", {"spec": {}})
    both = {"resourceAttributes": {}, "nonResourceAttributes": {}, "user": "x"}
    double = api.ask("POST", f"{ACCESS}/subjectaccessreviews", {"spec": both})
    elsewhere = {"user": "x", "resourceAttributes": {"namespace": "other"}}
    local = api.ask(
        "POST",
        f"{ACCESS}/namespaces/default/localsubjectaccessreviews",
        {"metadata": {"namespace": "default"}, "spec": elsewhere},
    )

    assert "exactly one of nonResourceAttributes or resourceAttributes" in empty.message
    assert double.status == 422
    assert "must match metadata.namespace" in local.message


def test_one_can_ask_who_one_is_and_what_one_may() -> None:
    api = Api()

    review = api.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", {})
    rules = api.create(f"{ACCESS}/selfsubjectrulesreviews", {"spec": {"namespace": "default"}})

    assert review["status"]["userInfo"]["groups"] == ["system:masters", "system:authenticated"]
    assert rules["status"]["resourceRules"][0]["verbs"] == ["*"]


def test_nobody_looks_at_roles_for_masters(monkeypatch: pytest.MonkeyPatch) -> None:
    api = Api()

    def looked(*_: object) -> None:
        raise AssertionError("roles were looked at")

    monkeypatch.setattr(Grants, "of", looked)
    api.create_pod("p")
    role = {"metadata": {"name": "r"}, "rules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}]}
    api.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", role)

    assert api.ask("GET", f"{PODS}/p").status == 200
