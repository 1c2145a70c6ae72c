"""The last steps of an answer: indented JSON, YAML, protobuf, or the bytes as they are."""

from collections.abc import Iterator
from typing import Final

import msgspec

from podium.apiserver import protobuf
from podium.apiserver.answers.content_negotiation import PROTOBUF, YAML, Accepted
from podium.apiserver.http.messages import Request, Response
from podium.apiserver.requests import query
from podium.golang.yaml_writer import yaml_chunks
from podium.kubernetes import status_errors
from podium.kubernetes.schema import Schema

_TOP: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


def rendered(
    request: Request,
    form: Accepted,
    status: int,
    chunks: Iterator[bytes],
    schema: Schema,
) -> Response:
    """An answer of JSON chunks in the form that the client accepts; `schema` is of the objects."""
    if form.media_type == PROTOBUF:
        return _protobuf(status, b"".join(chunks), schema)
    if form.media_type == YAML:
        return Response(status, yaml_chunks(b"".join(chunks)), b"application/yaml")
    if query.flag(request.parameters, "pretty"):
        return Response(status, msgspec.json.format(b"".join(chunks), indent=2))
    first = next(chunks)
    second = next(chunks, None)
    if second is None:
        return Response(status, first)
    return Response(status, _all(first, second, chunks))


def _all(first: bytes, second: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first + second
    yield from rest


def _protobuf(status: int, json_text: bytes, schema: Schema) -> Response:
    if schema.is_custom:
        raise status_errors.not_acceptable(
            "only the following media types are accepted: application/json, application/yaml"
        )
    body: bytes | Iterator[bytes]
    if "items" in _TOP.decode(json_text):
        body = protobuf.encode_list(schema, json_text)
    else:
        body = protobuf.encode(schema, msgspec.json.decode(json_text))
    return Response(status, body, PROTOBUF.encode())
