"""What is sent to a webhook, an AdmissionReview, and what its answer means.

A webhook that cannot be asked, or answers nonsense, raises `WebhookCallFailed`: its `failurePolicy`
decides. One that says no raises StatusError, with its own code and words.

What webhooks have said to one request, kept while it is gone through again.
"""

import base64
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

from podium.apiserver.bodies import Unreadable, read_json, read_yaml_body
from podium.apiserver.policies.attempted import AttemptedWrite, Forms, objects_of, request_object
from podium.apiserver.webhooks.stored_hooks import Webhook
from podium.golang.json_reader import json_type
from podium.golang.json_values import JsonObject, JsonValue, encode
from podium.golang.quoting import go_quote
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.schema import DecodeError, decode, schema_of
from podium.kubernetes.status_errors import StatusError

_GROUP: Final = "admission.k8s.io"
_KIND: Final = "AdmissionReview"
_VERSIONS: Final = ("v1", "v1beta1")
_JSON_PATCH: Final = "JSONPatch"
_MAX_CODE: Final = 599
NO_KIND: Final = "couldn't get version/kind; json parse error"
TYPE_META: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string'
    ' "json:\\"kind,omitempty\\"" }'
)


class WebhookCallFailed(Exception):
    """A webhook could not be asked, or its answer is none; the text is upstream's."""


@dataclass(frozen=True, slots=True)
class Review:
    """One question to one webhook."""

    hook: Webhook
    uid: str
    version: str
    body: bytes


@dataclass(frozen=True, slots=True)
class WebhookVerdict:
    """What a webhook that has nothing against a write says about it."""

    warnings: tuple[str, ...]
    patch: JsonValue = None


def make_review(
    hook: Webhook, attempted: AttemptedWrite, seen_as: ApiResource, forms: Forms, uid: str
) -> Review:
    """Raises CallFailed, and StatusError for a dry run that the webhook does not support."""
    if attempted.dry_run and not hook.may_run_dry:
        told = f'admission webhook "{hook.name}" does not support dry run'
        raise status_errors.bad_request(told)
    known = [each for each in hook.spec["admissionReviewVersions"] if each in _VERSIONS]
    if not known:
        raise WebhookCallFailed(
            "could not create admission objects: webhook does not accept known AdmissionReview"
            " versions (v1, v1beta1)"
        )
    obj, old = objects_of(attempted, seen_as, forms)
    request = request_object(attempted, seen_as)
    if not request["name"]:
        del request["name"]
    request |= {"uid": uid, "object": obj, "oldObject": old}
    review = {"kind": _KIND, "apiVersion": f"{_GROUP}/{known[0]}", "request": request}
    return Review(hook, uid, known[0], encode(review))


def read_verdict(review: Review, answer: bytes, *, mutating: bool) -> WebhookVerdict:
    """Raises CallFailed, and StatusError where the webhook refuses."""
    response = _response(review, answer, mutating=mutating)
    warnings = tuple(response.get("warnings") or ())
    if not response.get("allowed"):
        refused = _refusal(review.hook.name, response.get("status") or {})
        refused.warnings = warnings
        raise refused
    patch = base64.b64decode(response.get("patch") or "")
    if not patch:
        return WebhookVerdict(warnings)
    if response.get("patchType", _JSON_PATCH) != _JSON_PATCH and review.version == "v1":
        raise WebhookCallFailed(f"unsupported patch type {go_quote(response['patchType'])}")
    try:
        value = read_json(patch).value
    except Unreadable as problem:
        raise _undecodable(str(problem)) from None
    if value is not None and not isinstance(value, list):
        raise _undecodable(_not_into(value, "jsonpatch.Patch"))
    for each in value or ():
        if each is not None and not isinstance(each, dict):
            raise _undecodable(_not_into(each, "jsonpatch.Operation"))
    return WebhookVerdict(warnings, value)


def _undecodable(why: str) -> WebhookCallFailed:
    return WebhookCallFailed(f"received undecodable patch in webhook response: {why}")


def _not_into(value: JsonValue, go_type: str) -> str:
    return f"json: cannot unmarshal {json_type(value)} into Go value of type {go_type}"


def _response(review: Review, answer: bytes, *, mutating: bool) -> JsonObject:
    value = _read(answer)
    kind, api_version = value.get("kind") or "", value.get("apiVersion") or ""
    expected = f"{_GROUP}/{review.version}"
    if (kind, api_version) not in ((_KIND, expected), ("", ""), ("", expected), (_KIND, "")):
        raise WebhookCallFailed(f"failed to call webhook: {_other_kind(kind, api_version, review)}")
    try:
        found = decode(value, schema_of(_GROUP, "v1", _KIND)).value
    except DecodeError as problem:
        raise WebhookCallFailed(f"failed to call webhook: {problem.message}") from None
    response: JsonObject | None = found.get("response")
    if response is None:
        raise _invalid("webhook response was absent")
    if review.version == "v1":
        if response.get("uid", "") != review.uid:
            uids = f"{go_quote(review.uid)}, got {go_quote(response.get('uid', ''))}"
            raise _invalid(f"expected response.uid={uids}")
        if (kind, api_version) != (_KIND, expected):
            got = f"{api_version or '/'}, Kind={kind}"
            raise _invalid(f"expected webhook response of {expected}, Kind={_KIND}, got {got}")
        _check_patch(response, mutating=mutating)
    return response


def _read(answer: bytes) -> JsonObject:
    """An answer as a value. upstream: it may be YAML."""
    try:
        value = read_json(answer).value
    except Unreadable as problem:
        try:
            value = read_yaml_body(answer).value
        except Unreadable:
            raise WebhookCallFailed(f"failed to call webhook: {NO_KIND}: {problem}") from None
    if not isinstance(value, dict):
        raise WebhookCallFailed(f"failed to call webhook: {NO_KIND}: {_not_into(value, TYPE_META)}")
    return value


def _other_kind(kind: str, api_version: str, review: Review) -> str:
    version = api_version.rpartition("/")[2]
    if (kind, api_version) in (("Status", "v1"), *((_KIND, f"{_GROUP}/{v}") for v in _VERSIONS)):
        into = f"{review.version}.{_KIND}"
        return f"converting ({version}.{kind}) to ({into}): unknown conversion"
    return (
        f"no kind {go_quote(kind)} is registered for version {go_quote(api_version)} in scheme"
        ' "k8s.io/apiserver/pkg/util/webhook/client.go:71"'
    )


def _check_patch(response: JsonObject, *, mutating: bool) -> None:
    patch, patch_type = response.get("patch"), response.get("patchType")
    if not mutating:
        for field in ("patch", "patchType"):
            if response.get(field):
                raise _invalid(f"validating webhook may not return response.{field}")
    elif patch and patch_type is None:
        raise _invalid("webhook returned response.patch but not response.patchType")
    elif not patch and patch_type is not None:
        raise _invalid("webhook returned response.patchType but not response.patch")
    elif patch_type == "":
        raise _invalid('webhook returned invalid response.patchType of ""')


def _invalid(why: str) -> WebhookCallFailed:
    return WebhookCallFailed(f"received invalid webhook response: {why}")


def _refusal(hook: str, status: JsonObject) -> StatusError:
    told = f"admission webhook {go_quote(hook)} denied the request"
    why = status.get("message") or status.get("reason")
    told = f"{told}: {why}" if why else f"{told} without explanation"
    code = status.get("code") or 0
    code = 400 if code < 400 else code if code <= _MAX_CODE else 500
    refused = StatusError(code, status.get("reason") or "", told, status.get("details"))
    refused.metadata = status.get("metadata") or {}
    return refused


def failed_call(hook: Webhook, problem: WebhookCallFailed) -> StatusError:
    return status_errors.internal_error(f'failed calling webhook "{hook.name}": {problem}')


T = TypeVar("T")


class Caller(Protocol):
    """Whoever can reach webhooks. Every call ends in time, one way or the other."""

    async def ask(self, review: Review) -> bytes:
        """What the webhook answers; raises CallFailed."""

    async def ask_all(self, reviews: Iterable[Review]) -> Sequence[bytes | WebhookCallFailed]:
        """All answers, in the order of the reviews; they are asked at once."""


@dataclass(frozen=True, slots=True)
class WebhookOutcome:
    """How a round of webhooks has ended."""

    obj: JsonObject | None = None
    """What mutating webhooks made of the object; None if they left it as it was."""
    warnings: tuple[str, ...] = ()
    refused: StatusError | None = None


@dataclass(slots=True)
class WebhookAnswers:
    """Of one request, from its first round to its last."""

    now: str = ""
    """The time of the first round; empty in it."""
    outcomes: dict[bytes, WebhookOutcome] = field(default_factory=dict)
    """By the bytes of what was asked about."""
    _remembered: dict[str, Any] = field(default_factory=dict)

    def key_of(self, step: str, attempted: AttemptedWrite) -> bytes:
        """What a step is asked about, byte for byte."""
        what = (step, attempted.resource.api_version, attempted.resource.plural)
        where = (attempted.subresource, attempted.namespace, attempted.name, attempted.operation)
        return encode([*what, *where, attempted.obj, attempted.old])

    def remember(self, key: str, make: Callable[[], T]) -> T:
        """What must be the same in all rounds, such as a new object's uid."""
        if key not in self._remembered:
            self._remembered[key] = make()
        found: T = self._remembered[key]
        return found


class WebhooksNeeded(Exception):
    """A write has to wait for webhooks. `ask` asks them and keeps what they say."""

    async def ask(self, caller: Caller) -> None:
        raise NotImplementedError
