"""Errors as answers, in the form that the client accepts."""

from podium.apiserver import protobuf
from podium.apiserver.answers.content_negotiation import JSON, PROTOBUF, YAML, accepted
from podium.apiserver.http.messages import Request, Response, json_response, warning_headers
from podium.golang.json_values import JsonObject
from podium.golang.yaml_writer import as_yaml
from podium.kubernetes.status_errors import StatusError


def refusal(request: Request, problem: StatusError) -> Response:
    """The answer to a request that failed; a client that accepts no form of it gets JSON."""
    response = status_response(request, problem.as_object(), problem.code)
    if problem.retry_after_s is not None:
        response.headers.append((b"retry-after", str(problem.retry_after_s).encode()))
    response.headers += warning_headers(problem.warnings)
    return response


def status_response(request: Request, status: JsonObject, code: int) -> Response:
    """A Status in the form that the client accepts."""
    form = _form(request.header(b"accept"))
    if form == YAML:
        return Response(code, as_yaml(status), YAML.encode())
    if form == PROTOBUF:
        return Response(code, protobuf.encode_status(status), PROTOBUF.encode())
    return json_response(status, code)


def _form(header: str) -> str:
    try:
        return accepted(header).media_type
    except StatusError:
        return JSON
