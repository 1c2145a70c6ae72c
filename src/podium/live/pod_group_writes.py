"""Writes about pod groups: how their last attempt went, in order.

An attempt compares with the group as the watch has shown it last, which may be older than what is
on its way. So one group's writes wait for each other, and each is compared once more with the one
before it: a group that was scheduled never becomes unschedulable again because a write was slow.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import msgspec

from podium.client import KubeClient, PatchType, RequestFailed
from podium.client.resources import POD_GROUPS
from podium.kubernetes.kinds.pod_groups import PodGroupCondition
from podium.kubernetes.rules.timestamps import time_text
from podium.live.keyed_lock import KeyedLock
from podium.scheduler.engine.pod_groups.group_cycle import is_news
from podium.scheduler.engine.requests import PatchPodGroupStatus

MAX_REMEMBERED: Final = 4096
"""Groups whose last write is known; for one that is forgotten the watch has long caught up."""
_LOG: Final = logging.getLogger("podium.live")


class PodGroupWrites:
    def __init__(self, client: KubeClient, wall: Callable[[], float]) -> None:
        self._client = client
        self._wall = wall
        self._lock = KeyedLock()
        self._written: OrderedDict[str, PodGroupCondition] = OrderedDict()

    async def tell(self, request: PatchPodGroupStatus) -> None:
        uid = request.group.metadata.uid
        async with self._lock.hold(uid):
            if not is_news(self._written.get(uid), request.condition):
                return
            try:
                await self._patch(request)
            except RequestFailed as problem:
                _LOG.warning("the status of pod group %s: %s", request.group.key, problem)
            else:
                self._remember(uid, request.condition)

    async def _patch(self, request: PatchPodGroupStatus) -> None:
        metadata = request.group.metadata
        now = time_text(self._wall())
        condition = msgspec.structs.replace(request.condition, last_transition_time=now)
        patch = {
            "metadata": {"uid": metadata.uid},
            "status": {"conditions": [msgspec.to_builtins(condition)]},
        }
        await self._client.patch(
            POD_GROUPS,
            metadata.name,
            patch,
            metadata.namespace,
            kind=PatchType.STRATEGIC,
            subresource="status",
        )

    def _remember(self, uid: str, condition: PodGroupCondition) -> None:
        self._written[uid] = condition
        self._written.move_to_end(uid)
        if len(self._written) > MAX_REMEMBERED:
            self._written.popitem(last=False)
