"""Replays the writes of recorded cases on the pure parts of the API server.

Every answer that was recorded replaces the object on the shelf, so each write starts from what the
real server had; writes of which only the outcome was recorded leave their own result there.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml
from support.apiserver.apiserver_cases import recorded_steps
from support.apiserver.written_objects import RESOURCES, Object, Shelf, resource_of

from podium.kubernetes.admission import SYSTEM_CLASSES
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.schema import DecodeError
from podium.kubernetes.status_errors import StatusError

_ELSEWHERE = (400, 405, 409, 429, 500)  # decoding, versions and verbs are not of the pure parts
_PRIORITY_CLASSES = resource_of("PriorityClass", "scheduling.k8s.io")
_VOLATILE = (
    "uid", "resourceVersion", "creationTimestamp", "managedFields", "deletionTimestamp",
    "deletionGracePeriodSeconds",
)  # fmt: skip
_REPLACED = (
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "<UID>"),
    (re.compile(r"2026-01-01T00:[0-9:.]+Z"), "<TIME>"),
    (re.compile(r"\b10\.0\.0\.[0-9]+\b"), "<CLUSTER_IP>"),
)


class Place(NamedTuple):
    """What a path names; no name: a collection."""

    resource: ApiResource
    namespace: str
    name: str
    subresource: str


class Write(NamedTuple):
    """A recorded write, what the pure parts made of it and what the real server answered."""

    id: str
    found: Object
    wanted: Object


def place_of(path: str) -> Place | None:
    parts = [part for part in path.partition("?")[0].split("/") if part]
    core = parts[0] == "api"
    group, version = ("", parts[1]) if core else (parts[1], parts[2])
    rest = parts[2:] if core else parts[3:]
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces" and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    resource = RESOURCES.find(group, version, rest[0])
    if resource is None:
        return None
    name, subresource = [*rest[1:3], "", ""][:2]
    return Place(resource, namespace, name, subresource)


def comparable(obj: Object) -> Object:
    """Without what differs from server to server."""
    text = json.dumps(obj)
    for pattern, placeholder in _REPLACED:
        text = pattern.sub(placeholder, text)
    shown: Object = json.loads(text)
    for field in _VOLATILE:
        shown["metadata"].pop(field, None)
    return shown


def writes_of(case: str, shelf: Shelf) -> Iterator[Write]:
    """The writes of a case in turn, with the shelf as it is after each."""
    for each in SYSTEM_CLASSES:
        shelf.put(_PRIORITY_CLASSES, dict(each))
    for step in recorded_steps(case):
        if step["kind"] == "kubectl":
            _follow_command(step, shelf)
        elif step["kind"] == "http":
            yield from _follow_request(step, shelf)


def _follow_request(step: dict[str, Any], shelf: Shelf) -> Iterator[Write]:
    place = place_of(step["path"])
    answered_elsewhere = step["expect"].get("status") in _ELSEWHERE or "?" in step["path"]
    if place is None or "rawBody" in step or answered_elsewhere:
        return
    wanted = step["expect"].get("body")
    is_object = bool(wanted) and wanted.get("kind") == place.resource.kind
    if step["method"] in ("POST", "PATCH", "PUT"):
        found = _answer(step, place, shelf)
        if found is not None and wanted is not None and wanted["kind"] in (found["kind"], "Status"):
            yield Write(step["id"], found, wanted)
    if step["method"] == "DELETE":
        shelf.take(place.resource, place.namespace, place.name)
    elif is_object:
        shelf.put(place.resource, wanted)


def _answer(step: dict[str, Any], place: Place, shelf: Shelf) -> Object | None:
    """The stored object or the Status; None where the request is not about storing an object."""
    resource, body = place.resource, step["body"]
    old = shelf.find(resource.group, resource.plural, place.namespace, place.name)
    try:
        if step["method"] == "POST":
            if place.name or not resource.is_stored or body.get("kind") != resource.kind:
                return None
            return shelf.create(resource, place.namespace, body)
        if old is None:
            return None
        if step["method"] == "PUT":
            return shelf.update(resource, place.subresource, old, body)
        media_type = step["headers"]["Content-Type"]
        return shelf.patch(resource, place.subresource, old, body, media_type)
    except StatusError as error:
        return error.as_object()
    except DecodeError:
        return None


def _follow_command(step: dict[str, Any], shelf: Shelf) -> None:
    """The commands that bring objects into being, as far as later steps need them."""
    arguments = step["args"]
    if step["expect"]["exit"]:
        return
    if arguments[:2] in (["create", "namespace"], ["create", "ns"]):
        shelf.add_namespace(arguments[2])
    elif arguments[-3:] == ["create", "-f", "-"] and step.get("stdin"):
        namespace = arguments[1] if arguments[0] == "-n" else ""
        for document in yaml.safe_load_all(step["stdin"]):
            _create(document, namespace, shelf)
    elif arguments[:2] == ["create", "priorityclass"]:
        value = int(re.sub(r"\D", "", arguments[3]))
        document = {"metadata": {"name": arguments[2]}, "value": value, "description": "big"}
        shelf.create(_PRIORITY_CLASSES, "", document)
    elif arguments[:2] == ["delete", "pc"]:
        for name in arguments[2:]:
            shelf.take(_PRIORITY_CLASSES, "", name)


def _create(document: Object, namespace: str, shelf: Shelf) -> None:
    group, _, version = document["apiVersion"].rpartition("/")
    resource = RESOURCES.find_kind(group, version, document["kind"])
    if resource is not None:
        inside = document["metadata"].get("namespace", namespace)
        shelf.create(resource, inside if resource.namespaced else "", document)
