"""Subresources that are no part of their object: binding, eviction, scale, token, logs."""

from collections.abc import Callable, Mapping
from typing import Final

from podium.apiserver.access.tokens import Tokens
from podium.apiserver.answers.content_negotiation import negotiate_form, other_form
from podium.apiserver.answers.presenters import TablePresenter
from podium.apiserver.http.log_stream import CONTENT_TYPE, LogAnswer
from podium.apiserver.http.messages import (
    HttpRequest,
    Response,
    object_type,
    patch_options,
    patch_type,
    render_answer,
    status_response,
)
from podium.apiserver.http.paths import Target
from podium.apiserver.requests import (
    body_decoding,
    patches,
    pod_logs,
    pod_subresources,
    query,
    scaling,
    token_requests,
)
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.pod_subresources import evict
from podium.apiserver.requests.registry import Registry
from podium.golang.json_values import JsonObject, encode
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.schema import Schema, schema_of
from podium.kubernetes.tables import SCALE

_NOT_SUPPORTED: Final = {
    "attach": "attaching to a container",
    "exec": "running a command in a container",
    "portforward": "forwarding a port",
}


class SubresourceHandlers:
    def __init__(self, registry: Registry, tokens: Tokens) -> None:
        self._registry = registry
        self._tokens = tokens
        self._handlers: Mapping[
            str, Callable[[HttpRequest, Target, ApiResource, Call], Response | LogAnswer]
        ] = {
            "binding": self._bind,
            "eviction": self._evict,
            "log": self._log,
            "scale": self._scale,
            "token": self._token,
            **dict.fromkeys(_NOT_SUPPORTED, self._refuse),
        }

    def handles(self, name: str) -> bool:
        return name in self._handlers

    def handle(
        self, request: HttpRequest, target: Target, resource: ApiResource, call: Call
    ) -> Response | LogAnswer:
        negotiate_form(request.header(b"accept"))
        return self._handlers[target.subresource](request, target, resource, call)

    def bind_by_body(self, request: HttpRequest, target: Target, call: Call) -> Response:
        """The old way to bind: the name is in the object alone."""
        given, call = self._object(request, schema_of("", "v1", "Binding"), call)
        name = given["metadata"].get("name", "")
        done = pod_subresources.bind(self._registry, target.namespace, name, given, call)
        return status_response(request, done, 201)

    def _bind(self, request: HttpRequest, target: Target, _: ApiResource, call: Call) -> Response:
        given, call = self._object(request, schema_of("", "v1", "Binding"), call)
        done = pod_subresources.bind(self._registry, target.namespace, target.name, given, call)
        return status_response(request, done, 201)

    def _evict(self, request: HttpRequest, target: Target, _: ApiResource, call: Call) -> Response:
        given, call = self._object(request, schema_of("policy", "v1", "Eviction"), call)
        done = evict(self._registry, target.namespace, target.name, given, call)
        return status_response(request, done, 201)

    def _token(self, request: HttpRequest, target: Target, _: ApiResource, call: Call) -> Response:
        form = negotiate_form(request.header(b"accept"))
        if form.shown_as == "Table":
            raise other_form()
        schema = schema_of("authentication.k8s.io", "v1", "TokenRequest")
        given, call = self._object(request, schema, call)
        assert self._tokens.accounts is not None, "a served registry has them"
        made = token_requests.request_token(
            self._registry, self._tokens.accounts, target.namespace, target.name, given, call
        )
        return render_answer(request, form, 201, iter((encode(made), b"\n")), schema)

    def _scale(
        self, request: HttpRequest, target: Target, resource: ApiResource, call: Call
    ) -> Response:
        before = self._registry.get(resource, target.namespace, target.name)
        current = scaling.scale_of(self._registry, resource, self._registry.read(resource, before))
        if request.method == "GET":
            return self._shown_scale(request, resource, current)
        schema = schema_of("autoscaling", "v1", "Scale")
        if request.method == "PUT":
            given, call = self._object(request, schema, call, "UpdateOptions")
        else:
            media_type = patch_type(request, resource)
            call = call.with_options(patch_options(request, media_type))
            patch = patches.read_patch(request.body, media_type, call)
            given = patches.taken_as(patch, patch.applied_to(current, schema), schema, call)
        scale = scaling.update_scale(
            self._registry, resource, target.namespace, target.name, given, before, call
        )
        return self._shown_scale(request, resource, scale)

    def _shown_scale(
        self, request: HttpRequest, resource: ApiResource, scale: JsonObject
    ) -> Response:
        form = negotiate_form(request.header(b"accept"))
        if form.shown_as != "Table":
            schema = schema_of("autoscaling", "v1", "Scale")
            return render_answer(request, form, 200, iter((encode(scale), b"\n")), schema)
        included = query.text(request.parameters, "includeObject")
        clock = self._registry.clock
        table = TablePresenter(resource, SCALE, form.version, included, clock)
        return Response(200, table.table_of(scale) + b"\n")

    def _log(
        self, request: HttpRequest, target: Target, resource: ApiResource, _: Call
    ) -> Response | LogAnswer:
        now_s = self._registry.clock()
        options = pod_logs.read_log_options(request.parameters, target.name, now_s)
        stored = self._registry.get(resource, target.namespace, target.name)
        pod = self._registry.read(resource, stored)
        container = pod_logs.choose_container(pod, options.container)
        if not pod["spec"].get("nodeName"):
            return Response(204, b"", b"")  # upstream: nowhere to ask
        log = pod_logs.find_log(pod, container, previous=options.previous)
        if options.follow and not log.is_over:
            return LogAnswer(self._registry, resource, pod, container, options)
        body = b"".join(pod_logs.write_lines(log.lines, options))
        return Response(200, body[: options.limit_bytes], CONTENT_TYPE)

    def _refuse(self, _: HttpRequest, target: Target, resource: ApiResource, __: Call) -> Response:
        found = self._registry.get(resource, target.namespace, target.name)
        pod = self._registry.read(resource, found)
        if not pod["spec"].get("nodeName"):
            why = f"pod {target.name} does not have a host assigned"
            raise status_errors.bad_request(why)
        raise status_errors.StatusError(
            405,
            "MethodNotAllowed",
            f"{_NOT_SUPPORTED[target.subresource]} is not supported: the pods of this server are"
            " simulated and run no containers",
            {"name": target.name, "kind": resource.plural},
        )

    def _object(
        self, request: HttpRequest, schema: Schema, call: Call, kind: str = "CreateOptions"
    ) -> tuple[JsonObject, Call]:
        """The object of a request of the schema's kind, and the call with its options."""
        call = call.with_options(query.write_options(request.parameters, kind))
        read = body_decoding.read_body(schema, request.body, object_type(request), call)
        body_decoding.check_kind(self._registry, schema, read.value)
        return body_decoding.take_as(schema, read, call), call
