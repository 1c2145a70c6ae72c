"""What time brings: doubts are cleared up, leftovers are removed, the quota file is read again."""

import logging
from pathlib import Path
from typing import Final

from podium.addons.gpu.extender.cluster_view import PodChanged
from podium.addons.gpu.extender.deciding import Decider
from podium.client import Clock, RequestFailed
from podium.net.files.bounded_files import read_file

_LOG: Final = logging.getLogger("podium.addons.extenders")
_EVERY_S: Final = 1.0
_MAX_WRITES: Final = 20
"""How many leftovers are removed at a time."""
_AGAIN_S: Final = 30.0
"""After how long something is tried again that a server refused."""


class Housekeeping:
    def __init__(self, decider: Decider, clock: Clock, quota_file: Path | None = None) -> None:
        self._decider = decider
        self._view = decider.view
        self._clock = clock
        self._quota_file = quota_file
        self._quota_stamp: tuple[int, int] | None = None
        self._not_before: dict[str, float] = {}

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            self.read_quota_file()
            if self._view.is_synced:
                await self.round()
            await self._clock.sleep(_EVERY_S)

    async def round(self) -> None:
        now = self._view.now()
        ledger = self._view.ledger
        ledger.expire(now)
        for uid, doubt in list(self._decider.doubts.items()):
            if not self._view.is_busy(uid):
                await self._clear_up(uid, doubt.reservation.pod.name)
        self._not_before = {uid: at for uid, at in self._not_before.items() if at > now}
        due = [
            pod
            for pod in ledger.stale(now)
            if pod.metadata.uid not in self._not_before and not self._view.is_busy(pod.metadata.uid)
        ]
        for pod in due[:_MAX_WRITES]:
            await self._clear(pod.metadata.uid)
        for pod in ledger.unseen(now):
            if not self._view.is_busy(pod.metadata.uid):
                await self._look(pod.metadata.uid)

    def read_quota_file(self) -> None:
        """Read the file again if it has changed; one that is gone limits nobody."""
        path = self._quota_file
        if path is None:
            return
        try:
            found = path.stat()
            stamp = (found.st_mtime_ns, found.st_size)
            if stamp == self._quota_stamp:
                return
            text: str | None = read_file(path).decode("utf-8", "replace")
        except FileNotFoundError:
            stamp, text = (0, 0), None
            if stamp == self._quota_stamp:
                return
        except OSError as problem:
            _LOG.error("%s: %s; what was known before stays", path, problem)
            return
        self._quota_stamp = stamp
        self._view.quotas.read(text, str(path))

    async def _clear_up(self, uid: str, name: str) -> None:
        try:
            with self._view.writing_about(name, uid):
                await self._decider.clear_up(self._decider.doubts[uid])
        except RequestFailed as problem:
            _LOG.info("pod %s: what became of its decision is still not known: %s", name, problem)

    async def _clear(self, uid: str) -> None:
        pod = self._view.ledger.pod(uid)
        if pod is None or pod.spec.node_name or self._view.is_busy(uid):
            return
        try:
            with self._view.writing_about(pod.name, uid):
                await self._decider.writer.clear(pod)
        except (RequestFailed, PodChanged) as problem:
            self._not_before[uid] = self._view.now() + _AGAIN_S
            _LOG.info("pod %s/%s: its old decision stays: %s", pod.namespace, pod.name, problem)

    async def _look(self, uid: str) -> None:
        pod = self._view.ledger.pod(uid)
        if pod is None:
            return
        try:
            await self._decider.writer.read(*pod.metadata.key, uid)
        except PodChanged:
            return
        except RequestFailed as problem:
            _LOG.info("pod %s/%s cannot be looked at: %s", pod.namespace, pod.name, problem)
        self._view.ledger.look_again_later(uid, self._view.now())
