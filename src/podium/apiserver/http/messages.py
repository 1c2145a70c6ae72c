"""A request and its answer, as far as the server reads the one and writes the other.

Errors as answers, in the form that the client accepts.

The last steps of an answer: indented JSON, YAML, protobuf, or the bytes as they are.

Which kind of body a request has, and the options that a DELETE may carry in it.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from podium.apiserver import protobuf
from podium.apiserver.answers.content_negotiation import (
    JSON,
    PROTOBUF,
    YAML,
    Accepted,
    negotiate_form,
)
from podium.apiserver.requests import body_decoding, patches, query
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.query import DeleteOptions, Parameters, WriteOptions
from podium.golang.json_values import JsonObject, encode
from podium.golang.yaml_writer import as_yaml, yaml_chunks
from podium.kubernetes import status_errors
from podium.kubernetes.patching import STRATEGIC_MERGE_PATCH
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.schema import Schema
from podium.kubernetes.status_errors import StatusError
from podium.net.serving import BadQuery, parse_query

Headers = Mapping[bytes, Sequence[bytes]]
"""By name in lower case; values in the order of arrival."""

MAX_BODY_BYTES: Final = 3 << 20


@dataclass(slots=True)
class HttpRequest:
    """One request: what its line and its headers say, and its body."""

    method: str
    path: str
    parameters: Parameters
    headers: Headers
    body: bytes = b""

    def header(self, name: bytes) -> str:
        """A header's value, or an empty text; names are in lower case. Of several the first
        counts, as in Go."""
        values = self.headers.get(name)
        return values[0].decode("latin-1") if values else ""

    def header_values(self, name: bytes) -> tuple[str, ...]:
        """All values of a header that may be repeated, in the order of arrival."""
        return tuple(value.decode("latin-1") for value in self.headers.get(name, ()))


def request_from(scope: Mapping[str, Any]) -> HttpRequest:
    """The request of an ASGI scope, still without its parameters and its body."""
    return HttpRequest(
        scope["method"],
        scope["raw_path"].decode("latin-1"),
        {},
        headers_of(scope["headers"]),
    )


def headers_of(pairs: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Headers by name; what is repeated is kept."""
    headers: dict[bytes, list[bytes]] = {}
    for name, value in pairs:
        headers.setdefault(name, []).append(value)
    return headers


def parameters_of(query: bytes) -> Parameters:
    """Raises StatusError: half a query could do more than the whole one."""
    try:
        return parse_query(query)
    except BadQuery as problem:
        raise status_errors.bad_request(str(problem)) from None


@dataclass(slots=True)
class Response:
    """An answer; a body in chunks is sent as they come."""

    status: int
    body: bytes | Iterator[bytes]
    content_type: bytes = b"application/json"
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)


def json_response(value: object, status: int = 200) -> Response:
    return Response(status, encode(value) + b"\n")


def text_response(text: str, status: int = 200) -> Response:
    return Response(status, text.encode(), b"text/plain; charset=utf-8")


def warning_headers(warnings: Iterable[str]) -> list[tuple[bytes, bytes]]:
    """Warnings as headers of their own, each once; all are cut where they are too long together.

    upstream: a text with control characters is not told, since no header can carry it
    (`NewWarningHeader`, and `recorder` in apiserver's `endpoints/filters/warning.go`).
    """
    texts = [text for text in dict.fromkeys(warnings) if text and _fits_header(text)]
    is_cut = False
    written = 0
    headers: list[tuple[bytes, bytes]] = []
    for place, text in enumerate(texts):
        if is_cut and written >= _MAX_WARNINGS:
            break
        if not is_cut and written + len(text) > _MAX_WARNINGS:
            is_cut = True
            headers = [_warning_header(before[:_MAX_CUT_WARNING]) for before in texts[:place]]
            written = sum(min(len(before), _MAX_CUT_WARNING) for before in texts[:place])
        told = text[:_MAX_CUT_WARNING] if is_cut else text
        written += len(told)
        headers.append(_warning_header(told))
    return headers


_MAX_WARNINGS: Final = 4096
_MAX_CUT_WARNING: Final = 256
_NOT_IN_HEADERS: Final = frozenset(("Cc", "Cs"))


def _fits_header(text: str) -> bool:
    if text.isascii() and text.isprintable():
        return True
    return not any(unicodedata.category(character) in _NOT_IN_HEADERS for character in text)


def _warning_header(text: str) -> tuple[bytes, bytes]:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return b"warning", f'299 - "{quoted}"'.encode()


def refusal(request: HttpRequest, problem: StatusError) -> Response:
    """The answer to a request that failed; a client that accepts no form of it gets JSON."""
    response = status_response(request, problem.as_object(), problem.code)
    if problem.retry_after_s is not None:
        response.headers.append((b"retry-after", str(problem.retry_after_s).encode()))
    response.headers += warning_headers(problem.warnings)
    return response


def status_response(request: HttpRequest, status: JsonObject, code: int) -> Response:
    """A Status in the form that the client accepts."""
    form = _form(request.header(b"accept"))
    if form == YAML:
        return Response(code, as_yaml(status), YAML.encode())
    if form == PROTOBUF:
        return Response(code, protobuf.encode_status(status), PROTOBUF.encode())
    return json_response(status, code)


def _form(header: str) -> str:
    try:
        return negotiate_form(header).media_type
    except StatusError:
        return JSON


_TOP: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


def render_answer(
    request: HttpRequest,
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


_ACCEPTED: Final = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
_ACCEPTED_CUSTOM_PATCHES: Final = (
    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
)
_UNKNOWN_FORMAT: Final = (
    "the body of the request was in an unknown format - accepted media types include: "
)


def media_type_of(request: HttpRequest) -> str:
    """The media type of the body, without parameters."""
    return request.header(b"content-type").partition(";")[0].strip()


def object_type(request: HttpRequest) -> str:
    """The media type of a body that holds an object; JSON if it is not said."""
    found = media_type_of(request) or JSON
    if found not in (JSON, YAML, PROTOBUF):
        raise status_errors.unsupported_media_type(_UNKNOWN_FORMAT + _ACCEPTED)
    return found


def patch_type(request: HttpRequest, resource: ApiResource) -> str:
    """The kind of a patch; it must be said."""
    found = media_type_of(request)
    if found not in patches.PATCH_TYPES:
        raise status_errors.unsupported_media_type("415: Unsupported Media Type", details={})
    if resource.is_custom and found == STRATEGIC_MERGE_PATCH:
        raise status_errors.unsupported_media_type(_UNKNOWN_FORMAT + _ACCEPTED_CUSTOM_PATCHES)
    return found


def patch_options(request: HttpRequest, media_type: str) -> WriteOptions:
    return query.write_options(
        request.parameters, "PatchOptions", apply=media_type == patches.APPLY_PATCH
    )


def options_of_delete(request: HttpRequest, call: Call) -> DeleteOptions:
    """The options of a deletion: those of the body if there is one, else those of the query."""
    if not request.body:
        return query.delete_options_of_query(request.parameters)
    return query.delete_options_of_body(
        body_decoding.take_delete_options(request.body, object_type(request), call)
    )
