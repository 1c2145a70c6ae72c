"""The paths of a resource as OpenAPI describes them: what may be asked, with which parameters.

kubectl looks here whether a kind can be patched, in which formats, and whether its server knows
`fieldValidation` and `dryRun`; it recognises the kind by `x-kubernetes-group-version-kind`.
"""

from collections.abc import Iterable
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import Subresource
from podium.kubernetes.resources.resource import Resource

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

    def add(self, resource: Resource, model: JsonObject, list_model: JsonObject) -> None:
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
        self, resource: Resource, subresource: Subresource, model: JsonObject
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
        resource: Resource,
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


def base_path(resource: Resource) -> str:
    if resource.group:
        return f"/apis/{resource.group}/{resource.version}"
    return f"/api/{resource.version}"


def resource_kind(resource: Resource) -> JsonObject:
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
