"""Claims on volumes: where their data come from, and the classes of their attributes."""

from typing import Any

import pytest
from support.apiserver.api_calls import MERGE, Answer, Api, Json

CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"
DATASET = {"apiGroup": "example.com", "kind": "Dataset", "name": "images"}
SNAPSHOT = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "s"}


def post_claim(api: Api, **spec: Any) -> Answer:
    known = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return api.ask("POST", CLAIMS, {"metadata": {"name": "c"}, "spec": {**known, **spec}})


def problem_of(answer: Answer) -> str:
    return answer.message.partition(" is invalid: ")[2]


def sources(answer: Answer) -> tuple[Json | None, Json | None]:
    spec = answer.body["spec"]
    return spec.get("dataSource"), spec.get("dataSourceRef")


@pytest.mark.parametrize("source", [DATASET, SNAPSHOT], ids=["dataset", "snapshot"])
def test_both_fields_may_name_the_same_source(source: Json) -> None:
    answer = post_claim(Api(), dataSource=source, dataSourceRef=source)
    assert sources(answer) == (source, source)


def test_the_older_field_alone_names_claims_and_snapshots_only() -> None:
    assert sources(post_claim(Api(), dataSource=DATASET)) == (None, None)
    assert sources(post_claim(Api(), dataSource=SNAPSHOT)) == (SNAPSHOT, SNAPSHOT)


def test_two_different_sources_are_refused() -> None:
    answer = post_claim(Api(), dataSource=SNAPSHOT, dataSourceRef=DATASET)
    assert problem_of(answer) == "spec: Invalid value: {}: must match dataSourceRef"


def test_a_source_in_another_namespace_is_dropped() -> None:
    answer = post_claim(Api(), dataSourceRef={**DATASET, "namespace": "other"})
    assert sources(answer) == (None, None)


def test_an_update_without_the_newer_field_gets_it_again() -> None:
    api = Api()
    post_claim(api, dataSourceRef=DATASET)
    claim = api.get(f"{CLAIMS}/c")
    del claim["spec"]["dataSourceRef"]
    assert sources(api.ask("PUT", f"{CLAIMS}/c", claim)) == (DATASET, DATASET)


@pytest.mark.parametrize(("name", "said"), [(None, "nil"), ("", "empty string")])
def test_an_applied_class_of_attributes_is_not_taken_away(name: str | None, said: str) -> None:
    api = Api()
    post_claim(api, volumeAttributesClassName="gold")
    status = {"phase": "Bound", "currentVolumeAttributesClassName": "gold"}
    api.patch(f"{CLAIMS}/c/status", {"status": status})
    change = {"spec": {"volumeAttributesClassName": name}}
    answer = api.ask("PATCH", f"{CLAIMS}/c", change, content_type=MERGE)
    assert problem_of(answer) == (
        f"spec.volumeAttributesClassName: Forbidden: update to {said} is forbidden when "
        "status.currentVolumeAttributesClassName is not nil"
    )


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        (
            {"allocatedResourceStatuses": {"storage": "Growing"}},
            'status.allocatedResourceStatuses: Unsupported value: "storage": supported values: '
            '"ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", '
            '"NodeResizeInfeasible", "NodeResizePending"',
        ),
        (
            {"allocatedResourceStatuses": {"cpu": "NodeResizePending"}},
            'status.allocatedResourceStatuses: Unsupported value: "cpu": supported values: '
            '"storage"',
        ),
        (
            {"allocatedResources": {"storage": "-1"}},
            "status.allocatedResources[storage]: Invalid value: -1: must be a valid resource "
            "quantity",
        ),
    ],
    ids=["state", "resource", "size"],
)
def test_the_expansion_of_a_claim_is_reported_in_known_words(status: Json, problem: str) -> None:
    api = Api()
    post_claim(api)
    answer = api.ask(
        "PATCH",
        f"{CLAIMS}/c/status",
        {"status": status},
        content_type=MERGE,
    )
    assert problem_of(answer) == problem


def post_volume(api: Api, **spec: Any) -> Answer:
    known = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}
    return api.ask("POST", VOLUMES, {"metadata": {"name": "v"}, "spec": {**known, **spec}})


def test_only_volumes_of_csi_have_a_class_of_attributes() -> None:
    answer = post_volume(Api(), hostPath={"path": "/v"}, volumeAttributesClassName="gold")
    assert problem_of(answer) == (
        "spec.csi: Required value: has to be specified when using volumeAttributesClassName"
    )


def test_a_volume_keeps_a_class_of_attributes() -> None:
    api = Api()
    csi = {"driver": "csi.example.com", "volumeHandle": "v"}
    volume = post_volume(api, csi=csi, volumeAttributesClassName="gold").body
    del volume["spec"]["volumeAttributesClassName"]
    assert problem_of(api.ask("PUT", f"{VOLUMES}/v", volume)) == (
        "spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden"
    )


def test_an_image_volume_of_a_pod_names_its_image() -> None:
    containers = [{"name": "c", "image": "i"}]
    spec = {"containers": containers, "volumes": [{"name": "v", "image": {}}]}
    written = {"metadata": {"name": "p"}, "spec": spec}
    answer = Api().ask("POST", "/api/v1/namespaces/default/pods", written)
    assert problem_of(answer) == "spec.volumes[0].image.reference: Required value"
