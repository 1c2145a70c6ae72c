"""Podium's scheduler at work in a cluster that a test has, in whatever time that has."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from random import Random

from support.live.watched_metrics import LiveMetrics

from podium.client import KubeClient
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.live.assembly import Assembly, live_engine
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.types import Configuration
from podium.scheduler.engine import Engine
from podium.scheduler.engine.observer import Observer
from podium.scheduler.framework.points import Plugin
from podium.scheduler.plugins import in_tree_registry

BEGIN_S = 1_800_000_000
"""When virtual clusters begin, in seconds since 1970."""


@contextlib.asynccontextmanager
async def scheduling(
    client: KubeClient,
    configuration: Configuration | None = None,
    observers: Callable[[Engine], tuple[Observer, ...]] = lambda _: (),
    metrics: LiveMetrics | None = None,
    plugins: Sequence[type[Plugin]] = (),
    gates: FeatureGates | None = None,
) -> AsyncIterator[Assembly]:
    """A scheduler that has seen everything and is at work; `metrics` count what it does, and it
    knows of some plugins more, which a configuration has to name."""
    loop = asyncio.get_running_loop()
    randomness = Random(1)
    engine = live_engine(
        configuration or load_configuration(None, gates=FeatureGates()),
        in_tree_registry().with_plugins(*plugins),
        wall=lambda: BEGIN_S + loop.time(),
        randomness=randomness,
        validate=True,
        gates=gates or FeatureGates(),
    )
    assembly = Assembly(
        engine,
        client,
        client,
        host="test",
        randomness=randomness,
        observers=observers(engine),
        metrics=metrics.attach(engine) if metrics is not None else None,
    )
    async with assembly.follow_cluster() as scheduler:
        await scheduler.ready()
        work = asyncio.ensure_future(scheduler.schedule())
        try:
            yield assembly
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
