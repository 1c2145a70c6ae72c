"""One call of the server: who asks, when, with which options, and what to warn about."""

from dataclasses import dataclass, field, replace

from podium.apiserver.access.attempts import Attempt
from podium.apiserver.access.grants import Grants
from podium.apiserver.access.users import ADMIN, User
from podium.apiserver.requests.query import WriteOptions


@dataclass(slots=True)
class Call:
    """Everything about a request that is neither its path nor its body."""

    now: str
    """The time as objects write it: `2026-01-01T00:00:00Z`."""
    user: User = ADMIN
    user_agent: str = ""
    attempt: Attempt | None = None
    """What was authorised. None: the user may do everything."""
    grants: Grants | None = None
    options: WriteOptions = field(default_factory=WriteOptions)
    warnings: list[str] = field(default_factory=list)
    """Told to the client beside the answer."""

    def warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)

    def warn_all(self, texts: list[str]) -> None:
        for text in texts:
            self.warn(text)

    def with_options(self, options: WriteOptions) -> "Call":
        """The same call with the options of its verb; warnings are shared."""
        return replace(self, options=options)
