"""Requests about the server itself: discovery, OpenAPI, health, version."""

from typing import Final

from podium.apiserver.answers.content_negotiation import accepted_discovery
from podium.apiserver.discovery.documents import Discovery
from podium.apiserver.discovery.version import version_info
from podium.apiserver.http.messages import Request, Response, json_response, text_response
from podium.apiserver.openapi import OpenApi
from podium.kubernetes import status_errors

_HEALTH: Final = ("healthz", "livez", "readyz")
_CHECKS: Final = ("ping", "log", "store")
_PROTOBUF: Final = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
_ANSWERED_PROTOBUF: Final = _PROTOBUF.replace("@", ".").encode()
"""upstream: `@` is asked for but may not stand in the type of an answer."""
_ROOT_PATHS: Final = (
    "/api", "/api/v1", "/apis", "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz",
    "/version",
)  # fmt: skip


def page_not_found() -> Response:
    """What the outermost router says of paths that nobody serves."""
    return text_response("404 page not found\n", 404)


class OtherHandlers:
    def __init__(self, discovery: Discovery, openapi: OpenApi) -> None:
        self._discovery = discovery
        self._openapi = openapi
        self.is_ready = True

    def handle(self, request: Request, parts: list[str]) -> Response:
        if request.method not in ("GET", "HEAD"):
            raise status_errors.method_not_allowed()
        match parts:
            case []:
                return json_response({"paths": _ROOT_PATHS})
            case ["api", *rest] | ["apis", *rest]:
                return self._discover(request, parts[0], rest)
            case ["version"]:
                return json_response(version_info())
            case ["openapi", *rest]:
                return self._describe(request, rest)
            case [name, *rest] if name in _HEALTH:
                return self._health(request, name, rest)
        return page_not_found()

    def _discover(self, request: Request, root: str, rest: list[str]) -> Response:
        core = root == "api"
        if not rest:
            form = accepted_discovery(request.header(b"accept"))
            if form.shown_as:
                return Response(
                    200,
                    self._discovery.aggregated(core=core, form=form.version),
                    f"application/json;g=apidiscovery.k8s.io;v={form.version};"
                    f"as={form.shown_as}".encode(),
                    [(b"vary", b"Accept")],
                )
            if core:
                return Response(200, self._discovery.versions(request.header(b"host")))
            return Response(200, self._discovery.groups())
        if core and len(rest) == 1:
            document = self._discovery.resources("", rest[0])
        elif not core and len(rest) == 1:
            document = self._discovery.group(rest[0])
        elif not core and len(rest) == 2:
            document = self._discovery.resources(rest[0], rest[1])
        else:
            document = None
        if document is not None:
            return Response(200, document)
        if core or self._discovery.has_group(rest[0]):
            raise status_errors.unknown_resource()
        return page_not_found()

    def _describe(self, request: Request, rest: list[str]) -> Response:
        match rest:
            case ["v2"]:
                if _PROTOBUF in request.header(b"accept"):
                    return Response(200, self._openapi.v2_protobuf(), _ANSWERED_PROTOBUF)
                return Response(200, self._openapi.v2())
            case ["v3"]:
                return Response(200, self._openapi.v3_index(), b"text/plain; charset=utf-8")
            case ["v3", *path]:
                document = self._openapi.v3_document("/".join(path))
                if document is not None:
                    return Response(200, document)
        return page_not_found()

    def _health(self, request: Request, name: str, rest: list[str]) -> Response:
        ready = self.is_ready or name != "readyz"
        if rest:
            if len(rest) > 1 or rest[0] not in (*_CHECKS, "etcd"):
                return page_not_found()
            return text_response("ok")
        if not ready:
            return text_response(f"[-]shutdown failed: reason withheld\n{name} check failed\n", 500)
        if "verbose" not in request.parameters:
            return text_response("ok")
        excluded = request.parameters.get("exclude", ())
        lines = [
            f"[+]{check} excluded: ok" if check in excluded else f"[+]{check} ok"
            for check in _CHECKS
        ]
        return text_response("\n".join([*lines, f"{name} check passed", ""]))
