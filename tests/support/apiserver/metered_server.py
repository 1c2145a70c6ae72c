"""A server of which it is known how long each request keeps it busy."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from random import SystemRandom
from typing import Any, ParamSpec

from support.apiserver.api_calls import Answer, Api
from support.apiserver.populated_server import populated

from podium.apiserver.http.messages import MAX_BODY_BYTES
from podium.engine.garbage import seldom_collected

BUDGET_S = 1.0
"""CPU time that one request may take."""
_SEED = 20_260_101


P = ParamSpec("P")


def count_better_of_two(test: Callable[P, None]) -> Callable[P, None]:
    """A test that fails is tried once more: others work on this machine too, and what they do to
    its caches is counted as ours."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            test(*args, **kwargs)
        except AssertionError:
            test(*args, **kwargs)

    return run


def seed_of(wanted: str | None) -> int:
    """The seed that was asked for: a number, `random`, or always the same."""
    if wanted == "random":
        return SystemRandom().randrange(1 << 32)
    return int(wanted or _SEED)


def encoded(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


@contextmanager
def _untraced() -> Iterator[None]:
    """Without coverage, which takes longer than the server itself."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


class Meter:
    """A server with an object of every kind, and how long each request kept it busy."""

    def __init__(self) -> None:
        self.api: Api = populated()
        self.spent: dict[str, float] = {}

    def ask(self, what: str, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        content = body if isinstance(body, bytes | None) else encoded(body)
        assert content is None or len(content) <= MAX_BODY_BYTES
        with seldom_collected(), _untraced():  # as `podium apiserver` works
            started = time.process_time()
            answer = self.api.ask(method, path, content, **options)
            self.spent[what] = time.process_time() - started
        return answer

    def beyond_budget(self) -> dict[str, float]:
        return {what: spent for what, spent in self.spent.items() if spent > BUDGET_S}
