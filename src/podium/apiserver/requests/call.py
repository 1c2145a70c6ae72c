"""One call of the server: who asks, when, with which options, and what to warn about."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from podium.apiserver.access.authorisation import Grants
from podium.apiserver.access.users import ADMIN, AuthorizationAttributes, User
from podium.apiserver.requests.query import WriteOptions
from podium.apiserver.webhooks.reviews import WebhookAnswers

T = TypeVar("T")
_MAX_WARNING_CHARACTERS: Final = 4096
"""No answer carries more, so the rest of an object's million warnings are not even made."""


@dataclass(slots=True)
class Call:
    """Everything about a request that is neither its path nor its body."""

    now: str
    """The time as objects write it: `2026-01-01T00:00:00Z`."""
    user: User = ADMIN
    user_agent: str = ""
    attempt: AuthorizationAttributes | None = None
    """What was authorised. None: the user may do everything."""
    grants: Grants | None = None
    options: WriteOptions = field(default_factory=WriteOptions)
    webhooks: WebhookAnswers | None = None
    """What webhooks have said so far. None: they are not asked, the server acts for itself."""
    warnings: dict[str, None] = field(default_factory=dict)
    """Told to the client beside the answer, each once and in this order."""

    def warn(self, text: str) -> None:
        if not self._has_warned_enough():
            self.warnings[text] = None

    def warn_all(self, texts: Iterable[str]) -> None:
        """Takes no more of the texts than an answer can carry."""
        if self._has_warned_enough():
            return
        for text in texts:
            self.warnings[text] = None
            if self._has_warned_enough():
                return

    def _has_warned_enough(self) -> bool:
        return sum(map(len, self.warnings)) > _MAX_WARNING_CHARACTERS

    def remember(self, key: str, make: Callable[[], T]) -> T:
        """What stays the same when a request is gone through again after webhooks were asked."""
        return make() if self.webhooks is None else self.webhooks.remember(key, make)

    def with_options(self, options: WriteOptions) -> "Call":
        """The same call with the options of its verb; warnings are shared."""
        return replace(self, options=options)
