"""Claims of pods in the form of Kubernetes 1.26 to 1.30."""

import json
from typing import Any

import pytest
from support.apiserver.api_calls import APPLY, PODS, Api

STRICT = "fieldValidation=Strict"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
TOLD = "is the form of Kubernetes 1.26 to 1.30; write resourceClaimName without it"


def spec(**claim: Any) -> dict[str, Any]:
    return {
        "containers": [{"name": "c", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}],
        "resourceClaims": [{"name": "gpu", **claim}],
    }


WRAPPED = spec(source={"resourceClaimName": "my-gpu-claim"})
TODAY = [{"name": "gpu", "resourceClaimName": "my-gpu-claim"}]


def pod(body: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": body}


def test_a_pod_is_stored_in_the_form_of_today_with_a_warning() -> None:
    answer = Api().ask("POST", f"{PODS}?{STRICT}", pod(WRAPPED))
    assert answer.status == 201
    assert answer.body["spec"]["resourceClaims"] == TODAY
    assert answer.header("warning") == [f'299 - "spec.resourceClaims[0].source: {TOLD}"']


def test_so_is_one_that_is_applied() -> None:
    path = f"{PODS}/p?fieldManager=me&{STRICT}"
    api = Api()
    answer = api.ask("PATCH", path, json.dumps(pod(WRAPPED)).encode(), content_type=APPLY)
    assert answer.status == 201
    assert answer.body["spec"]["resourceClaims"] == TODAY
    assert TOLD in "".join(answer.header("warning"))


def test_templates_of_pods_are_taken_likewise() -> None:
    labels = {"app": "x"}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": WRAPPED},
        },
    }
    answer = Api().ask("POST", f"{DEPLOYMENTS}?{STRICT}", deployment)
    assert answer.status == 201
    assert answer.body["spec"]["template"]["spec"]["resourceClaims"] == TODAY


@pytest.mark.parametrize(
    "claim",
    [
        {"source": {"resourceClaimName": "a"}, "resourceClaimName": "b"},
        {"source": {"resourceClaim": "a"}},
        {"source": "a"},
    ],
)
def test_any_other_source_is_an_unknown_field(claim: dict[str, Any]) -> None:
    answer = Api().ask("POST", f"{PODS}?{STRICT}", pod(spec(**claim)))
    assert answer.status == 400
    assert 'unknown field "spec.resourceClaims[0].source"' in answer.message
