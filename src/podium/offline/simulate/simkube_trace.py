"""Traces of SimKube: which objects were applied and deleted when, and how long pods ran.

A trace is MessagePack: events with objects as an API server has them but for what differs between
clusters, and for the pods of each owner when they began and ended. It has no nodes; those come from
other files. As objects, everything that a trace ever applies is there at once, in its last form; as
events (`simkube_events`) things happen at their times.

upstream: acrlabs/simkube, sk-core/src/trace, version 2 of the format.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from podium.golang.documents import DEFAULT_LIMITS, Document, is_deeper_than
from podium.golang.errors import InputError
from podium.golang.json_values import JsonObject, JsonValue

VERSION: Final = 2
_FIRST_KEY: Final = b"\xa7version"
_MAPS: Final = range(0x80, 0x90)
"""The first byte of a small map."""


class TraceEvent(msgspec.Struct):
    """`ts` is in seconds since 1970."""

    ts: int
    applied_objs: list[JsonObject] = []
    deleted_objs: list[JsonObject] = []


Lifecycle = str | dict[str, int | list[int]]
"""`"Empty"`, `{"Running": begin}` or `{"Finished": [begin, end]}`."""


class SimKubeTrace(msgspec.Struct):
    version: int
    events: list[TraceEvent]
    pod_lifecycles: dict[tuple[str, str], dict[int, list[Lifecycle]]] = {}
    """By kind and name of the owner, then by the hash of the pods' spec."""


_HEAD: Final = msgspec.msgpack.Decoder(dict[str, msgspec.Raw])
_VERSION: Final = msgspec.msgpack.Decoder(int)
_TRACE: Final = msgspec.msgpack.Decoder(SimKubeTrace)


def is_simkube_trace(data: bytes) -> bool:
    return data[:1] != b"" and data[0] in _MAPS and data[1 : 1 + len(_FIRST_KEY)] == _FIRST_KEY


def decode_simkube_trace(data: bytes, source: str) -> SimKubeTrace:
    """Raises InputError."""
    try:
        version = _VERSION.decode(_HEAD.decode(data)["version"])
        if version != VERSION:
            remedy = "SimKube 2 writes traces of version 2"
            raise InputError(f"a SimKube trace of version {version}", source=source, remedy=remedy)
        trace = _TRACE.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError) as problem:
        remedy = "skctl export writes it anew"
        told = f"cannot be read as a SimKube trace: {problem}"
        raise InputError(told, source=source, remedy=remedy) from None
    if not any(event.applied_objs for event in trace.events):
        raise InputError("the trace applies no objects", source=source)
    for place, value in _objects(trace):
        if is_deeper_than(DEFAULT_LIMITS.depth, value):
            problem_text = f"nested more than {DEFAULT_LIMITS.depth} levels deep"
            raise InputError(problem_text, source=source, path=place)
    return trace


def simkube_documents(data: bytes, source: str) -> list[Document]:
    """Everything that the trace applies, in its last form and in order of arrival."""
    found: dict[tuple[str, str, str], Document] = {}
    for place, value in _objects(decode_simkube_trace(data, source)):
        found[identify(value)] = Document(source, 1, 1, value, place)
    return list(found.values())


def identify(value: JsonObject) -> tuple[str, str, str]:
    """(apiVersion/kind, namespace, name) of an object, empty where they are missing."""
    metadata = value.get("metadata")
    named: dict[str, JsonValue] = metadata if isinstance(metadata, dict) else {}
    kind = f"{value.get('apiVersion', '')}.{value.get('kind', '')}"
    return kind, str(named.get("namespace") or ""), str(named.get("name") or "")


def _objects(trace: SimKubeTrace) -> Iterator[tuple[str, JsonObject]]:
    for number, event in enumerate(trace.events):
        for index, value in enumerate(event.applied_objs):
            yield f"events[{number}].applied_objs[{index}]", value
