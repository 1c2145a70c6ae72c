"""Watches in protobuf: events with their lengths, for clients that accept nothing else."""

from random import Random

import pytest
from support.apiserver.api_calls import CONFIG_MAPS, Api, config_map
from support.apiserver.asgi_client import Exchange, in_virtual_time

from podium.apiserver import protobuf
from podium.apiserver.http.app import Application
from podium.apiserver.protobuf.wire import FieldReader
from podium.apiserver.store.collection import History

STREAM = "application/vnd.kubernetes.protobuf;stream=watch"


def events_of(body: bytes) -> list[tuple[str, protobuf.Enveloped]]:
    """The events of a stream: their types and their objects."""
    found = []
    while body:
        size = int.from_bytes(body[:4], "big")
        message, body = body[4 : 4 + size], body[4 + size :]
        fields = dict(FieldReader().fields_of(memoryview(message)))
        raw = dict(FieldReader().fields_of(memoryview(fields[2])))[1]  # type: ignore[arg-type]
        found.append((bytes(fields[1]).decode(), protobuf.decode(bytes(raw))))
    return found


def stream(api: Api, path: str, accept: str = STREAM) -> Exchange:
    """A watch that has run until its end, in a clock that jumps."""
    watching = Exchange(
        Application(api.service, Random(1)), "GET", path, headers={"accept": accept}
    )

    async def main() -> None:
        await watching.run()

    in_virtual_time(main())
    return watching


@pytest.mark.parametrize("accept", [STREAM, "application/vnd.kubernetes.protobuf"])
def test_objects_arrive_in_their_envelopes(accept: str) -> None:
    api = Api()
    api.create(CONFIG_MAPS, config_map("a", key="value"))

    seen = stream(api, f"{CONFIG_MAPS}?watch=1&timeoutSeconds=5", accept)

    assert seen.answered[b"content-type"].decode() == STREAM
    [(type_, obj)] = events_of(seen.body)
    assert (type_, obj.kind, obj.api_version) == ("ADDED", "ConfigMap", "v1")
    assert obj.value["data"] == {"key": "value"}


def test_changes_and_bookmarks_arrive() -> None:
    api = Api()
    revision = api.create(CONFIG_MAPS, config_map("a"))["metadata"]["resourceVersion"]
    api.patch(f"{CONFIG_MAPS}/a", {"data": {"b": "c"}})
    api.delete(f"{CONFIG_MAPS}/a")

    query = f"watch=1&timeoutSeconds=5&allowWatchBookmarks=true&resourceVersion={revision}"
    seen = events_of(stream(api, f"{CONFIG_MAPS}?{query}").body)

    assert [type_ for type_, _ in seen] == ["MODIFIED", "DELETED", "BOOKMARK"]


def test_definitions_are_watched_in_protobuf() -> None:
    api = Api()
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    schema = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "additionalProperties": {"type": "array", "items": {"type": "string"}},
            }
        },
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    names = {"plural": "gizmos", "kind": "Gizmo"}
    spec = {"group": "x.dev", "scope": "Namespaced", "names": names, "versions": [version]}
    api.create(path, {"metadata": {"name": "gizmos.x.dev"}, "spec": spec})

    [(_, definition)] = events_of(stream(api, f"{path}?watch=1&timeoutSeconds=5").body)

    [told] = definition.value["spec"]["versions"]
    assert told["schema"]["openAPIV3Schema"]["properties"]["spec"]["additionalProperties"] == {
        "type": "array",
        "items": {"type": "string"},
    }


def test_a_watch_from_too_far_back_says_so() -> None:
    api = Api()
    api.store.collection("configmaps").history = History(api.store.revision + 10)

    seen = stream(api, f"{CONFIG_MAPS}?watch=1&resourceVersion=2&timeoutSeconds=5").body

    assert seen[4:11] == b"\x0a\x05ERROR"
    assert b"k8s\x00" in seen
    assert b"too old resource version" in seen


def test_custom_objects_are_watched_in_json_only() -> None:
    api = Api()
    api.create(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        {
            "metadata": {"name": "gizmos.x.dev"},
            "spec": {
                "group": "x.dev",
                "scope": "Namespaced",
                "names": {"plural": "gizmos", "kind": "Gizmo"},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object"}},
                    }
                ],
            },
        },
    )
    assert api.ask("GET", "/apis/x.dev/v1/gizmos?watch=1", accept=STREAM).status == 406


def test_an_unknown_stream_is_not_acceptable() -> None:
    api = Api()
    for accept in ("application/json;stream=x", "application/vnd.kubernetes.protobuf;stream=x"):
        assert api.ask("GET", f"{CONFIG_MAPS}?watch=1", accept=accept).status == 406


def test_a_client_that_reads_json_as_well_gets_json() -> None:
    seen = stream(Api(), f"{CONFIG_MAPS}?watch=1&timeoutSeconds=5", f"{STREAM},application/json")
    assert seen.answered[b"content-type"] == b"application/json"
