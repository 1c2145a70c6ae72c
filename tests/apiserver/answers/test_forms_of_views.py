"""Reviews and scales, which are stored nowhere, come in the form that the client accepts."""

from typing import Any

from support.apiserver.api_calls import Api, good

from podium.apiserver import protobuf

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
REVIEW: dict[str, Any] = {
    "apiVersion": "authorization.k8s.io/v1",
    "kind": "SelfSubjectAccessReview",
    "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}},
}
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


def test_a_review_is_no_table() -> None:
    answer = Api().ask("POST", REVIEWS, REVIEW, accept=TABLE)
    assert answer.status == 406
    assert answer.message == (
        "only the following media types are accepted: application/json, application/yaml,"
        " application/vnd.kubernetes.protobuf"
    )


def test_a_review_comes_as_yaml_as_protobuf_and_as_metadata() -> None:
    api = Api()
    yaml = api.ask("POST", REVIEWS, REVIEW, accept="application/yaml")
    assert (yaml.status, yaml.content_type) == (201, "application/yaml")
    assert b"allowed: true" in yaml.text
    packed = api.ask("POST", REVIEWS, REVIEW, accept=protobuf.MEDIA_TYPE)
    assert protobuf.decode(packed.text).value["status"] == {"allowed": True}
    assert good(api.ask("POST", REVIEWS, REVIEW, accept=METADATA))["kind"] == (
        "PartialObjectMetadata"
    )


def test_a_scale_comes_as_yaml() -> None:
    api = Api()
    labels = {"app": "web"}
    api.create(
        "/apis/apps/v1/namespaces/default/deployments",
        {
            "metadata": {"name": "web"},
            "spec": {
                "replicas": 3,
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [{"name": "c", "image": "i"}]},
                },
            },
        },
    )
    answer = api.ask(
        "GET",
        "/apis/apps/v1/namespaces/default/deployments/web/scale",
        accept="application/yaml",
    )
    assert answer.content_type == "application/yaml"
    assert b"replicas: 3" in answer.text
