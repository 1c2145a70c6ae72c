"""Carries out what the engine asks of extenders.

A cycle that needs extenders yields calls; a driver hands them to `ask` and resumes the cycle with
the answers. Calls of one batch run side by side, each with its own deadline, and whatever becomes
of one does not touch the others: a call that comes to nothing is answered with a `CallFailed`
that names the extender.
"""

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from typing import Final

from podium.client.extenders.answers import read_answer
from podium.client.extenders.exchange import Exchange, ExchangeFailed, ExtenderExchange
from podium.client.extenders.lenient import DecodingProblem
from podium.client.extenders.objects import ObjectSource
from podium.client.extenders.requests import NodeIsGone, body_of, verb_of
from podium.client.extenders.tls import tls_clients
from podium.client.extenders.urls import AddressProblem, shown, verb_url
from podium.golang.quoting import quoted
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
                return _failed(call, f"{_attempt(verb, url)}, code {reply.status}")
            return read_answer(call, reply.body, reply.broken)
        except AddressProblem as problem:
            return _failed(call, str(problem))
        except ExchangeFailed as problem:
            return _failed(call, f"Post {quoted(shown(problem.url))}: {problem}")
        except (DecodingProblem, NodeIsGone) as problem:
            # upstream: the bare text, which does not tell which of several extenders it is about.
            return _failed(call, f"{_attempt(verb, url)}: {problem}")


def _attempt(verb: str, url: str) -> str:
    return f"failed {verb} with extender at URL {shown(url)}"


def _failed(call: ExtenderCall, problem: str) -> CallFailed:
    metadata = call.pod.metadata
    _log.debug("%s (pod %s/%s)", problem, metadata.namespace, metadata.name)
    return CallFailed(problem)


def _timeout_s(extender: Extender) -> float | None:
    """None for no limit, which is what a negative timeout means."""
    nanoseconds = extender.http_timeout.nanoseconds
    if nanoseconds == 0:
        return DEFAULT_TIMEOUT_S
    return extender.http_timeout.seconds if nanoseconds > 0 else None
