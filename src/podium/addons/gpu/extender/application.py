"""The GPU extender put together: a view that is kept true, verbs, pages, and what time brings."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random, SystemRandom
from typing import Final

from podium import __version__
from podium.addons.extenders.service import DEFAULT_BODY_LIMIT, ExtenderService, PageText, Route
from podium.addons.gpu.cards.ledger import Ledger
from podium.addons.gpu.cards.quota import MODEL_LABEL, POOL_LABEL, QUOTA_CONFIG_MAP
from podium.addons.gpu.dialects.dialect import Dialect
from podium.addons.gpu.dialects.stale import GRACE_PERIOD_S
from podium.addons.gpu.extender.card_metrics import CardMetrics
from podium.addons.gpu.extender.cluster_view import ClusterView
from podium.addons.gpu.extender.deciding import Decider
from podium.addons.gpu.extender.gpu_extender import GPUExtender
from podium.addons.gpu.extender.housekeeping import Housekeeping
from podium.addons.gpu.extender.inspection import inspect_page
from podium.addons.gpu.extender.predicates import Predicates
from podium.addons.gpu.extender.preemption import PreemptionSettings
from podium.addons.gpu.extender.quotas import NamespaceQuotas
from podium.addons.gpu.extender.watching import ClusterWatch
from podium.client import Clock, KubeClient, LoopClock

PREFIX: Final = "/scheduler"
GPUSHARE_PREFIX: Final = "/gpushare-scheduler"


@dataclass(frozen=True, slots=True, kw_only=True)
class GPUExtenderOptions:
    """`prefix` is where verbs are served, "" for where the dialect's own extender has them.
    `quota_config_map` is namespace and name; with a `quota_file` it is not looked at."""

    dialect: Dialect
    prefix: str = ""
    grace_period_s: float = GRACE_PERIOD_S
    quota_config_map: tuple[str, str] = QUOTA_CONFIG_MAP
    quota_file: Path | None = None
    model_label: str = MODEL_LABEL
    pool_label: str = POOL_LABEL
    preemption: PreemptionSettings = field(default_factory=PreemptionSettings)
    body_limit: int = DEFAULT_BODY_LIMIT

    def prefixes(self) -> tuple[str, ...]:
        if self.prefix:
            return (self.prefix,)
        of_gpushare = self.dialect.name.startswith("gpushare")
        return (PREFIX, GPUSHARE_PREFIX) if of_gpushare else (PREFIX,)


class GPUExtenderApplication:
    """`service` is the ASGI application; `run` keeps what it knows true."""

    def __init__(
        self,
        client: KubeClient,
        options: GPUExtenderOptions,
        *,
        clock: Clock | None = None,
        wall: Callable[[], float] = time.time,
        randomness: Random | None = None,
    ) -> None:
        ticking = clock or LoopClock()
        ledger = Ledger(options.dialect, options.grace_period_s)
        quotas = NamespaceQuotas(options.model_label, options.pool_label)
        self.view = ClusterView(ledger, quotas, wall)
        self.decider = Decider(client, self.view, ticking)
        self.housekeeping = Housekeeping(self.decider, ticking, options.quota_file)
        self.watch = ClusterWatch(
            client,
            self.view,
            clock=ticking,
            randomness=randomness or SystemRandom(),
            quota_config_map=None if options.quota_file else options.quota_config_map,
        )
        self.service = self._service(options)

    async def run(self) -> None:
        """Until cancelled."""
        self.housekeeping.read_quota_file()
        async with asyncio.TaskGroup() as group:
            group.create_task(self.watch.run())
            group.create_task(self.housekeeping.run())

    def _service(self, options: GPUExtenderOptions) -> ExtenderService:
        extender = GPUExtender(self.decider, options.preemption)
        routes = {
            "filter": Route(extender, "filter"),
            "filter-dryrun": Route(extender, "filter"),
            "prioritize": Route(extender, "prioritize"),
            "priorities": Route(extender, "prioritize"),
            "bind": Route(extender, "bind"),
            "preempt": Route(extender, "preempt"),
        }
        if options.dialect.lock is None:
            # Between a decision in a filter and the binding nobody could hold a lock.
            routes["predicates"] = Route(Predicates(self.decider), "filter")
        service = ExtenderService(
            extender,
            body_limit=options.body_limit,
            prefixes=options.prefixes(),
            routes=routes,
            pages={"version": _version, "inspect": lambda name: inspect_page(self.view, name)},
            tells_decoding=True,
        )
        service.metrics.registry.register(CardMetrics(self.view))
        return service


def _version(below: str) -> PageText | None:
    return None if below else PageText(200, f"podium-{__version__}".encode())
