"""The whole server as one function from a request to an answer, without sockets.

Who asks is found first, then whether they may, then what is asked: so an anonymous client learns
nothing of which resources exist. The HTTP application and the in-process transport both end here.

Requests about the server itself: discovery, OpenAPI, health, version.
"""

from dataclasses import dataclass, field
from typing import Final

from podium.apiserver.access import authorisation
from podium.apiserver.access.authorisation import Grants
from podium.apiserver.access.impersonation import Impersonation, wanted_user
from podium.apiserver.access.tokens import Tokens
from podium.apiserver.access.users import AuthorizationAttributes, User
from podium.apiserver.aggregation import ApiServices
from podium.apiserver.answers.content_negotiation import accepted_discovery
from podium.apiserver.discovery import Discovery, version_info
from podium.apiserver.http.log_stream import LogAnswer
from podium.apiserver.http.messages import HttpRequest, Response, json_response, text_response
from podium.apiserver.http.paths import Target, attempt_of, parts_of, target_of
from podium.apiserver.http.resource_handlers import ResourceHandlers, WatchAnswer
from podium.apiserver.openapi import OpenApi
from podium.apiserver.requests.registry import Registry
from podium.apiserver.resource_metrics import GROUP as METRICS_GROUP
from podium.apiserver.resource_metrics import ResourceMetrics
from podium.apiserver.webhooks.reviews import WebhookAnswers
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import ApiResource

_HEALTH: Final = ("healthz", "livez", "readyz")
_CHECKS: Final = ("ping", "log", "store")
_PROTOBUF: Final = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
_ANSWERED_PROTOBUF: Final = _PROTOBUF.replace("@", ".").encode()
"""upstream: `@` is requested but may not be in the type of an answer."""
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

    def handle(self, request: HttpRequest, parts: list[str]) -> Response:
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

    def _discover(self, request: HttpRequest, root: str, rest: list[str]) -> Response:
        core = root == "api"
        if not rest:
            form = accepted_discovery(request.header(b"accept"))
            if form.shown_as:
                return Response(
                    200,
                    self._discovery.encode_aggregated(core=core, form=form.version),
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

    def _describe(self, request: HttpRequest, rest: list[str]) -> Response:
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

    def _health(self, request: HttpRequest, name: str, rest: list[str]) -> Response:
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


@dataclass(slots=True)
class Admitted:
    """A request whose sender is known and may send it; its body need not be here yet."""

    request: HttpRequest
    user: User
    parts: list[str]
    target: Target | None
    attempt: AuthorizationAttributes | None
    """What was authorised; None for those who may do everything."""
    webhooks: WebhookAnswers = field(default_factory=WebhookAnswers)


class RequestHandler:
    """Answers every request in two steps; what is refused is raised as StatusError."""

    def __init__(
        self, registry: Registry, tokens: Tokens, openapi: OpenApi, api_services: ApiServices
    ) -> None:
        self.registry = registry
        self.api_services = api_services
        self._tokens = tokens
        self._discovery = Discovery(registry.table, api_services)
        self._grants = Grants(registry.lookup)
        self._impersonation = Impersonation(self._grants)
        self._resources = ResourceHandlers(registry, tokens, self._grants)
        self.others = OtherHandlers(self._discovery, openapi)
        self._metrics: ResourceMetrics | None = None

    def serve_metrics(self) -> None:
        """Serve `metrics.k8s.io` from now on; see `resource_metrics`."""
        self._metrics = ResourceMetrics(self.registry)
        self._discovery.serve_beside(*self._metrics.resources)

    def admit(self, request: HttpRequest) -> Admitted:
        """Find out who asks and whether they may, before anything of a body is read."""
        user = self._tokens.authenticate(request.header(b"authorization"))
        wanted = wanted_user(request.headers)
        parts = parts_of(request.path)
        target = target_of(parts)
        attempt: AuthorizationAttributes | None = None
        if wanted is not None or not user.may_do_everything:
            attempt = attempt_of(request.method, request.path, target, request.parameters)
            if wanted is not None:
                user = self._impersonation.impersonate(user, wanted, attempt)
            authorisation.require(user, attempt, self._grants)
        return Admitted(request, user, parts, target, attempt)

    def respond(self, admitted: Admitted) -> Response | WatchAnswer | LogAnswer:
        """Do what is asked, by now with the body; WebhooksNeeded if some have to be asked first.

        Then it is called again with the same request, which by then knows what they said.
        """
        request, target = admitted.request, admitted.target
        if target is None:
            return self.others.handle(request, admitted.parts)
        if self._metrics is not None and target.group == METRICS_GROUP:
            return self._metrics.handle(request, target)
        resource = self.registry.table.find_served(target.group, target.version, target.plural)
        if resource is None or _is_misplaced(resource, target):
            if not self._discovery.has_version(target.group, target.version):
                return page_not_found()
            raise status_errors.unknown_resource()
        everywhere = resource.is_custom and resource.namespaced and not target.namespace
        if everywhere and request.method not in ("GET", "HEAD"):
            return page_not_found()
        who = (admitted.user, admitted.attempt)
        return self._resources.handle(request, target, resource, *who, admitted.webhooks)


def _is_misplaced(resource: ApiResource, target: Target) -> bool:
    """The path puts the resource into a namespace, takes it out of one, or knows no such form."""
    if target.prefix and (not target.watches or target.subresource):
        return True
    if target.namespace:
        return not resource.namespaced
    return resource.namespaced and bool(target.name)
