"""OpenAPI version 2 as protobuf: read back field by field, it says what the JSON says."""

import json
from collections.abc import Iterator

import pytest

from podium.apiserver.openapi import OpenApi
from podium.kubernetes.resources.table import ResourceTable

Message = dict[int, list[bytes | int]]
DEFINITIONS, PATHS = 9, 8
PROPERTIES, REFERENCE, TYPE, EXTENSION, REQUIRED = 25, 1, 22, 31, 19


@pytest.fixture(scope="module")
def openapi() -> OpenApi:
    return OpenApi(ResourceTable())


def fields(data: bytes) -> Message:
    """The fields of a message by number."""
    found: Message = {}
    rest = iter(data)
    for key in _numbers(rest):
        number, kind = key >> 3, key & 7
        value: bytes | int = next(_numbers(rest))
        if kind == 2:
            assert isinstance(value, int)
            value = bytes(next(rest) for _ in range(value))
        else:
            assert kind == 0
        found.setdefault(number, []).append(value)
    return found


def _numbers(rest: Iterator[int]) -> Iterator[int]:
    value, shift = 0, 0
    for byte in rest:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value, shift = 0, 0


def part(message: Message, number: int) -> bytes:
    (value,) = message[number]
    assert isinstance(value, bytes)
    return value


def named(data: bytes, number: int) -> dict[str, Message]:
    """Entries that are a name and a message."""
    entries = [fields(each) for each in fields(data).get(number, []) if isinstance(each, bytes)]
    return {part(entry, 1).decode(): fields(part(entry, 2)) for entry in entries}


def test_definitions_have_their_properties_references_and_extensions(openapi: OpenApi) -> None:
    whole = fields(openapi.v2_protobuf())
    assert part(whole, 1) == b"2.0"
    definitions = named(part(whole, DEFINITIONS), 1)
    written = json.loads(openapi.v2())["definitions"]
    assert set(definitions) == set(written)
    spec = definitions["io.k8s.api.core.v1.PodSpec"]
    properties = named(part(spec, PROPERTIES), 1)
    assert set(properties) == set(written["io.k8s.api.core.v1.PodSpec"]["properties"])
    assert part(spec, REQUIRED) == b"containers"
    affinity = properties["affinity"]
    assert part(affinity, REFERENCE) == b"#/definitions/io.k8s.api.core.v1.Affinity"
    containers = properties["containers"]
    assert part(fields(part(containers, TYPE)), 1) == b"array"
    told = [fields(each) for each in containers[EXTENSION] if isinstance(each, bytes)]
    extensions = {
        part(each, 1).decode(): json.loads(part(fields(part(each, 2)), 2)) for each in told
    }
    assert extensions["x-kubernetes-patch-merge-key"] == "name"
    assert extensions["x-kubernetes-list-map-keys"] == ["name"]


def test_patches_say_their_kind_and_parameters(openapi: OpenApi) -> None:
    paths = named(part(fields(openapi.v2_protobuf()), PATHS), 2)
    patch = fields(part(paths["/api/v1/nodes/{name}"], 8))
    extensions = [fields(each) for each in patch[13] if isinstance(each, bytes)]
    kinds = {part(each, 1): part(fields(part(each, 2)), 2) for each in extensions}
    kind = json.loads(kinds[b"x-kubernetes-group-version-kind"])
    assert kind == {"group": "", "kind": "Node", "version": "v1"}
    assert b"dryRun" in b"".join(each for each in patch[8] if isinstance(each, bytes))
