"""Trying a small write again when the server only stumbled.

Four tries, the pauses 10 ms and then five times as long each; for what may pass by itself alone:
internal errors, a server that is unavailable or refuses the connection, a conflict.

Source: `PatchPodStatus` and `Retriable` in `pkg/scheduler/util/utils.go`.
"""

from collections.abc import Awaitable, Callable
from random import Random
from typing import Final, TypeVar

from podium.client import Clock, RequestFailed, Unreachable
from podium.client.api_errors import AlreadyExists, ApiError, Conflict

T = TypeVar("T")

_TRIES: Final = 4
_FIRST_S: Final = 0.01
_FACTOR: Final = 5.0
_JITTER: Final = 0.1
_PASSING: Final = ("InternalError", "ServiceUnavailable")


async def with_retries(write: Callable[[], Awaitable[T]], clock: Clock, randomness: Random) -> T:
    """What the write gives; raises what its last try raised."""
    pause_s = _FIRST_S
    for _ in range(_TRIES - 1):
        try:
            return await write()
        except RequestFailed as problem:
            if not _may_pass(problem):
                raise
        await clock.sleep(pause_s * (1 + _JITTER * randomness.random()))
        pause_s *= _FACTOR
    return await write()


def _may_pass(problem: RequestFailed) -> bool:
    if isinstance(problem, Unreachable):
        return problem.refused
    if isinstance(problem, Conflict):
        return not isinstance(problem, AlreadyExists)
    return isinstance(problem, ApiError) and problem.reason in _PASSING
