"""All OpenAPI documents of a server, built when asked for and kept until the table changes.

The paths of a resource as OpenAPI describes them: what may be asked, with which parameters.
kubectl looks here whether a kind can be patched, in which formats, and whether its server knows
`fieldValidation` and `dryRun`; it recognises the kind by `x-kubernetes-group-version-kind`.
"""

import hashlib
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from podium.apiserver.openapi.models import (
    DESCRIPTIONS,
    OBJECT_META,
    Models,
    OpenApiVersion,
    custom_model_name,
    model_name,
)
from podium.apiserver.openapi.swagger import as_swagger, swagger_bytes
from podium.golang.json_values import JsonObject, encode
from podium.kubernetes.kinds.record import Subresource
from podium.kubernetes.releases.release import release
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.resources.table import ResourceTable
from podium.kubernetes.schema.catalogue import SECTIONS, built_in_struct, schema_of

JSON: Final = "application/json"
_BODIES: Final = (JSON, "application/yaml")
_PATCHES: Final = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
)
_QUERY: Final = {
    "dryRun": ("string", "All: go through all checks but store nothing."),
    "fieldManager": ("string", "The name under which changed fields are owned."),
    "fieldValidation": ("string", "Ignore, Warn or Strict: what unknown fields mean."),
    "force": ("boolean", "Take fields from other owners."),
    "labelSelector": ("string", "Only objects with these labels."),
    "fieldSelector": ("string", "Only objects with these fields."),
    "limit": ("integer", "At most so many objects in one answer."),
    "continue": ("string", "Where the answer before this one ended."),
    "resourceVersion": ("string", "The version to start from."),
    "resourceVersionMatch": ("string", "How exactly that version is meant."),
    "sendInitialEvents": ("boolean", "Start a watch with what is there."),
    "allowWatchBookmarks": ("boolean", "Send bookmarks in a watch."),
    "timeoutSeconds": ("integer", "How long a list or watch may take."),
    "watch": ("boolean", "Send changes as they come."),
    "gracePeriodSeconds": ("integer", "How long the object may take to stop."),
    "propagationPolicy": ("string", "What happens to objects that belong to this one."),
    "pretty": ("string", "Print the answer for people."),
}
_WRITE: Final = ("dryRun", "fieldManager", "fieldValidation")
_LIST: Final = (
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "timeoutSeconds",
    "watch",
)
_DELETE: Final = ("dryRun", "gracePeriodSeconds", "propagationPolicy")
_VERBS: Final = {
    "get": ("get", "read", ()),
    "list": ("get", "list", _LIST),
    "create": ("post", "create", _WRITE),
    "update": ("put", "replace", _WRITE),
    "patch": ("patch", "partially update", (*_WRITE, "force")),
    "delete": ("delete", "delete", _DELETE),
    "deletecollection": ("delete", "delete all", (*_LIST[:-1], *_DELETE)),
}
_ACTIONS: Final = {"create": "post", "update": "put"}


class PathWriter:
    """Writes the paths of resources into one document."""

    def __init__(self) -> None:
        self.paths: dict[str, JsonObject] = {}

    def add(self, resource: ApiResource, model: JsonObject, list_model: JsonObject) -> None:
        """The collection and the objects of a resource."""
        scope = "/namespaces/{namespace}" if resource.namespaced else ""
        collection = f"{base_path(resource)}{scope}/{resource.plural}"
        item = f"{collection}/{{name}}"
        for verb in resource.verbs:
            if verb == "watch":
                continue
            is_of_all = verb in ("list", "create", "deletecollection")
            answer = list_model if verb == "list" else model
            place = collection if is_of_all else item
            self._operate(place, verb, resource, resource_kind(resource), model, answer)
        if resource.namespaced and "list" in resource.verbs:
            everywhere = f"{base_path(resource)}/{resource.plural}"
            kind = resource_kind(resource)
            self._operate(everywhere, "list", resource, kind, model, list_model)

    def add_subresource(
        self, resource: ApiResource, subresource: Subresource, model: JsonObject
    ) -> None:
        scope = "/namespaces/{namespace}" if resource.namespaced else ""
        place = f"{base_path(resource)}{scope}/{resource.plural}/{{name}}/{subresource.name}"
        kind = {
            "group": subresource.group or ("" if subresource.version else resource.group),
            "kind": subresource.kind,
            "version": subresource.version or resource.version,
        }
        for verb in subresource.verbs:
            self._operate(place, verb, resource, kind, model, model, subresource.name)

    def _operate(
        self,
        place: str,
        verb: str,
        resource: ApiResource,
        kind: JsonObject,
        model: JsonObject,
        answer: JsonObject,
        subresource: str = "",
    ) -> None:
        method, words, parameters = _VERBS[verb]
        of = f"{subresource} of " if subresource else ""
        operation: JsonObject = {
            "description": f"{words} {of}{resource.kind} objects",
            "operationId": _operation_id(place, verb),
            "tags": [f"{resource.group or 'core'}_{resource.version}"],
            "parameters": list(_parameters(parameters)),
            "responses": _responses(verb, answer),
            "x-kubernetes-action": _ACTIONS.get(verb, verb),
            "x-kubernetes-group-version-kind": kind,
        }
        if verb in ("create", "update"):
            operation["requestBody"] = _body(_BODIES, model)
        elif verb == "patch":
            formats = _PATCHES[:-1] if resource.is_custom else _PATCHES
            operation["requestBody"] = _body(formats, {"type": "object"})
        entry = self.paths.setdefault(place, {"parameters": list(_place_parameters(place))})
        entry[method] = operation


def base_path(resource: ApiResource) -> str:
    if resource.group:
        return f"/apis/{resource.group}/{resource.version}"
    return f"/api/{resource.version}"


def resource_kind(resource: ApiResource) -> JsonObject:
    return {"group": resource.group, "kind": resource.kind, "version": resource.version}


def _operation_id(place: str, verb: str) -> str:
    words = place.replace("{", "").replace("}", "").replace(".", "/").replace("-", "/")
    return verb + "".join(part[:1].upper() + part[1:] for part in words.split("/") if part)


def _parameters(names: Iterable[str]) -> Iterable[JsonObject]:
    for name in names:
        kind, words = _QUERY[name]
        schema = {"type": kind, "uniqueItems": True}
        yield {"name": name, "in": "query", "description": words, "schema": schema}


def _place_parameters(place: str) -> Iterable[JsonObject]:
    words = {"name": "The name of the object.", "namespace": "The namespace of the object."}
    for name, description in words.items():
        if f"{{{name}}}" in place:
            schema = {"type": "string", "uniqueItems": True}
            yield {
                "name": name,
                "in": "path",
                "required": True,
                "description": description,
                "schema": schema,
            }
    yield from _parameters(("pretty",))


def _body(formats: Iterable[str], schema: JsonObject) -> JsonObject:
    return {"content": {each: {"schema": schema} for each in formats}, "required": True}


def _responses(verb: str, model: JsonObject) -> JsonObject:
    content = {each: {"schema": model} for each in _BODIES}
    told: JsonObject = {"200": {"description": "OK", "content": content}}
    if verb in ("create", "update", "patch"):
        told["201"] = {"description": "Created", "content": content}
    if verb in ("create", "delete"):
        told["202"] = {"description": "Accepted", "content": content}
    told["401"] = {"description": "Unauthorized"}
    return told


_PLAIN_PATHS: Final = ("version",)
"""Paths beside the resources that have a document of their own."""


def _info() -> JsonObject:
    return {"title": "Kubernetes", "version": release().patch}


class OpenApi:
    """`custom_schemas` gives the openAPIV3Schema of a custom resource."""

    def __init__(
        self,
        table: ResourceTable,
        custom_schemas: Callable[[ApiResource], JsonObject | None] = lambda _resource: None,
    ) -> None:
        self._table = table
        self._custom_schemas = custom_schemas
        self._changes = table.changes
        self._kept: dict[str, bytes] = {}

    def v3_index(self) -> bytes:
        """Where the document of each group-version is; the hash changes with its content."""
        return self._once("index", self._build_index)

    def v3_document(self, path: str) -> bytes | None:
        """The document of `api/v1`, `apis/apps/v1`, ...; None when there is none."""
        build = self._builders().get(path)
        return None if build is None else self._once(f"v3 {path}", build)

    def v2(self) -> bytes:
        return self._once("v2", lambda: encode(self._build_v2()))

    def v2_protobuf(self) -> bytes:
        return self._once("v2 protobuf", lambda: swagger_bytes(self._build_v2()))

    def _once(self, name: str, build: Callable[[], bytes]) -> bytes:
        if self._changes != self._table.changes:
            self._changes = self._table.changes
            self._kept.clear()
        kept = self._kept.get(name)
        if kept is None:
            kept = self._kept[name] = build()
        return kept

    def _builders(self) -> dict[str, Callable[[], bytes]]:
        builders: dict[str, Callable[[], bytes]] = {}
        for path in _PLAIN_PATHS:
            builders[path] = partial(_plain_document, path)
        for group, versions in self._table.group_versions().items():
            for version in versions:
                resources = self._table.of_version(group, version)
                path = base_path(resources[0]).removeprefix("/")
                builders[path] = partial(self._build_v3, resources)
        return builders

    def _build_index(self) -> bytes:
        paths = {}
        for path in sorted(self._builders()):
            document = self.v3_document(path) or b""
            digest = hashlib.sha512(document).hexdigest().upper()
            paths[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={digest}"}
        return encode({"paths": paths})

    def _build_v3(self, resources: Iterable[ApiResource]) -> bytes:
        models, paths = Models(OpenApiVersion.V3), PathWriter()
        for resource in resources:
            self._add(resource, models, paths)
        components = {"schemas": models.by_name}
        return encode(
            {"openapi": "3.0.0", "info": _info(), "paths": paths.paths, "components": components}
        )

    def _build_v2(self) -> JsonObject:
        models, paths = Models(OpenApiVersion.V2), PathWriter()
        for resource in self._table:
            self._add(resource, models, paths)
        return {
            "swagger": "2.0",
            "info": _info(),
            "paths": as_swagger(paths.paths),
            "definitions": models.by_name,
        }

    def _add(self, resource: ApiResource, models: Models, paths: PathWriter) -> None:
        model = self._model(resource, models)
        if model is None:
            return
        prefix = model["$ref"].removeprefix(models.dialect.value).rpartition(".")[0]
        list_model = models.list_of(resource.list_kind, model)
        list_model["x-kubernetes-group-version-kind"] = [
            {**resource_kind(resource), "kind": resource.list_kind}
        ]
        list_reference = models.refer_named(f"{prefix}.{resource.list_kind}", list_model)
        paths.add(resource, model, list_reference)
        for subresource in resource.subresources:
            paths.add_subresource(resource, subresource, _submodel(subresource, model, models))

    def _model(self, resource: ApiResource, models: Models) -> JsonObject | None:
        """A reference to the model of a resource's kind; None: nothing is known about it."""
        kind = resource_kind(resource)
        if resource.is_custom:
            schema = self._custom_schemas(resource)
            name = custom_model_name(resource.group, resource.version, resource.kind)
            model = _custom_model(schema or {"type": "object"}, models)
            return models.refer_named(name, {**model, "x-kubernetes-group-version-kind": [kind]})
        try:
            struct = schema_of(resource.group, resource.version, resource.kind).root
        except KeyError:
            return None
        reference = models.refer(struct)
        models.by_name[model_name(struct)]["x-kubernetes-group-version-kind"] = [kind]
        return reference


def _submodel(subresource: Subresource, model: JsonObject, models: Models) -> JsonObject:
    """The model of what is sent to a subresource; streams and logs have none."""
    try:
        struct = built_in_struct(SECTIONS[subresource.group], subresource.kind)
    except KeyError:
        return model if subresource.name == "status" else {"type": "string"}
    if model["$ref"].endswith(f".{subresource.kind}"):
        return model
    reference = models.refer(struct)
    kind = {
        "group": subresource.group,
        "kind": subresource.kind,
        "version": subresource.version or "v1",
    }
    models.by_name[model_name(struct)]["x-kubernetes-group-version-kind"] = [kind]
    return reference


def _custom_model(schema: JsonObject, models: Models) -> JsonObject:
    """The schema of a definition with the fields that every object has.

    upstream: one that keeps unknown fields has none in version 2, because kubectl would take those
    that are named for all there are.
    """
    if models.dialect is OpenApiVersion.V2 and schema.get("x-kubernetes-preserve-unknown-fields"):
        return {"type": "object"}
    metadata = models.refer(built_in_struct("meta", "ObjectMeta"))
    assert metadata == models.dialect.reference(OBJECT_META)
    properties = dict(schema.get("properties") or {})
    for name in ("apiVersion", "kind"):
        properties[name] = {"type": "string", "description": DESCRIPTIONS[name]}
    properties["metadata"] = models.wrap_reference(
        metadata, {"description": DESCRIPTIONS["metadata"]}
    )
    return {**schema, "properties": properties}


def _plain_document(path: str) -> bytes:
    operation = {
        "description": f"read /{path}",
        "operationId": "get" + "".join(filter(str.isalnum, path.title())),
        "responses": {"200": {"description": "OK"}, "401": {"description": "Unauthorized"}},
    }
    paths = {f"/{path}/": {"get": operation}}
    return encode({"openapi": "3.0.0", "info": _info(), "paths": paths, "components": {}})
