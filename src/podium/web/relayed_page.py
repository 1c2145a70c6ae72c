"""A page served by another thread than the scheduler's: it answers while a plugin computes.

Documents are made and encoded in the scheduler's loop, as ever. Where that loop does not answer,
the last one that was made is given, with `stale` and the seconds since then; what the head of the
page and its first views show is made anew every few seconds, so that it can be opened at such a
moment.

Contract: an answer takes no longer than the bound of `LoopCalls`, but for what is worked out
elsewhere (`analysis.py`); what is kept is bounded; keeping it takes a fiftieth of the scheduler's
time at most, and nothing where nothing has changed.
"""

import asyncio
import inspect
import time
from collections import OrderedDict
from collections.abc import Awaitable
from contextlib import suppress
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from podium.golang.document_structs import Document
from podium.net.files.versioned_documents import encode_document
from podium.net.serving.loop_calls import LoopBusy, LoopCalls
from podium.web.access import Refused
from podium.web.cluster_document import ClusterChanges
from podium.web.live_page import LivePage
from podium.web.page_documents import NotThere, Parameters, TooBusy
from podium.web.page_overview import PageChanges
from podium.web.play import Play

MAX_KEPT: Final = 64
MAX_KEPT_BYTES: Final = 32 * 1024 * 1024
_EVERY_S: Final = 5.0
_SHARE: Final = 50
_FIRST_SEEN: Final = ("overview", "cluster", "queue", "play")


class _Made(NamedTuple):
    at: float
    body: bytes


class RelayedPage:
    """What `LivePage` is to those who share its loop; lives in the loop that serves."""

    def __init__(self, page: LivePage, calls: LoopCalls) -> None:
        self.play = RelayedPlay(page.play, calls) if page.play is not None else None
        self._page = page
        self._calls = calls
        self._kept = _KeptDocuments()
        self._told: tuple[float, PageChanges] | None = None

    async def follow(self) -> None:
        """Keep what is seen first, until cancelled."""
        mark = ""
        while True:
            begun = time.monotonic()
            with suppress(LoopBusy):
                found = await self._changes(mark)
                if found.mark != mark:
                    mark = found.mark
                    for path in _FIRST_SEEN:
                        with suppress(NotThere):
                            await self._make(path, {})
                else:
                    for path in _FIRST_SEEN:
                        self._kept.renew(_key(path, {}))
            await asyncio.sleep(max(_EVERY_S, _SHARE * (time.monotonic() - begun)))

    # --- documents ----------------------------------------------------------------------------

    async def document(self, path: str, parameters: Parameters) -> msgspec.Raw:
        """Raises NotThere and TooBusy."""
        try:
            return msgspec.Raw(await self._make(path, parameters))
        except LoopBusy as busy:
            made = self._kept.find(_key(path, parameters))
            if made is None:
                raise TooBusy(f"{busy}; there is no older state of this") from None
        # Every document is an object with apiVersion and kind.
        stale = msgspec.json.encode({"stale": True, "ageSeconds": _age_s(made.at)})[:-1]
        return msgspec.Raw(b"%b,%b" % (stale, made.body[1:]))

    async def _make(self, path: str, parameters: Parameters) -> bytes:
        def make() -> bytes | Awaitable[bytes]:
            found = self._page.document(path, parameters)
            return _encode(found) if inspect.isawaitable(found) else encode_document(found)

        body = await self._calls.call(make)
        if "since" not in parameters:  # a difference is of use to whoever has asked alone
            self._kept.keep(_key(path, parameters), _Made(time.monotonic(), body))
        return body

    # --- changes ------------------------------------------------------------------------------

    async def changes(self, mark: str) -> PageChanges:
        """Of a scheduler that does not answer: nothing but the numbers of before."""
        while True:
            try:
                return await self._changes(mark)
            except LoopBusy:
                if self._told is not None:
                    at, told = self._told
                    nothing = ClusterChanges()
                    return replace(told, mark=mark, cluster=nothing, stale=True, age_s=_age_s(at))
            await asyncio.sleep(_EVERY_S)

    async def _changes(self, mark: str) -> PageChanges:
        found = await self._calls.call(lambda: self._page.changes(mark))
        self._told = (time.monotonic(), found)
        return found


class RelayedPlay:
    """Steps of Play; one that is refused because the scheduler is busy was not begun."""

    def __init__(self, play: Play, calls: LoopCalls) -> None:
        self.max_bytes = play.max_bytes
        self._play = play
        self._calls = calls

    async def take_step(self, body: bytes | bytearray) -> Document:
        """Raises Refused."""
        try:
            return await self._calls.call(lambda: self._play.take_step(body))
        except LoopBusy as busy:
            raise Refused(503, f"{busy}: nothing was done, try again in a moment") from None


class _KeptDocuments:
    """The last of each path, bounded; the least recently made goes first."""

    def __init__(self) -> None:
        self._made: OrderedDict[str, _Made] = OrderedDict()
        self._bytes = 0

    def find(self, key: str) -> _Made | None:
        return self._made.get(key)

    def keep(self, key: str, made: _Made) -> None:
        self._forget(key)
        self._made[key] = made
        self._bytes += len(made.body)
        while len(self._made) > MAX_KEPT or self._bytes > MAX_KEPT_BYTES:
            self._forget(next(iter(self._made)))

    def renew(self, key: str) -> None:
        """It is as it was."""
        if (made := self._made.get(key)) is not None:
            self.keep(key, _Made(time.monotonic(), made.body))

    def _forget(self, key: str) -> None:
        if (made := self._made.pop(key, None)) is not None:
            self._bytes -= len(made.body)


async def _encode(found: Awaitable[Document]) -> bytes:
    return encode_document(await found)


def _key(path: str, parameters: Parameters) -> str:
    asked = [(name, tuple(values)) for name, values in sorted(parameters.items())]
    return f"{path} {asked}" if asked else path


def _age_s(at: float) -> int:
    return round(time.monotonic() - at)
