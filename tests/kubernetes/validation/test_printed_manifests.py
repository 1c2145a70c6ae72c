"""Manifests that articles print, sent to the API server."""

import pytest
from support.apiserver.api_calls import PODS, Api

CRITICAL = "scheduler.alpha.kubernetes.io/critical-pod"


def pod(**spec: object) -> dict[str, object]:
    containers = [{"name": "c", "image": "x"}]
    metadata = {"name": "p", "annotations": {CRITICAL: ""}}
    return {"metadata": metadata, "spec": {"containers": containers, **spec}}


@pytest.mark.parametrize("kind", ["File", "FileOrCreate", ""])
def test_a_path_of_the_host_may_be_mounted_as_a_file(kind: str) -> None:
    path = {"path": "/etc/kubernetes/scheduler-extender.yaml", "type": kind}
    answer = Api().ask("POST", PODS, pod(volumes=[{"name": "extender", "hostPath": path}]))
    assert answer.status == 201
    assert answer.body["spec"]["volumes"][0]["hostPath"] == path


def test_a_type_that_does_not_exist_is_refused() -> None:
    path = {"path": "/etc/localtime", "type": "CreateFile"}
    answer = Api().ask("POST", PODS, pod(volumes=[{"name": "v", "hostPath": path}]))
    assert answer.status == 422
    assert "spec.volumes[0].hostPath.type: Unsupported value" in answer.message


def test_the_annotation_of_critical_pods_is_warned_of() -> None:
    (warning,) = Api().ask("POST", PODS, pod()).header("warning")
    assert f"metadata.annotations[{CRITICAL}]: non-functional in v1.16+" in warning
