"""Who sends a request, and what he may look at; the API server is asked for both.

In turn: a front proxy that shows its certificate and names the user in headers, a user's own
certificate, a bearer token. The first that knows somebody decides. Nothing shown at all makes an
anonymous user; something shown that is not good makes a refusal.

Certificates were verified with the connection already; here it only matters which of two bundles
vouches for one. Sources: `staging/src/k8s.io/apiserver/pkg/authentication`, its `request/x509`,
`request/headerrequest` and `request/bearertoken`.

What somebody may look at. The first that says yes decides: the group of cluster administrators, the
list of paths that are open to everybody, the API server. A path on the list is meant exactly; `*`
at its end opens what begins like it.

Source: `DelegatingAuthorizationOptions` in `staging/src/k8s.io/apiserver/pkg/server/options`.

Asking the API server who somebody is, and what he may do. Answers are remembered for some seconds,
so that a scrape every few seconds does not become two requests to the API server each time. A
question that got no answer is asked again.

Sources: `staging/src/k8s.io/apiserver/plugin/pkg/authenticator/token/webhook`, the authorizer's
`webhook` beside it.
"""

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeVar
from urllib.parse import unquote

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from podium.client import KubeClient, RequestFailed
from podium.golang.errors import PodiumError
from podium.live.serving.exchange import PageRequest
from podium.live.serving.surface import Reviewers
from podium.live.serving.tls import FrontProxy, Trust, has_signed
from podium.scheduler.config.flags.options import AuthenticationFlags, AuthorizationFlags

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
            review = await _post_review(self._client, TOKEN_REVIEWS, asked, _TokenReview)
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
            review = await _post_review(self._client, ACCESS_REVIEWS, asked, _AccessReview)
            status = review.status
            self._known.put(key, status, self._good_for_s[status.allowed])
        return status


ReviewT = TypeVar("ReviewT")


async def _post_review(
    client: KubeClient, path: str, asked: dict[str, object], kind: type[ReviewT]
) -> ReviewT:
    try:
        answer = await client.request("POST", path, body=msgspec.json.encode(asked))
        return msgspec.json.decode(answer, type=kind)
    except (RequestFailed, msgspec.MsgspecError) as problem:
        raise ReviewFailed(str(problem)) from problem


_LOG: Final = logging.getLogger("podium.live")
_AUTHENTICATED: Final = "system:authenticated"
_CREDENTIAL: Final = "authentication.kubernetes.io/credential-id"

ANONYMOUS: Final = UserInfo("system:anonymous", groups=("system:unauthenticated",))


class NotGood(PodiumError):
    """What a client has shown is not believed; says why."""


class Authenticator:
    def __init__(
        self,
        flags: AuthenticationFlags,
        trust: Trust,
        reviewers: Reviewers,
        clock: Callable[[], float],
    ) -> None:
        self._trust = trust
        self._tokens: TokenReviews | None = None
        if reviewers.authentication is not None:
            good_for_s = flags.authentication_token_webhook_cache_ttl.seconds
            self._tokens = TokenReviews(reviewers.authentication, good_for_s, clock)

    async def user_of(self, request: PageRequest) -> UserInfo | None:
        """None if what the client has shown is not good."""
        problems: list[str] = []
        try:
            user = self._by_certificate(request)
        except NotGood as problem:
            problems.append(str(problem))
            user = None
        if user is None:
            try:
                user = await self._by_token(request)
            except (NotGood, ReviewFailed) as problem:
                problems.append(str(problem))
        if user is not None:
            return _with_group(user)
        if problems:
            _LOG.error("unable to authenticate the request: %s", "; ".join(problems))
            return None
        return ANONYMOUS

    def _by_certificate(self, request: PageRequest) -> UserInfo | None:
        if not request.certificates:
            return None
        certificate = x509.load_pem_x509_certificate(request.certificates[0].encode())
        proxy, authority = self._trust.front_proxy, self._trust.client_authority
        # With one bundle the connection has said all; with two somebody has to tell them apart.
        both = bool(proxy.authority and authority)
        from_user = bool(authority) and (not both or has_signed(authority, certificate))
        if proxy.authority and (not both or has_signed(proxy.authority, certificate)):
            try:
                user = _by_headers(request, certificate, proxy)
            except NotGood:
                if not from_user:
                    raise
                user = None
            if user is not None:
                return user
        if from_user:
            return _by_subject(certificate)
        if authority:
            raise NotGood("the client certificate is signed by an unknown authority")
        return None

    async def _by_token(self, request: PageRequest) -> UserInfo | None:
        if self._tokens is None:
            return None
        scheme, *rest = request.header("authorization").strip().split(" ")
        if scheme.lower() != "bearer" or not rest or not rest[0]:
            return None
        user = await self._tokens.user_of(rest[0])
        if user is None:
            raise NotGood("invalid bearer token")
        return user


def _with_group(user: UserInfo) -> UserInfo:
    if _AUTHENTICATED in user.groups or ANONYMOUS.groups[0] in user.groups:
        return user
    return UserInfo(user.name, user.uid, (*user.groups, _AUTHENTICATED), user.extra)


def _by_subject(certificate: x509.Certificate) -> UserInfo | None:
    """The common name is the user's, organisations are groups."""
    name = next(iter(_attributes(certificate, NameOID.COMMON_NAME)), "")
    if not name:
        return None
    groups = tuple(_attributes(certificate, NameOID.ORGANIZATION_NAME))
    digest = hashlib.sha256(certificate.public_bytes(Encoding.DER)).hexdigest()
    return UserInfo(name, groups=groups, extra={_CREDENTIAL: (f"X509SHA256={digest}",)})


def _by_headers(
    request: PageRequest, certificate: x509.Certificate, proxy: FrontProxy
) -> UserInfo | None:
    """The user for whom a proxy asks, if it names one. Raises NotGood."""
    name = next(iter(_attributes(certificate, NameOID.COMMON_NAME)), "")
    if proxy.names and name not in proxy.names:
        raise NotGood(f"x509: subject with cn={name} is not in the allowed list")
    user = _first(request.headers, proxy.user_headers)
    if not user:
        return None
    groups = tuple(
        value
        for header in proxy.group_headers
        for value in request.headers.get(header.lower(), ())
        if value
    )
    extra: dict[str, tuple[str, ...]] = {}
    for prefix in map(str.lower, proxy.extra_prefixes):
        for header, values in request.headers.items():
            if header.startswith(prefix):
                key = unquote(header.removeprefix(prefix))
                extra[key] = (*extra.get(key, ()), *values)
    return UserInfo(user, _first(request.headers, proxy.uid_headers), groups, extra)


def _first(headers: Mapping[str, tuple[str, ...]], names: Sequence[str]) -> str:
    """The first value that any of some headers has."""
    found = (next(iter(headers.get(name.lower(), ())), "") for name in names)
    return next((value for value in found if value), "")


def _attributes(certificate: x509.Certificate, kind: x509.ObjectIdentifier) -> list[str]:
    return [str(attribute.value) for attribute in certificate.subject.get_attributes_for_oid(kind)]


_ADMINISTRATORS: Final = "system:masters"


class AuthorizationDecision(NamedTuple):
    allowed: bool
    reason: str = ""


YES: Final = AuthorizationDecision(allowed=True)
NO: Final = AuthorizationDecision(allowed=False)


class DelegatingAuthorizer:
    def __init__(
        self, flags: AuthorizationFlags, reviewers: Reviewers, clock: Callable[[], float]
    ) -> None:
        paths = [path.removeprefix("/") for path in flags.authorization_always_allow_paths]
        self._prefixes = tuple(path[:-1] for path in paths if path.endswith("*"))
        self._paths = frozenset(path for path in paths if not path.endswith("*"))
        self._reviews: AccessReviews | None = None
        if reviewers.authorization is not None:
            self._reviews = AccessReviews(
                reviewers.authorization,
                flags.authorization_webhook_cache_authorized_ttl.seconds,
                flags.authorization_webhook_cache_unauthorized_ttl.seconds,
                clock,
            )

    async def verdict(self, user: UserInfo, request: PageRequest) -> AuthorizationDecision:
        """Raises ReviewFailed."""
        if _ADMINISTRATORS in user.groups or self._is_open(request.path):
            return YES
        if self._reviews is None:
            return NO
        status = await self._reviews.status_of(user, request.verb, request.path)
        return AuthorizationDecision(status.allowed and not status.denied, status.reason)

    def _is_open(self, path: str) -> bool:
        bare = path.removeprefix("/")
        return bare in self._paths or bare.startswith(self._prefixes)
