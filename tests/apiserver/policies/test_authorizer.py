"""`authorizer` in the expressions of policies: what the user, or a service account, may do."""

import pytest
from support.apiserver.api_calls import CONFIG_MAPS, Api, config_map

GROUP = "/apis/admissionregistration.k8s.io/v1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
ACCOUNT = "authorizer.serviceAccount('default', 'robot')"
PODS_OF_ROBOT = f"{ACCOUNT}.group('').resource('pods')"
CONSTRAINTS = {
    "resourceRules": [
        {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "operations": ["*"],
            "resources": ["configmaps"],
        }
    ]
}


def policy(expression: str, **more: object) -> dict[str, object]:
    validation = {"expression": expression, **more}
    return {
        "metadata": {"name": "p"},
        "spec": {"matchConstraints": CONSTRAINTS, "validations": [validation]},
    }


def holds(api: Api, expression: str) -> bool:
    api.create(f"{GROUP}/validatingadmissionpolicies", policy(expression))
    bound = {"policyName": "p", "validationActions": ["Deny"]}
    api.create(
        f"{GROUP}/validatingadmissionpolicybindings", {"metadata": {"name": "b"}, "spec": bound}
    )
    answer = api.ask("POST", CONFIG_MAPS, config_map("x"))
    assert answer.status == 201 or "failed expression" in answer.message, answer.text
    return answer.status == 201


@pytest.fixture
def api() -> Api:
    """A server where a robot may read pods in one namespace and one path."""
    api = Api()
    rules = [{"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get"]}]
    api.create(f"{RBAC}/namespaces/default/roles", {"metadata": {"name": "reader"}, "rules": rules})
    robot = {"kind": "ServiceAccount", "name": "robot", "namespace": "default"}
    reference = {"kind": "Role", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}
    binding = {"metadata": {"name": "reader"}, "roleRef": reference, "subjects": [robot]}
    api.create(f"{RBAC}/namespaces/default/rolebindings", binding)
    return api


@pytest.mark.parametrize(
    ("expression", "is_true"),
    [
        ("authorizer.group('').resource('pods').check('delete').allowed()", True),
        ("authorizer.requestResource.check('create').allowed()", True),
        (f"{PODS_OF_ROBOT}.namespace('default').check('get').allowed()", True),
        (f"{PODS_OF_ROBOT}.namespace('default').name('a').check('get').allowed()", True),
        (f"{PODS_OF_ROBOT}.namespace('default').check('delete').allowed()", False),
        (f"{PODS_OF_ROBOT}.namespace('other').check('get').allowed()", False),
        (f"{PODS_OF_ROBOT}.check('get').allowed()", False),
        (f"{PODS_OF_ROBOT}.subresource('log').namespace('default').check('get').allowed()", True),
        (f"{PODS_OF_ROBOT}.subresource('exec').namespace('default').check('get').allowed()", False),
        (f"{ACCOUNT}.path('/healthz').check('get').allowed()", True),
        (f"{ACCOUNT}.path('/metrics').check('get').allowed()", False),
        (f"{PODS_OF_ROBOT}.namespace('default').check('get').reason().contains('RBAC')", True),
        (f"{PODS_OF_ROBOT}.check('get').errored()", False),
        (f"{PODS_OF_ROBOT}.check('get').error() == ''", True),
    ],
)
def test_rights_are_those_of_the_roles(api: Api, expression: str, is_true: bool) -> None:
    assert holds(api, expression) is is_true


def test_a_message_cannot_ask_for_rights(api: Api) -> None:
    asks = "authorizer.path('/').check('get').reason()"
    answer = api.ask(
        "POST",
        f"{GROUP}/validatingadmissionpolicies",
        policy("true", messageExpression=asks),
    )

    assert answer.status == 422
    assert "undeclared reference to 'authorizer'" in answer.message


def test_a_question_about_nothing_is_an_error(api: Api) -> None:
    api.create(
        f"{GROUP}/validatingadmissionpolicies",
        policy("authorizer.group('').resource('').check('get').allowed()"),
    )
    bound = {"policyName": "p", "validationActions": ["Deny"]}
    bindings = f"{GROUP}/validatingadmissionpolicybindings"
    api.create(bindings, {"metadata": {"name": "b"}, "spec": bound})

    answer = api.ask("POST", CONFIG_MAPS, config_map("x"))

    assert answer.message.endswith("resulted in error: resource must not be empty")
