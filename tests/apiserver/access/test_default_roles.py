"""The roles that every cluster has, and cluster roles that gather the rules of others."""

from typing import Any

import pytest
from support.apiserver.api_calls import MERGE, Api, good

GROUP = "rbac.authorization.k8s.io"
ROLES = f"/apis/{GROUP}/v1/clusterroles"
READ_WIDGETS = {"verbs": ["get"], "apiGroups": ["example.com"], "resources": ["widgets"]}
TO_VIEW = {f"{GROUP}/aggregate-to-view": "true"}


def rules_of(api: Api, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get(f"{ROLES}/{name}").get("rules") or []
    return found


def bind(api: Api, role: str, user: str, namespace: str = "default") -> None:
    api.create(
        f"/apis/{GROUP}/v1/namespaces/{namespace}/rolebindings",
        {
            "metadata": {"name": f"{role}-{user}"},
            "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": GROUP, "kind": "User", "name": user}],
        },
    )


@pytest.mark.parametrize(
    ("role", "allowed", "refused"),
    [
        ("view", ("get", "configmaps"), ("get", "secrets")),
        ("edit", ("get", "secrets"), ("get", "roles")),
        ("admin", ("get", "serviceaccounts"), ("get", "resourceslices")),
    ],
)
def test_the_roles_for_people_grant_what_their_names_say(
    role: str, allowed: tuple[str, str], refused: tuple[str, str]
) -> None:
    api = Api()
    bind(api, role, "jane")

    def review(verb: str, resource: str) -> bool:
        spec = {"verb": verb, "resource": resource, "namespace": "default"}
        answer = api.create(
            "/apis/authorization.k8s.io/v1/subjectaccessreviews",
            {"spec": {"user": "jane", "resourceAttributes": spec}},
        )
        found: bool = answer["status"]["allowed"]
        return found

    assert review(*allowed)
    assert not review(*refused)


def test_the_wider_roles_hold_all_rules_of_the_narrower() -> None:
    api = Api()
    view, edit, admin = (rules_of(api, name) for name in ("view", "edit", "admin"))

    assert view
    assert all(rule in edit for rule in view)
    assert all(rule in admin for rule in edit)


def test_a_role_is_gathered_as_soon_as_it_is_labelled_and_no_longer_when_it_is_gone() -> None:
    api = Api()
    api.create(ROLES, {"metadata": {"name": "widgets"}, "rules": [READ_WIDGETS]})
    unlabelled = rules_of(api, "admin")
    api.patch(f"{ROLES}/widgets", {"metadata": {"labels": TO_VIEW}})
    labelled = [READ_WIDGETS in rules_of(api, name) for name in ("view", "edit", "admin")]
    api.delete(f"{ROLES}/widgets")

    assert READ_WIDGETS not in unlabelled
    assert labelled == [True, True, True]
    assert rules_of(api, "admin") == unlabelled


def test_rules_written_into_a_gathering_role_do_not_last() -> None:
    api = Api()
    before = rules_of(api, "view")

    api.patch(f"{ROLES}/view", {"rules": [READ_WIDGETS]})
    role = api.get(f"{ROLES}/view")

    assert role["rules"] == before
    managers = [entry["manager"] for entry in role["metadata"]["managedFields"]]
    assert "clusterrole-aggregation-controller" in managers


def test_roles_that_gather_each_other_come_to_rest() -> None:
    api = Api()
    for one, other in (("x", "y"), ("y", "x")):
        selector = {"matchLabels": {"to": one}}
        api.create(
            ROLES,
            {
                "metadata": {"name": one, "labels": {"to": other}},
                "aggregationRule": {"clusterRoleSelectors": [selector]},
            },
        )
    api.create(
        ROLES, {"metadata": {"name": "part", "labels": {"to": "x"}}, "rules": [READ_WIDGETS]}
    )

    assert rules_of(api, "x") == rules_of(api, "y") == [READ_WIDGETS]


def test_a_gathering_role_is_gathered_again_after_a_restart() -> None:
    api = Api()
    again = Api(api.store)
    again.create(
        ROLES, {"metadata": {"name": "widgets", "labels": TO_VIEW}, "rules": [READ_WIDGETS]}
    )

    assert READ_WIDGETS in rules_of(again, "view")


def test_a_default_role_that_was_deleted_is_back_after_a_restart_and_a_changed_one_stays() -> None:
    api = Api()
    api.delete(f"{ROLES}/system:auth-delegator")
    api.patch(f"{ROLES}/system:discovery", {"rules": []})

    again = Api(api.store)

    assert rules_of(again, "system:auth-delegator")
    assert again.ask("GET", "/api", impersonate_user="jane").status == 403


def test_what_everybody_may_is_what_reviews_of_rules_show() -> None:
    api = Api()
    path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"

    answer = api.ask("POST", path, {"spec": {"namespace": "default"}}, impersonate_user="jane")
    status = good(answer)["status"]

    resources = [name for rule in status["resourceRules"] for name in rule["resources"]]
    assert resources == [
        "selfsubjectaccessreviews",
        "selfsubjectrulesreviews",
        "selfsubjectreviews",
    ]
    assert all(rule["verbs"] == ["get"] for rule in status["nonResourceRules"])
    assert api.ask("GET", "/livez", impersonate_user="jane").status == 200


def test_the_scheduler_may_do_its_work_and_no_more() -> None:
    api = Api()
    scheduler = "system:kube-scheduler"
    leases = "/apis/coordination.k8s.io/v1/namespaces/{}/leases"
    lease = {"metadata": {"name": "kube-scheduler"}, "spec": {"holderIdentity": "a"}}

    def code(method: str, path: str, body: object = None) -> int:
        return api.ask(method, path, body, impersonate_user=scheduler, content_type=MERGE).status

    assert code("GET", "/api/v1/pods") == 200
    assert code("GET", "/apis/storage.k8s.io/v1/storageclasses") == 200
    assert code("GET", "/api/v1/secrets") == 403
    assert code("DELETE", "/api/v1/nodes/n1") == 403
    api.create(leases.format("kube-system"), lease)
    assert code("PATCH", f"{leases.format('kube-system')}/kube-scheduler", {}) == 403
    assert code("GET", f"{leases.format('kube-system')}/kube-scheduler") == 200
    assert code("GET", f"{leases.format('default')}/other") == 403
