"""What hostile requests cost the API server: its processor time for each, one after the other.

Every request is sent alone to a server that has nothing else to do, and changes nothing (`dryRun`).
How much work a request may make is bounded by tests, which know no seconds; these figures say what
the bound means on a machine.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from socket import create_connection
from time import perf_counter
from typing import Any, NamedTuple

import msgspec

from podium.bench import hostile_bodies
from podium.bench.http_load import LoadError
from podium.bench.served_api import ServedApi

_PODS = "/api/v1/namespaces/default/pods"
_CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_QUEUES = "/apis/example.com/v1/namespaces/default/queues"
_JSON = "application/json"
_PATIENCE_S = 600.0


class HostileRequest(NamedTuple):
    what: str
    method: str
    path: str
    body: bytes = b""
    content_type: str = _JSON


class Cost(NamedTuple):
    """One request: how long it took, and the processor time of the server for it."""

    what: str
    seconds: float
    cpu_s: float


def list_hostile_requests() -> Iterator[HostileRequest]:
    """One for each of the hostile bodies."""
    dry = "dryRun=All"
    encode: Callable[[Any], bytes] = msgspec.json.encode
    for what, pod in hostile_bodies.PODS.items():
        yield HostileRequest(f"pod: {what}", "POST", f"{_PODS}?{dry}", encode(pod))
    for what, change in hostile_bodies.STRATEGIC_MERGES.items():
        name = "f" if "metadata" in change else "v"
        merge = "application/strategic-merge-patch+json"
        path = f"{_PODS}/{name}?{dry}"
        yield HostileRequest(f"strategic merge: {what}", "PATCH", path, encode(change), merge)
    for what, metadata in hostile_bodies.METADATA.items():
        target = {"kind": "Node", "name": "a"}
        binding = encode({"metadata": {"name": "f", **metadata}, "target": target})
        yield HostileRequest(f"binding: {what}", "POST", f"{_PODS}/f/binding?{dry}", binding)
    for what, spec in hostile_bodies.QUEUE_SPECS.items():
        kind = {"apiVersion": "example.com/v1", "kind": "Queue", "metadata": {"name": "a"}}
        queue = encode({**kind, "spec": spec})
        yield HostileRequest(f"custom resource: {what}", "POST", f"{_QUEUES}?{dry}", queue)
    for what, operations in hostile_bodies.JSON_PATCHES.items():
        patch, path = "application/json-patch+json", f"{_CONFIG_MAPS}/a?{dry}"
        yield HostileRequest(f"JSON patch: {what}", "PATCH", path, encode(operations), patch)
    for what, text in hostile_bodies.YAML.items():
        path = f"{_CONFIG_MAPS}?{dry}"
        yield HostileRequest(f"YAML: {what}", "POST", path, text, "application/yaml")
    for what, text in hostile_bodies.JSON.items():
        path = f"{_CONFIG_MAPS}?{dry}&fieldValidation=Strict"
        yield HostileRequest(f"JSON: {what}", "POST", path, text)
    for what, message in hostile_bodies.PROTOBUF.items():
        protobuf = "application/vnd.kubernetes.protobuf"
        yield HostileRequest(f"protobuf: {what}", "POST", f"{_PODS}?{dry}", message, protobuf)
    for what, query in hostile_bodies.QUERIES.items():
        fitting = query.replace(" ", "%20").replace("\\", "%5C")[: 1 << 20]
        yield HostileRequest(f"query: {what}", "GET", f"{_PODS}?{fitting}")


def measure_hostile_requests(api: ServedApi, requests: Iterator[HostileRequest]) -> list[Cost]:
    """Prepare the server and send it the requests, each over a connection of its own."""
    config_map = {"metadata": {"name": "a"}, "data": {"a": "b"}}
    for path, prepared in (
        (_CONFIG_MAPS, config_map),
        (_DEFINITIONS, hostile_bodies.QUEUE_DEFINITION),
        (_PODS, hostile_bodies.POD_WITH_VOLUMES),
        (_PODS, hostile_bodies.POD_WITH_FINALIZERS),
    ):
        body = msgspec.json.encode(prepared)
        if (status := _send(api, HostileRequest("", "POST", path, body))) != 201:
            raise LoadError(f"a creation at {path} was answered with {status}")
    costs = []
    for each in requests:
        cpu, began = api.cpu_s(), perf_counter()
        _send(api, each)  # whether it is refused is for the tests to say
        costs.append(Cost(each.what, perf_counter() - began, api.cpu_s() - cpu))
    return costs


def _send(api: ServedApi, each: HostileRequest) -> int:
    """The status of the answer, which is read to its end: it may have thousands of headers."""
    lines = [f"{each.method} {each.path} HTTP/1.1", f"Host: {api.host}", "Connection: close"]
    lines += [f"Content-Type: {each.content_type}", f"Content-Length: {len(each.body)}"]
    lines += [f"Authorization: Bearer {api.token}"] if api.token else []
    with ExitStack() as opened:
        wire = opened.enter_context(create_connection((api.host, api.port), _PATIENCE_S))
        if api.tls is not None:
            wire = opened.enter_context(api.tls.wrap_socket(wire, server_hostname=api.host))
        # An answer may come before the whole body was sent.
        with suppress(BrokenPipeError, ConnectionResetError):
            wire.sendall("\r\n".join((*lines, "", "")).encode() + each.body)
        answer = b""
        with suppress(ConnectionResetError):
            while part := wire.recv(1 << 20):
                answer = answer or part
        return int(answer[9:12] or b"0")
