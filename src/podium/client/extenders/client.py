"""Carries out what the engine asks of extenders, with an event loop or without.

A cycle that needs extenders yields calls; a driver hands them to `ask` and resumes the cycle with
the answers. Calls of one batch run side by side, each with its own deadline, and whatever becomes
of one does not touch the others: a call that comes to nothing is answered with a `CallFailed`
that names the extender.

Extenders for drivers that do not run an event loop, such as the simulator. A thread of its own
keeps the loop, and with it the connections: between calls it notices what the other side closes,
and callers may themselves be anywhere, in a loop included.
"""

import asyncio
import logging
import os
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final

from podium.client.extenders.exchange import (
    AddressProblem,
    Exchange,
    ExchangeFailed,
    ExtenderExchange,
    show_url,
    verb_url,
)
from podium.client.extenders.messages import NodeIsGone, body_of, read_answer, verb_of
from podium.client.extenders.objects import ObjectSource
from podium.client.extenders.tls import tls_clients
from podium.client.extenders.wire import DecodingProblem
from podium.golang.quoting import go_quote
from podium.net.proxies import Proxies
from podium.scheduler.config.types import Extender
from podium.scheduler.framework.asking import CallFailed, ExtenderAnswer, ExtenderCall

_log = logging.getLogger(__name__)

DEFAULT_TIMEOUT_S: Final = 5.0
SMALL_ANSWER: Final = 16 << 20


def answer_limit(request_bytes: int) -> int:
    """How large an answer may be: it can repeat what was sent and add a reason to each node, but
    not fill the memory."""
    return SMALL_ANSWER + 2 * request_bytes


class ExtenderClient:
    """Use one per event loop, and close it in the loop that used it."""

    def __init__(
        self,
        extenders: Sequence[Extender],
        objects: ObjectSource,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Raises ConfigurationError if certificates cannot be used.

        Proxies are those of the `environment`, by default of this process.
        """
        proxies = Proxies.of(os.environ if environment is None else environment)
        self._objects = objects
        self._exchanges: dict[Extender, Exchange] = {
            extender: ExtenderExchange(tls, proxies)
            for extender, tls in zip(extenders, tls_clients(extenders), strict=True)
        }

    async def ask(self, calls: tuple[ExtenderCall, ...]) -> tuple[ExtenderAnswer, ...]:
        """The answers, in the order of the calls."""
        if len(calls) == 1:
            return (await self._carry_out(calls[0]),)
        return tuple(await asyncio.gather(*map(self._carry_out, calls)))

    async def close(self) -> None:
        for exchange in self._exchanges.values():
            await exchange.close()

    async def _carry_out(self, call: ExtenderCall) -> ExtenderAnswer:
        verb = verb_of(call)
        url = verb_url(call.extender.url_prefix, verb)
        try:
            body = body_of(call, self._objects)
            reply = await self._exchanges[call.extender].post(
                url, body, timeout_s=_timeout_s(call.extender), limit=answer_limit(len(body))
            )
            if reply.status != 200:
                return _fail_call(call, f"{_attempt(verb, url)}, code {reply.status}")
            return read_answer(call, reply.body, reply.broken)
        except AddressProblem as problem:
            return _fail_call(call, str(problem))
        except ExchangeFailed as problem:
            return _fail_call(call, f"Post {go_quote(show_url(problem.url))}: {problem}")
        except (DecodingProblem, NodeIsGone) as problem:
            # upstream: the bare text, which does not tell which of several extenders it is about.
            return _fail_call(call, f"{_attempt(verb, url)}: {problem}")


def _attempt(verb: str, url: str) -> str:
    return f"failed {verb} with extender at URL {show_url(url)}"


def _fail_call(call: ExtenderCall, problem: str) -> CallFailed:
    metadata = call.pod.metadata
    _log.debug("%s (pod %s/%s)", problem, metadata.namespace, metadata.name)
    return CallFailed(problem)


def _timeout_s(extender: Extender) -> float | None:
    """None for no limit, which is what a negative timeout means."""
    nanoseconds = extender.http_timeout.nanoseconds
    if nanoseconds == 0:
        return DEFAULT_TIMEOUT_S
    return extender.http_timeout.seconds if nanoseconds > 0 else None


class BlockingExtenderClient:
    """`ExtenderClient` without async; use it as a context, or close it."""

    def __init__(self, extenders: Sequence[Extender], objects: ObjectSource) -> None:
        """Raises ConfigurationError if certificates cannot be used."""
        self._client = ExtenderClient(extenders, objects)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="podium-extenders", daemon=True
        )
        self._thread.start()

    def ask(self, calls: tuple[ExtenderCall, ...]) -> tuple[ExtenderAnswer, ...]:
        """The answers, in the order of the calls."""
        return asyncio.run_coroutine_threadsafe(self._client.ask(calls), self._loop).result()

    def close(self) -> None:
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._client.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> "BlockingExtenderClient":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
