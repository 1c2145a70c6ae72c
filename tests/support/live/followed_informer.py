"""An informer of pods that follows a scripted server, and what its handlers heard."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from random import Random
from typing import Any

from support.live.scripted_server import ScriptedServer
from support.live.virtual_loop import sleep_virtually

from podium.client import DeletedFinalStateUnknown, KubeClient, SharedInformer
from podium.client.resources import PODS


def version_text(obj: Any) -> str:
    return f"{obj['metadata']['name']}@{obj['metadata']['resourceVersion']}"


class Heard:
    """A handler that remembers what it was told: `*` marks the initial list, `?` what was deleted
    unseen."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def on_add(self, obj: Any, /, *, is_in_initial_list: bool) -> None:
        self.told.append(f"{'*' if is_in_initial_list else '+'}{version_text(obj)}")

    def on_update(self, old: Any, new: Any, /) -> None:
        self.told.append(f"{version_text(old)}>{version_text(new)}")

    def on_delete(self, obj: Any, /) -> None:
        unseen = isinstance(obj, DeletedFinalStateUnknown)
        self.told.append(f"{'?' if unseen else '-'}{version_text(obj.obj if unseen else obj)}")

    def take(self) -> list[str]:
        told, self.told = self.told, []
        return told


@contextlib.asynccontextmanager
async def following(
    server: ScriptedServer, informer: SharedInformer[Any] | None = None
) -> AsyncIterator[tuple[SharedInformer[Any], Heard]]:
    informer = SharedInformer(PODS, dict) if informer is None else informer
    heard = Heard()
    informer.add_event_handler(heard)
    running = asyncio.ensure_future(informer.run(KubeClient(server), randomness=Random(1)))
    try:
        yield informer, heard
    finally:
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running


async def settle() -> None:
    """Let everything happen that needs no time."""
    await sleep_virtually(0.001)
