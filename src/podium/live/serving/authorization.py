"""What somebody may look at.

The first that says yes decides: the group of cluster administrators, the list of paths that are
open to everybody, the API server. A path on the list is meant exactly; `*` at its end opens what
begins like it.

Source: `DelegatingAuthorizationOptions` in `staging/src/k8s.io/apiserver/pkg/server/options`.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from podium.live.serving.exchange import PageRequest
from podium.live.serving.reviews import AccessReviews, UserInfo
from podium.live.serving.settings import Reviewers
from podium.scheduler.config.flags.options import Authorization

_ADMINISTRATORS: Final = "system:masters"


class AuthorizationDecision(NamedTuple):
    allowed: bool
    reason: str = ""


YES: Final = AuthorizationDecision(allowed=True)
NO: Final = AuthorizationDecision(allowed=False)


class Authorizer:
    def __init__(
        self, flags: Authorization, reviewers: Reviewers, clock: Callable[[], float]
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
