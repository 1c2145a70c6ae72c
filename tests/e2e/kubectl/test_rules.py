"""What administrators add to a server: tokens, policies, webhooks, kinds of their own."""

from typing import Any

import pytest
import yaml
from support.apiserver.apiserver_process import RunningServer
from support.apiserver.kubectl_process import Kubectl
from support.apiserver.webhook_server import patching, webhook_server
from support.e2e.manifests import DEFINITION, QUEUE
from support.waiting import PATIENTLY

pytestmark = pytest.mark.slow


def test_a_token_of_an_account_is_good_until_its_secret_goes(
    kubectl: Kubectl, server: RunningServer
) -> None:
    if kubectl.release < (1, 24):
        pytest.skip("that kubectl asks for no tokens")
    kubectl("create", "serviceaccount", "robot")
    kubectl("create", "secret", "generic", "key")

    words = ("--duration", "20m", "--bound-object-kind", "Secret", "--bound-object-name", "key")
    token = kubectl("create", "token", "robot", *words).strip()

    review = {"spec": {"token": token}}
    _, found = server.ask("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review)
    namespace = kubectl("get", "secret", "key", "-o", "jsonpath={.metadata.namespace}")
    assert found["status"]["user"]["username"] == f"system:serviceaccount:{namespace}:robot"
    kubectl("delete", "secret", "key")
    _, found = server.ask("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review)
    assert "has been invalidated" in found["status"]["error"]


def test_an_admission_policy_keeps_out_what_it_forbids(kubectl: Kubectl, number: int) -> None:
    name = f"limits-{number}"
    policy = f"""
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: {name}}}
spec:
  matchConstraints:
    resourceRules:
    - {{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}}
  validations:
  - expression: object.spec.replicas <= 2
    messageExpression: "'at most 2 replicas, not ' + string(object.spec.replicas)"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: {name}}}
spec: {{policyName: {name}, validationActions: [Deny]}}
"""
    kubectl("create", "-f", "-", stdin=policy)
    try:
        words = ("create", "deployment", "web", "--image", "nginx")
        said = kubectl(*words, "--replicas", "3", code=1)
        assert f"ValidatingAdmissionPolicy '{name}' with binding '{name}' denied request" in said
        assert "at most 2 replicas, not 3" in said
        assert kubectl(*words, "--replicas", "2") == "deployment.apps/web created\n"
    finally:
        kubectl("delete", "-f", "-", stdin=policy)


def test_webhooks_change_and_refuse_what_is_applied(kubectl: Kubectl, number: int) -> None:
    name = f"hooks-{number}"
    namespace = kubectl("create", "serviceaccount", "s", "-o", "jsonpath={.metadata.namespace}")
    label = {"op": "add", "path": "/metadata/labels", "value": {"team": "blue"}}

    def refuse_latest(request: dict[str, Any]) -> dict[str, Any]:
        images = [each["image"] for each in request["object"]["spec"]["containers"]]
        allowed = not any(image.endswith(":latest") for image in images)
        return {"allowed": allowed, "status": {"message": "no latest images"}}

    with webhook_server() as hooks:
        documents = [
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": f"{kind}WebhookConfiguration",
                "metadata": {"name": name},
                "webhooks": [
                    {
                        "name": "pods.hooks.example",
                        "clientConfig": hooks.at(path, behaviour),
                        "rules": [
                            {
                                "apiGroups": [""],
                                "apiVersions": ["v1"],
                                "operations": ["CREATE"],
                                "resources": ["pods"],
                            }
                        ],
                        "namespaceSelector": {
                            "matchLabels": {"kubernetes.io/metadata.name": namespace}
                        },
                        "sideEffects": "None",
                        "admissionReviewVersions": ["v1"],
                    }
                ],
            }
            for kind, path, behaviour in (
                ("Mutating", "/mutate", patching(label)),
                ("Validating", "/validate", refuse_latest),
            )
        ]
        configurations = yaml.safe_dump_all(documents)
        kubectl("create", "-f", "-", stdin=configurations)
        try:
            said = kubectl("run", "bad", "--image", "nginx:latest", code=1)
            told = 'admission webhook "pods.hooks.example" denied the request: no latest images'
            assert told in said
            kubectl("run", "good", "--image", "nginx:1.27")
            shown = kubectl("get", "pod", "good", "-o", "jsonpath={.metadata.labels.team}")
            assert shown == "blue"
            listed = kubectl("get", "mutatingwebhookconfigurations", name, "--no-headers")
            assert listed.split()[:2] == [name, "1"]
        finally:
            kubectl("delete", "-f", "-", stdin=configurations)


def test_what_is_served_can_be_explored(kubectl: Kubectl) -> None:
    resources = kubectl("api-resources")
    assert resources.split()[:3] == ["NAME", "SHORTNAMES", "APIVERSION"]
    assert "poddisruptionbudgets" in resources
    assert {"v1", "apps/v1", "policy/v1"} <= set(kubectl("api-versions").split())
    assert "schedulerName" in kubectl("explain", "pod.spec")
    assert "<string>" in kubectl("explain", "pod.spec.schedulerName")
    assert "topologySpreadConstraints" in kubectl("explain", "deployment", "--recursive")
    assert "does not exist" in kubectl("explain", "pod.nope", code=1)
    assert '"gitVersion": "v1.36' in kubectl("version", "-o", "json")
    assert kubectl("auth", "can-i", "create", "pods") == "yes\n"
    assert "*.*" in kubectl("auth", "can-i", "--list")
    stranger = ("auth", "can-i", "create", "pods", "--as=jane")
    assert kubectl(*stranger, code=1).startswith("no")
    assert kubectl("get", "--raw", "/readyz").strip() == "ok"
    assert "is running at" in kubectl("cluster-info")


def test_custom_resources_are_served_like_others(kubectl: Kubectl, number: int) -> None:
    group = f"g{number}.example.com"
    queue = QUEUE.replace("GROUP", group)

    kubectl("apply", "-f", "-", stdin=DEFINITION.replace("GROUP", group))
    kubectl("wait", "--for=condition=Established", f"crd/queues.{group}", PATIENTLY)
    assert kubectl("apply", "-f", "-", stdin=queue) == f"queue.{group}/one created\n"
    assert kubectl("get", f"queues.{group}").split() == ["NAME", "WEIGHT", "one", "7"]
    assert "weight" in kubectl("explain", "queue.spec", f"--api-version={group}/v1")
    bad = queue.replace("{}", "{weight: 0}")
    assert "should be greater than or equal to 1" in kubectl("apply", "-f", "-", stdin=bad, code=1)
    assert "deleted" in kubectl("delete", "crd", f"queues.{group}")
    assert "doesn't have a resource type" in kubectl("get", f"queues.{group}", code=1)
