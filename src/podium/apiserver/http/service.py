"""The whole server as one function from a request to an answer, without sockets.

Who asks is found first, then whether they may, then what is asked: so an anonymous client learns
nothing of which resources exist. The HTTP application and the in-process transport both end here.
"""

from dataclasses import dataclass

from podium.apiserver import status_errors
from podium.apiserver.access import authorisation
from podium.apiserver.access.authorisation import Attempt
from podium.apiserver.access.grants import Grants
from podium.apiserver.access.reviews import Reviews
from podium.apiserver.access.tokens import Tokens
from podium.apiserver.access.users import AUTHENTICATED, User
from podium.apiserver.discovery.documents import Discovery
from podium.apiserver.http.messages import Request, Response
from podium.apiserver.http.other_handlers import OtherHandlers, page_not_found
from podium.apiserver.http.paths import Target, parts_of, target_of, verb_of
from podium.apiserver.http.resource_handlers import ResourceHandlers, WatchAnswer
from podium.apiserver.openapi import OpenApi
from podium.apiserver.requests import query
from podium.apiserver.requests.registry import Registry
from podium.apiserver.resources.resource import Resource


@dataclass(slots=True)
class Admitted:
    """A request whose sender is known and may send it; its body need not be here yet."""

    request: Request
    user: User
    parts: list[str]
    target: Target | None


class Service:
    """Answers every request in two steps; what is refused is raised as StatusError."""

    def __init__(self, registry: Registry, tokens: Tokens, openapi: OpenApi) -> None:
        self.registry = registry
        self._tokens = tokens
        self._discovery = Discovery(registry.table)
        self._grants = Grants(registry.lookup)
        self._resources = ResourceHandlers(registry, Reviews(tokens, self._grants))
        self.others = OtherHandlers(self._discovery, openapi)

    def admit(self, request: Request) -> Admitted:
        """Find out who asks and whether they may, before anything of a body is read."""
        user = self._user(request)
        parts = parts_of(request.path)
        target = target_of(parts)
        if target is None:
            path = "/" + "/".join(parts)
            authorisation.require_path(user, _path_verb(request.method), path, self._grants)
        elif not user.may_do_everything:
            resource = self.registry.table.find(target.group, target.version, target.plural)
            self._require(user, request, target, resource)
        return Admitted(request, user, parts, target)

    def respond(self, admitted: Admitted) -> Response | WatchAnswer:
        """Do what is asked, by now with the body."""
        request, target = admitted.request, admitted.target
        if target is None:
            return self.others.handle(request, admitted.parts)
        resource = self.registry.table.find(target.group, target.version, target.plural)
        if resource is None or _is_misplaced(resource, target):
            if not self._discovery.has_version(target.group, target.version):
                return page_not_found()
            raise status_errors.unknown_resource()
        everywhere = resource.is_custom and resource.namespaced and not target.namespace
        if everywhere and request.method not in ("GET", "HEAD"):
            return page_not_found()
        return self._resources.handle(request, target, resource, admitted.user)

    def _user(self, request: Request) -> User:
        user = self._tokens.authenticated(request.header(b"authorization"))
        name = request.header(b"impersonate-user")
        if not name:
            return user
        authorisation.require(
            user,
            Attempt("impersonate", "", "users", name=name),
            _unserved("", "users"),
            self._grants,
        )
        groups = request.header(b"impersonate-group")
        return User(name, "", (*([groups] if groups else ()), AUTHENTICATED))

    def _require(
        self, user: User, request: Request, target: Target, resource: Resource | None
    ) -> None:
        watch = query.flag(request.parameters, "watch") or False
        verb = verb_of(request.method, target, watch=watch)
        attempt = Attempt(
            verb, target.group, target.plural, target.subresource, target.namespace, target.name
        )
        about = resource or _unserved(target.group, target.plural)
        authorisation.require(user, attempt, about, self._grants)


def _is_misplaced(resource: Resource, target: Target) -> bool:
    """The path puts the resource into a namespace, or takes it out of one."""
    if target.namespace:
        return not resource.namespaced
    return resource.namespaced and bool(target.name)


def _path_verb(method: str) -> str:
    return {"GET": "get", "HEAD": "head"}.get(method, method.lower())


def _unserved(group: str, plural: str) -> Resource:
    """Stands in errors for a resource that is not there."""
    return Resource(group, "", "", plural, "", namespaced=False)
