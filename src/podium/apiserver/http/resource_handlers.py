"""Requests about resources: from a path and a body to a verb, and from its result to an answer."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from podium.apiserver.access.authorisation import Grants
from podium.apiserver.access.reviews import Reviews
from podium.apiserver.access.tokens import Tokens
from podium.apiserver.access.users import AuthorizationAttributes, User
from podium.apiserver.answers.content_negotiation import (
    JSON,
    PROTOBUF,
    STREAMS,
    Accepted,
    negotiate_form,
    other_form,
)
from podium.apiserver.answers.presenters import (
    MetadataPresenter,
    Presenter,
    ProtobufPresenter,
    TablePresenter,
    WholePresenter,
)
from podium.apiserver.http.log_stream import LogAnswer
from podium.apiserver.http.messages import (
    HttpRequest,
    Response,
    object_type,
    options_of_delete,
    patch_options,
    patch_type,
    render_answer,
    status_response,
    warning_headers,
)
from podium.apiserver.http.paths import Target
from podium.apiserver.http.subresource_handlers import SubresourceHandlers
from podium.apiserver.requests import (
    body_decoding,
    creating,
    deleting,
    listing,
    outside_admission,
    patches,
    query,
    updating,
)
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.query import ListOptions
from podium.apiserver.requests.registry import Registry
from podium.apiserver.requests.watching import Watch
from podium.apiserver.store.stored import Stored
from podium.apiserver.webhooks.reviews import WebhookAnswers, WebhooksNeeded
from podium.golang.json_values import JsonObject, encode
from podium.kubernetes import status_errors, warnings
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.status_errors import StatusError

_VERBS: Final = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch"}


@dataclass(slots=True)
class WatchAnswer:
    """A watch that is to be streamed; one that starts too far back only tells so."""

    watch: Watch | StatusError
    presenter: Presenter
    resource: ApiResource
    options: ListOptions


class ResourceHandlers:
    """Answers requests about the objects of any resource."""

    def __init__(self, registry: Registry, tokens: Tokens, grants: Grants) -> None:
        self._registry = registry
        self._reviews = Reviews(tokens, grants)
        self._grants = grants
        self._subresources = SubresourceHandlers(registry, tokens)
        self._whole: dict[ApiResource, WholePresenter] = {}

    def handle(
        self,
        request: HttpRequest,
        target: Target,
        resource: ApiResource,
        user: User,
        attempt: AuthorizationAttributes | None,
        webhooks: WebhookAnswers,
    ) -> Response | WatchAnswer | LogAnswer:
        """Answer a request whose resource is served; what may not be done to it raises 405.

        `attempt` is what was authorised, None of a user who may do everything. WebhooksNeeded is
        raised where some have to be asked first.
        """
        agent = request.header(b"user-agent")
        now = webhooks.now or self._registry.now()
        call = Call(now, user, agent, attempt, self._grants, webhooks=webhooks)
        call.warn_all(warnings.on_use(resource))
        try:
            response = self._dispatch(request, target, resource, call)
        except StatusError as problem:
            problem.warnings = call.warnings
            raise
        except WebhooksNeeded:
            webhooks.now = now
            raise
        if call.warnings and isinstance(response, Response):
            response.headers += warning_headers(call.warnings)
        return response

    def _dispatch(
        self, request: HttpRequest, target: Target, resource: ApiResource, call: Call
    ) -> Response | WatchAnswer | LogAnswer:
        if target.watches and request.method != "GET":
            raise status_errors.method_not_allowed()  # it was authorised as a watch
        if target.subresource:
            return self._subresource(request, target, resource, call)
        if not target.name:
            return self._on_collection(request, target, resource, call)
        match request.method:
            case "GET" if target.watches and "watch" in resource.verbs:
                return self._list(request, target, resource)
            case "GET" if "get" in resource.verbs:
                return self._get(request, target, resource)
            case "PUT" if "update" in resource.verbs:
                return self._update(request, target, resource, call)
            case "PATCH" if "patch" in resource.verbs:
                return self._patch(request, target, resource, call)
            case "DELETE" if "delete" in resource.verbs:
                return self._delete(request, target, resource, call)
        raise status_errors.method_not_allowed()

    def _on_collection(
        self, request: HttpRequest, target: Target, resource: ApiResource, call: Call
    ) -> Response | WatchAnswer:
        everywhere = resource.namespaced and not target.namespace
        match request.method:
            case "GET" if "list" in resource.verbs:
                return self._list(request, target, resource)
            case "POST" if "create" in resource.verbs and not everywhere:
                return self._create(request, target, resource, call)
            case "DELETE" if "deletecollection" in resource.verbs and not everywhere:
                return self._delete_collection(request, target, resource, call)
        raise status_errors.method_not_allowed()

    # --- reading ------------------------------------------------------------------------------

    def _get(self, request: HttpRequest, target: Target, resource: ApiResource) -> Response:
        form = negotiate_form(request.header(b"accept"))
        version = listing.get(
            self._registry, resource, target.namespace, target.name, request.parameters
        )
        return self._answer_object(request, resource, version, form)

    def _list(
        self, request: HttpRequest, target: Target, resource: ApiResource
    ) -> Response | WatchAnswer:
        form = negotiate_form(request.header(b"accept"), is_list=True)
        parameters = request.parameters
        if target.watches:
            parameters = {**parameters, "watch": ["true"]}
            if target.name:
                parameters["fieldSelector"] = [f"metadata.name={target.name}"]
        options = query.list_options(parameters)
        speaks = (JSON,) if resource.is_custom else (JSON, PROTOBUF)
        if options.watch and form.media_type not in speaks:
            raise status_errors.not_acceptable(
                f"only the following media types are accepted: {', '.join(STREAMS)}"
            )
        presenter = self._presenter(request, resource, form, is_list=True, watches=options.watch)
        if options.watch:
            return self._watch(target, resource, options, presenter)
        listed = listing.list_objects(self._registry, resource, target.namespace, options)
        return self._render_answer(request, resource, form, 200, presenter.many(listed))

    def _watch(
        self, target: Target, resource: ApiResource, options: ListOptions, presenter: Presenter
    ) -> WatchAnswer:
        watch: Watch | StatusError
        try:
            watch = Watch(self._registry, resource, target.namespace, options)
        except StatusError as problem:
            if problem.code != 410:
                raise
            watch = problem  # upstream: the watch begins, and its first event is an error
        return WatchAnswer(watch, presenter, resource, options)

    # --- writing ------------------------------------------------------------------------------

    def _create(
        self, request: HttpRequest, target: Target, resource: ApiResource, call: Call
    ) -> Response:
        form = negotiate_form(request.header(b"accept"))
        if resource.kind == "Binding":
            return self._subresources.bind_by_body(request, target, call)
        call = call.with_options(query.write_options(request.parameters, "CreateOptions"))
        read = body_decoding.read_body(resource, request.body, object_type(request), call)
        obj = body_decoding.take(self._registry, resource, read, call)
        if self._reviews.answers(resource.kind):
            return self._answer_review(request, resource, obj, form, call)
        version = creating.create(self._registry, resource, target.namespace, obj, call)
        return self._answer_object(request, resource, version, form, 201)

    def _update(
        self, request: HttpRequest, target: Target, resource: ApiResource, call: Call
    ) -> Response:
        form = negotiate_form(request.header(b"accept"))
        call = call.with_options(query.write_options(request.parameters, "UpdateOptions"))
        read = body_decoding.read_body(resource, request.body, object_type(request), call)
        obj = body_decoding.take(self._registry, resource, read, call)
        written = updating.update(
            self._registry,
            resource,
            target.subresource,
            target.namespace,
            target.name,
            obj,
            call,
        )
        return self._answer_object(
            request, resource, written.version, form, 201 if written.created else 200
        )

    def _patch(
        self, request: HttpRequest, target: Target, resource: ApiResource, call: Call
    ) -> Response:
        form = negotiate_form(request.header(b"accept"))
        media_type = patch_type(request, resource)
        call = call.with_options(patch_options(request, media_type))
        given = patches.read_patch(request.body, media_type, call)
        written = patches.patch(
            self._registry,
            resource,
            target.subresource,
            target.namespace,
            target.name,
            given,
            call,
        )
        return self._answer_object(
            request, resource, written.version, form, 201 if written.created else 200
        )

    def _delete(
        self, request: HttpRequest, target: Target, resource: ApiResource, call: Call
    ) -> Response:
        form = negotiate_form(request.header(b"accept"))
        options = options_of_delete(request, call)
        call.warn_all(warnings.on_delete(resource, says_how=options.says_what_follows))
        done = deleting.delete(
            self._registry, resource, target.namespace, target.name, options, call
        )
        status = 202 if not done.gone and options.orphan_dependents is False else 200
        if done.version is not None:
            return self._answer_object(request, resource, done.version, form, status)
        return status_response(request, done.status or {}, status)

    def _delete_collection(
        self, request: HttpRequest, target: Target, resource: ApiResource, call: Call
    ) -> Response:
        form = negotiate_form(request.header(b"accept"))
        options = options_of_delete(request, call)
        call.warn_all(warnings.on_delete(resource, says_how=options.says_what_follows))
        chosen = query.list_options(
            {name: value for name, value in request.parameters.items() if name != "watch"}
        )

        def find() -> listing.Listed:
            return listing.list_objects(self._registry, resource, target.namespace, chosen)

        listed = call.remember("list", find)
        deleting.delete_collection(self._registry, resource, listed.versions, options, call)
        presenter = self._presenter(request, resource, form, is_list=True)
        return self._render_answer(request, resource, form, 200, presenter.many(listed))

    def _subresource(
        self, request: HttpRequest, target: Target, resource: ApiResource, call: Call
    ) -> Response | LogAnswer:
        found = resource.subresource_by_name.get(target.subresource)
        if found is None or target.too_long:
            if resource.is_custom:
                raise status_errors.not_found(resource, target.name)
            raise status_errors.unknown_resource()
        verb = _VERBS.get(request.method)
        if verb not in found.verbs:
            raise status_errors.method_not_allowed()
        if self._subresources.handles(found.name):
            return self._subresources.handle(request, target, resource, call)
        match verb:
            case "get":
                return self._get(request, target, resource)
            case "update":
                return self._update(request, target, resource, call)
            case _:
                return self._patch(request, target, resource, call)

    # --- answering ----------------------------------------------------------------------------

    def _answer_review(
        self,
        request: HttpRequest,
        resource: ApiResource,
        review: JsonObject,
        form: Accepted,
        call: Call,
    ) -> Response:
        if form.shown_as == "Table":
            raise other_form()  # reviews are shown in no table
        namespace = review["metadata"].get("namespace", "")
        where = (self._registry, resource, namespace, "", review, None, call)
        outside_admission.mutate_write(*where)
        outside_admission.review_write(*where)
        answer = self._reviews.answer(review, call.user, call.now)
        if form.shown_as:
            answer = MetadataPresenter(form.version).show_metadata(answer)
        return self._render_answer(request, resource, form, 201, iter((encode(answer), b"\n")))

    def _answer_object(
        self,
        request: HttpRequest,
        resource: ApiResource,
        version: Stored,
        form: Accepted,
        status: int = 200,
    ) -> Response:
        if form.is_plain and not request.parameters:
            return Response(status, self._whole_presenter(resource).one(version) + b"\n")
        presenter = self._presenter(request, resource, form, is_list=False)
        return self._render_answer(
            request, resource, form, status, iter((presenter.one(version), b"\n"))
        )

    def _render_answer(
        self,
        request: HttpRequest,
        resource: ApiResource,
        form: Accepted,
        status: int,
        chunks: Iterator[bytes],
    ) -> Response:
        return render_answer(request, form, status, chunks, self._registry.rules(resource).schema)

    def _presenter(
        self,
        request: HttpRequest,
        resource: ApiResource,
        form: Accepted,
        *,
        is_list: bool,
        watches: bool = False,
    ) -> Presenter:
        if form.shown_as == "Table":
            return TablePresenter(
                resource,
                self._registry.printer(resource),
                form.version,
                query.text(request.parameters, "includeObject"),
                self._registry.clock,
            )
        if watches and form.media_type == PROTOBUF:
            return ProtobufPresenter(resource, self._registry.rules(resource).schema)
        if form.shown_as:
            if is_list != (form.shown_as == "PartialObjectMetadataList") and not watches:
                kind = resource.list_kind if is_list else resource.kind
                found = "a list" if is_list else "not a list"
                raise status_errors.not_acceptable(
                    f"you requested {form.shown_as}, but the requested object is {found}"
                    f" (*{body_decoding.internal_type(resource, kind)})"
                )
            return MetadataPresenter(form.version)
        return self._whole_presenter(resource)

    def _whole_presenter(self, resource: ApiResource) -> WholePresenter:
        found = self._whole.get(resource)
        if found is None:
            found = self._whole[resource] = WholePresenter(resource)
        return found
