"""Nobody reads by an admission policy what they may not read themselves."""

from typing import Any

import pytest
from support.apiserver.api_calls import Answer, Api
from support.apiserver.smallest_objects import smallest
from support.apiserver.written_objects import resource_of

RBAC = "/apis/rbac.authorization.k8s.io/v1"
GROUP = "/apis/admissionregistration.k8s.io/v1"
ALICE = "&{alice  [system:authenticated] map[]}"
KINDS = ("MutatingAdmissionPolicy", "ValidatingAdmissionPolicy")


def grant(api: Api, name: str, *rules: dict[str, Any]) -> None:
    """Give alice these rights in the whole cluster."""
    api.create(f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": list(rules)})
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "alice"}
    binding = {"metadata": {"name": name}, "roleRef": reference, "subjects": [subject]}
    api.create(f"{RBAC}/clusterrolebindings", binding)


@pytest.fixture
def api() -> Api:
    api = Api()
    resources = {"apiGroups": ["admissionregistration.k8s.io"], "resources": ["*"]}
    grant(api, "policies", {**resources, "verbs": ["*"]})
    return api


def written(kind: str, **spec: Any) -> tuple[str, dict[str, Any]]:
    resource = resource_of(kind, "admissionregistration.k8s.io")
    found = smallest(resource, "p")
    return f"{GROUP}/{resource.plural}", {**found, "spec": {**found["spec"], **spec}}


def as_alice(api: Api, kind: str, **spec: Any) -> Answer:
    path, obj = written(kind, **spec)
    return api.ask("POST", f"{path}?dryRun=All", obj, **{"impersonate-user": "alice"})


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_parameters_takes_the_right_to_get_all_of_them(api: Api, kind: str) -> None:
    wanted = {"apiVersion": "v1", "kind": "ConfigMap"}

    assert as_alice(api, kind).status == 201
    assert as_alice(api, kind, paramKind=wanted).message.endswith(
        f'spec.paramKind: Forbidden: user {ALICE} must have "get" permission on all objects of the'
        " referenced paramKind (kind=ConfigMap, apiVersion=v1)"
    )
    grant(api, "read", {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]})
    assert as_alice(api, kind, paramKind=wanted).status == 201


@pytest.mark.parametrize("kind", KINDS)
def test_a_binding_takes_the_right_to_read_its_parameters(api: Api, kind: str) -> None:
    reference = {"name": "c", "namespace": "default", "parameterNotFoundAction": "Deny"}
    without = as_alice(api, f"{kind}Binding", paramRef=reference)
    assert without.message.endswith(
        "spec.paramRef: Forbidden: unable to get policy p to determine minimum required"
        f' permissions and user {ALICE} does not have "get" permission for all groups, versions'
        " and resources"
    )
    api.create(*written(kind, paramKind={"apiVersion": "v1", "kind": "ConfigMap"}))

    refused = as_alice(api, f"{kind}Binding", paramRef=reference)

    assert refused.message.endswith("permission on the object referenced by paramRef")
    rule = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["c"]}
    grant(api, "read", {**rule, "verbs": ["get"]})
    assert as_alice(api, f"{kind}Binding", paramRef=reference).status == 201
    several = {"selector": {}, "namespace": "default", "parameterNotFoundAction": "Deny"}
    assert as_alice(api, f"{kind}Binding", paramRef=several).status == 422


def test_what_is_written_again_unchanged_takes_no_right(api: Api) -> None:
    path, obj = written(KINDS[0], paramKind={"apiVersion": "v1", "kind": "ConfigMap"})
    created = api.create(path, obj)
    created["metadata"]["labels"] = {"a": "b"}

    answer = api.ask("PUT", f"{path}/p", created, **{"impersonate-user": "alice"})

    assert answer.status == 200
