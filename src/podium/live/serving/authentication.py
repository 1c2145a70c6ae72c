"""Who sends a request.

In turn: a front proxy that shows its certificate and names the user in headers, a user's own
certificate, a bearer token. The first that knows somebody decides. Nothing shown at all makes an
anonymous user; something shown that is not good makes a refusal.

Certificates were verified with the connection already; here it only matters which of two bundles
vouches for one. Sources: `staging/src/k8s.io/apiserver/pkg/authentication`, its `request/x509`,
`request/headerrequest` and `request/bearertoken`.
"""

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from urllib.parse import unquote

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from podium.golang.errors import PodiumError
from podium.live.serving.exchange import PageRequest
from podium.live.serving.reviews import ReviewFailed, TokenReviews, UserInfo
from podium.live.serving.settings import Reviewers
from podium.live.serving.trust import FrontProxy, Trust, has_signed
from podium.scheduler.config.flags.options import Authentication

_LOG: Final = logging.getLogger("podium.live")
_AUTHENTICATED: Final = "system:authenticated"
_CREDENTIAL: Final = "authentication.kubernetes.io/credential-id"

ANONYMOUS: Final = UserInfo("system:anonymous", groups=("system:unauthenticated",))


class NotGood(PodiumError):
    """What a client has shown is not believed; says why."""


class Authenticator:
    def __init__(
        self,
        flags: Authentication,
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
