"""What webhooks have said to one request, kept while it is gone through again."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from podium.apiserver.policies.attempted import AttemptedWrite
from podium.apiserver.webhooks.reviews import CallFailed, Review
from podium.golang.json_values import JsonObject, encode
from podium.kubernetes.status_errors import StatusError

T = TypeVar("T")


class Caller(Protocol):
    """Whoever can reach webhooks. Every call ends in time, one way or the other."""

    async def ask(self, review: Review) -> bytes:
        """What the webhook answers; raises CallFailed."""

    async def ask_all(self, reviews: Iterable[Review]) -> Sequence[bytes | CallFailed]:
        """All answers, in the order of the reviews; they are asked at once."""


@dataclass(frozen=True, slots=True)
class Outcome:
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
    outcomes: dict[bytes, Outcome] = field(default_factory=dict)
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
