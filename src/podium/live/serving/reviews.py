"""Asking the API server who somebody is, and what he may do.

Answers are remembered for some seconds, so that a scrape every few seconds does not become two
requests to the API server each time. A question that got no answer is asked again.

Sources: `staging/src/k8s.io/apiserver/plugin/pkg/authenticator/token/webhook`, the authorizer's
`webhook` beside it.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

import msgspec

from podium.client import KubeClient, RequestFailed
from podium.golang.errors import PodiumError

TOKEN_REVIEWS: Final = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS_REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_MAX_REMEMBERED: Final = 4096

ValueT = TypeVar("ValueT")


class ReviewFailed(PodiumError):
    """The API server gave no answer; says why."""


class UserInfo(msgspec.Struct, frozen=True):
    """Who sends a request."""

    name: str = msgspec.field(default="", name="username")
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)


class _TokenStatus(msgspec.Struct):
    authenticated: bool = False
    user: UserInfo = UserInfo()
    error: str = ""


class _TokenReview(msgspec.Struct):
    status: _TokenStatus = msgspec.field(default_factory=_TokenStatus)


class AccessStatus(msgspec.Struct, frozen=True):
    """What the API server thinks of a request; `denied` closes what others might allow."""

    allowed: bool = False
    denied: bool = False
    reason: str = ""


class _AccessReview(msgspec.Struct):
    status: AccessStatus = AccessStatus()


class Remembered(Generic[ValueT]):
    """Values that are good for some time; of too many the oldest are forgotten."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._held: OrderedDict[Hashable, tuple[float, ValueT]] = OrderedDict()

    def get(self, key: Hashable) -> ValueT | None:
        found = self._held.get(key)
        if found is None:
            return None
        until, value = found
        if until <= self._clock():
            del self._held[key]
            return None
        return value

    def put(self, key: Hashable, value: ValueT, good_for_s: float) -> None:
        if good_for_s <= 0:
            return
        self._held[key] = (self._clock() + good_for_s, value)
        self._held.move_to_end(key)
        while len(self._held) > _MAX_REMEMBERED:
            self._held.popitem(last=False)

    def __len__(self) -> int:
        return len(self._held)


class TokenReviews:
    def __init__(self, client: KubeClient, good_for_s: float, clock: Callable[[], float]) -> None:
        self._client = client
        self._good_for_s = good_for_s
        self._known: Remembered[_TokenStatus] = Remembered(clock)

    async def user_of(self, token: str) -> UserInfo | None:
        """Whose token it is; None if it is nobody's. Raises ReviewFailed."""
        key = hashlib.sha256(token.encode(errors="surrogateescape")).digest()
        status = self._known.get(key)
        if status is None:
            asked: dict[str, object] = {
                "kind": "TokenReview",
                "apiVersion": "authentication.k8s.io/v1",
                "metadata": {},
                "spec": {"token": token},
            }
            review = await _reviewed(self._client, TOKEN_REVIEWS, asked, _TokenReview)
            status = review.status
            self._known.put(key, status, self._good_for_s)
        return status.user if status.authenticated else None


class AccessReviews:
    def __init__(
        self,
        client: KubeClient,
        allowed_for_s: float,
        denied_for_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._client = client
        self._good_for_s = {True: allowed_for_s, False: denied_for_s}
        self._known: Remembered[AccessStatus] = Remembered(clock)

    async def status_of(self, user: UserInfo, verb: str, path: str) -> AccessStatus:
        """What a user may do with a path. Raises ReviewFailed."""
        spec: dict[str, object] = {
            "nonResourceAttributes": {"path": path, "verb": verb},
            "user": user.name,
            "groups": user.groups,
        }
        if user.uid:
            spec["uid"] = user.uid
        if user.extra:
            spec["extra"] = user.extra
        key = msgspec.json.encode(spec, order="deterministic")
        status = self._known.get(key)
        if status is None:
            asked: dict[str, object] = {
                "kind": "SubjectAccessReview",
                "apiVersion": "authorization.k8s.io/v1",
                "metadata": {},
                "spec": spec,
            }
            review = await _reviewed(self._client, ACCESS_REVIEWS, asked, _AccessReview)
            status = review.status
            self._known.put(key, status, self._good_for_s[status.allowed])
        return status


ReviewT = TypeVar("ReviewT")


async def _reviewed(
    client: KubeClient, path: str, asked: dict[str, object], kind: type[ReviewT]
) -> ReviewT:
    try:
        answer = await client.request("POST", path, body=msgspec.json.encode(asked))
        return msgspec.json.decode(answer, type=kind)
    except (RequestFailed, msgspec.MsgspecError) as problem:
        raise ReviewFailed(str(problem)) from problem
