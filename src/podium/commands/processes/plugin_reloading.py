"""Plugins that are written while a scheduler runs with them: `--reload`.

The files of `--plugin` are looked at twice a second. When one has changed and come to rest, all are
loaded anew; plugins that load take the place of those before, others leave them in place and the
problem is told. What a plugin's file imports is not looked at.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

from podium.golang.errors import InputError
from podium.scheduler.config.flags.client_settings import StartRefused
from podium.user_code.modules import code_file, loaded_anew

LOOK_S: Final = 0.5

_Loaded = TypeVar("_Loaded")
_Stamp = tuple[int, int, int] | None


class WatchedPluginFiles:
    """The files of plugins, as they were when they were last read."""

    def __init__(self, specs: Sequence[str]) -> None:
        self._specs = tuple(specs)
        self._files = sorted({file for spec in specs if (file := code_file(spec)) is not None})
        self._read = self._stamps()

    def __str__(self) -> str:
        return ", ".join(map(str, self._files))

    async def wait_for_reload(
        self, load: Callable[[], _Loaded], refuse: Callable[[str], None]
    ) -> _Loaded:
        """What `load` gives once it goes well with changed files; `refuse` is told when it does
        not."""
        while True:
            await self._wait_for_change()
            try:
                with loaded_anew(self._specs):
                    return load()
            except (InputError, StartRefused) as problem:
                refuse(str(problem))

    async def _wait_for_change(self) -> None:
        """Return when a file differs from what was read, and all have been at rest for a moment."""
        before = self._stamps()
        while True:
            await asyncio.sleep(LOOK_S)
            now = self._stamps()
            if now == before and now != self._read and None not in now:
                self._read = now
                return
            before = now

    def _stamps(self) -> list[_Stamp]:
        return [_stamp(file) for file in self._files]


def _stamp(file: Path) -> _Stamp:
    """What changes when a file is written; None for one that is not there."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
