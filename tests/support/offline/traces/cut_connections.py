"""A relay on loopback between a client and a server, whose connections a test can cut."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from support.waiting import PATIENCE_S


class Relay:
    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._target = (parts.hostname, parts.port)
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self.port = 0

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Every connection that is open ends at once; new ones are taken."""
        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(self._abort_all(), self._loop).result(30)

    @contextmanager
    def running(self) -> Iterator["Relay"]:
        thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        thread.start()
        try:
            assert self._ready.wait(PATIENCE_S)
            yield self
        finally:
            assert self._loop is not None
            self._loop.call_soon_threadsafe(self._stopping.set)
            thread.join(PATIENCE_S)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopping.wait()
        server.close()
        await self._abort_all()

    async def _abort_all(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            there_reader, there_writer = await asyncio.open_connection(*self._target)
            self._writers |= {writer, there_writer}
            try:
                await asyncio.gather(_pump(reader, there_writer), _pump(there_reader, writer))
            finally:
                self._writers -= {writer, there_writer}
                there_writer.close()
        writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(1 << 16):
            writer.write(piece)
            await writer.drain()
    writer.close()
