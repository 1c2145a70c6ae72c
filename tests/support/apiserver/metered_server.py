"""A server of which it is known how much work each request makes.

The work of a request is counted in yardsticks (`support.yardstick`), not in seconds of any clock.
What the hostile requests take in seconds says `podium bench apiserver --measure hostile`.
"""

import json
from random import SystemRandom
from typing import Any, Final

from support.apiserver.api_calls import Answer, Api
from support.apiserver.populated_server import populated
from support.yardstick import measure_work

from podium.apiserver.http.messages import MAX_BODY_BYTES
from podium.scheduler.engine.garbage import seldom_collected

MAX_YARDSTICKS: Final = 60.0
"""What one request may take. The most that any takes is 15; one that compares each of 24,000 items
with each takes hundreds."""
_SEED: Final = 20_260_101


def seed_of(wanted: str | None) -> int:
    """The seed that was asked for: a number, `random`, or always the same."""
    if wanted == "random":
        return SystemRandom().randrange(1 << 32)
    return int(wanted or _SEED)


def encoded(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


class Meter:
    """A server with an object of every kind, and how much work each request made."""

    def __init__(self) -> None:
        self.api: Api = populated()
        self.yardsticks: dict[str, float] = {}

    def ask(self, what: str, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        content = body if isinstance(body, bytes | None) else encoded(body)
        assert content is None or len(content) <= MAX_BODY_BYTES
        with seldom_collected():  # as `podium apiserver` works
            answer, self.yardsticks[what] = measure_work(
                lambda: self.api.ask(method, path, content, **options)
            )
        return answer

    def beyond_budget(self) -> dict[str, float]:
        return {what: count for what, count in self.yardsticks.items() if count > MAX_YARDSTICKS}
