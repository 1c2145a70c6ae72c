"""OpenAPI documents: what kubectl looks for in them is there, and nothing leads nowhere."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from podium.apiserver.openapi import OpenApi
from podium.apiserver.openapi.models import Models, OpenApiVersion
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.resources.table import ResourceTable, builtin_resources
from podium.kubernetes.schema import schema_of

GIZMO = ApiResource("x.dev", "v1", "Gizmo", "gizmos", "gizmo", True, is_custom=True)
SCHEMA = {
    "type": "object",
    "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
}


@pytest.fixture
def table() -> ResourceTable:
    return ResourceTable()


@pytest.fixture
def openapi(table: ResourceTable) -> OpenApi:
    return OpenApi(table, lambda resource: SCHEMA if resource is GIZMO else None)


def document(openapi: OpenApi, path: str) -> Any:
    found = openapi.v3_document(path)
    assert found is not None
    return json.loads(found)


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def test_every_group_version_has_a_document_whose_references_lead_somewhere(
    openapi: OpenApi,
) -> None:
    index = json.loads(openapi.v3_index())["paths"]
    versions = {
        "api/v1" if not r.group else f"apis/{r.group}/{r.version}" for r in builtin_resources()
    }
    assert versions <= set(index)
    for path, entry in index.items():
        assert entry["serverRelativeURL"].startswith(f"/openapi/v3/{path}?hash=")
        found = document(openapi, path)
        models = found["components"].get("schemas", {})
        for reference in references(found):
            assert reference.removeprefix("#/components/schemas/") in models


def test_there_is_no_document_of_what_is_not_served(openapi: OpenApi) -> None:
    assert openapi.v3_document("apis/no.group/v1") is None
    assert openapi.v3_document("") is None


@pytest.mark.parametrize(
    "resource", [r for r in builtin_resources() if "patch" in r.verbs], ids=str
)
def test_every_kind_that_can_be_patched_says_how(openapi: OpenApi, resource: ApiResource) -> None:
    path = "api/v1" if not resource.group else f"apis/{resource.group}/{resource.version}"
    scope = "/namespaces/{namespace}" if resource.namespaced else ""
    item = document(openapi, path)["paths"][f"/{path}{scope}/{resource.plural}/{{name}}"]
    patch = item["patch"]
    assert patch["x-kubernetes-group-version-kind"] == {
        "group": resource.group,
        "kind": resource.kind,
        "version": resource.version,
    }
    names = {parameter["name"] for parameter in patch["parameters"]}
    assert {"fieldValidation", "dryRun", "fieldManager", "force"} <= names
    assert "application/strategic-merge-patch+json" in patch["requestBody"]["content"]


def test_models_carry_what_patches_and_applies_need(openapi: OpenApi) -> None:
    models = document(openapi, "api/v1")["components"]["schemas"]
    spec = models["io.k8s.api.core.v1.PodSpec"]
    assert spec["required"] == ["containers"]
    assert spec["properties"]["containers"] == {
        "type": "array",
        "items": {"$ref": "#/components/schemas/io.k8s.api.core.v1.Container"},
        "description": "The containers of the pod; at least one.",
        "x-kubernetes-list-map-keys": ["name"],
        "x-kubernetes-list-type": "map",
        "x-kubernetes-patch-merge-key": "name",
        "x-kubernetes-patch-strategy": "merge",
    }
    port = models["io.k8s.api.core.v1.ContainerPort"]["properties"]
    assert port["protocol"]["default"] == "TCP"
    assert port["containerPort"]["default"] == 0
    assert models["io.k8s.api.core.v1.LocalObjectReference"]["x-kubernetes-map-type"] == "atomic"
    assert models["io.k8s.api.core.v1.Pod"]["x-kubernetes-group-version-kind"] == [
        {"group": "", "kind": "Pod", "version": "v1"}
    ]
    volumes = spec["properties"]["volumes"]["x-kubernetes-patch-strategy"]
    assert volumes == "merge,retainKeys"


def test_models_may_refer_back_to_themselves() -> None:
    models = Models(OpenApiVersion.V3)
    models.refer(schema_of("apiextensions.k8s.io", "v1", "CustomResourceDefinition").root)
    name = next(each for each in models.by_name if each.endswith(".JSONSchemaProps"))
    assert models.by_name[name]["properties"]["not"] == {"$ref": OpenApiVersion.V3.value + name}


def test_custom_resources_come_and_go_with_the_table(
    table: ResourceTable, openapi: OpenApi
) -> None:
    before = openapi.v3_index()
    assert openapi.v3_index() is before
    table.add(GIZMO)
    assert openapi.v3_index() != before
    found = document(openapi, "apis/x.dev/v1")
    model = found["components"]["schemas"]["dev.x.v1.Gizmo"]
    assert model["properties"]["spec"] == SCHEMA["properties"]["spec"]  # type: ignore[index]
    metadata = model["properties"]["metadata"]
    assert metadata["allOf"] == [
        {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
    ]
    assert metadata["description"].startswith("Standard object's metadata")
    assert model["properties"]["apiVersion"]["description"].startswith("APIVersion defines")
    patch = found["paths"]["/apis/x.dev/v1/namespaces/{namespace}/gizmos/{name}"]["patch"]
    assert "application/strategic-merge-patch+json" not in patch["requestBody"]["content"]
    table.remove(GIZMO)
    assert openapi.v3_document("apis/x.dev/v1") is None


def test_version_two_has_all_kinds_in_one_document(openapi: OpenApi) -> None:
    swagger = json.loads(openapi.v2())
    assert swagger["swagger"] == "2.0"
    definitions = swagger["definitions"]
    for reference in references(swagger):
        assert reference.removeprefix("#/definitions/") in definitions
    patch = swagger["paths"]["/api/v1/nodes/{name}"]["patch"]
    assert "application/merge-patch+json" in patch["consumes"]
    assert any(parameter["in"] == "body" for parameter in patch["parameters"])
    quantity = definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"]
    assert quantity["type"] == "string"


def test_a_definition_that_keeps_unknown_fields_has_no_fields_in_version_two(
    table: ResourceTable,
) -> None:
    kept = {**SCHEMA, "x-kubernetes-preserve-unknown-fields": True}
    openapi = OpenApi(table, lambda _: kept)
    table.add(GIZMO)
    model = json.loads(openapi.v2())["definitions"]["dev.x.v1.Gizmo"]
    assert {key for key in model if not key.startswith("x-")} == {"type"}
    assert (
        "spec"
        in (
            document(openapi, "apis/x.dev/v1")["components"]["schemas"]["dev.x.v1.Gizmo"][
                "properties"
            ]
        )
    )
