"""The whole server as one function from a request to an answer, without sockets.

Who asks is found first, then whether they may, then what is asked: so an anonymous client learns
nothing of which resources exist. The HTTP application and the in-process transport both end here.
"""

from dataclasses import dataclass, field

from podium.apiserver.access import authorisation
from podium.apiserver.access.attempts import Attempt
from podium.apiserver.access.grants import Grants
from podium.apiserver.access.impersonation import Impersonation, wanted_user
from podium.apiserver.access.tokens import Tokens
from podium.apiserver.access.users import User
from podium.apiserver.aggregation.api_services import ApiServices
from podium.apiserver.discovery.documents import Discovery
from podium.apiserver.http.log_stream import LogAnswer
from podium.apiserver.http.messages import Request, Response
from podium.apiserver.http.other_handlers import OtherHandlers, page_not_found
from podium.apiserver.http.paths import Target, attempt_of, parts_of, target_of
from podium.apiserver.http.resource_handlers import ResourceHandlers, WatchAnswer
from podium.apiserver.openapi import OpenApi
from podium.apiserver.requests.registry import Registry
from podium.apiserver.resource_metrics.handler import GROUP as METRICS_GROUP
from podium.apiserver.resource_metrics.handler import ResourceMetrics
from podium.apiserver.webhooks.answers import WebhookAnswers
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import Resource


@dataclass(slots=True)
class Admitted:
    """A request whose sender is known and may send it; its body need not be here yet."""

    request: Request
    user: User
    parts: list[str]
    target: Target | None
    attempt: Attempt | None
    """What was authorised; None for those who may do everything."""
    webhooks: WebhookAnswers = field(default_factory=WebhookAnswers)


class Service:
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

    def admit(self, request: Request) -> Admitted:
        """Find out who asks and whether they may, before anything of a body is read."""
        user = self._tokens.authenticated(request.header(b"authorization"))
        wanted = wanted_user(request.headers)
        parts = parts_of(request.path)
        target = target_of(parts)
        attempt: Attempt | None = None
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


def _is_misplaced(resource: Resource, target: Target) -> bool:
    """The path puts the resource into a namespace, takes it out of one, or knows no such form."""
    if target.prefix and (not target.watches or target.subresource):
        return True
    if target.namespace:
        return not resource.namespaced
    return resource.namespaced and bool(target.name)
