"""What a scheduler serves to its operators: health, metrics, configuration, flags, records.

Here the parts of a running scheduler become the pages of `podium.live.serving`; which of them are
served, to whom and on which port is decided by flags.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from podium.client import KubeClient
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.live.leader_election import LeaderElection
from podium.live.metrics import SchedulerMetrics
from podium.live.scheduler_records import SchedulerRecords
from podium.live.serving import (
    NOT_SYNCHRONIZED,
    PING,
    SHUTTING_DOWN,
    Check,
    ManagementServer,
    Reviewers,
    ServingSettings,
    Standing,
    Surface,
)
from podium.net.serving import Receive, Scope, Send
from podium.net.serving.loop_calls import LoopCalls
from podium.scheduler.config.effective import effective
from podium.scheduler.config.flags.options import Options
from podium.scheduler.config.types import Configuration
from podium.scheduler.engine import Engine


@dataclass(frozen=True, slots=True)
class SchedulerParts:
    """What the pages show of a scheduler that runs."""

    engine: Engine
    metrics: SchedulerMetrics
    election: LeaderElection | None
    records: SchedulerRecords
    is_synced: Callable[[], bool]
    is_stopping: Callable[[], bool]
    set_verbosity: Callable[[int], None]
    client: KubeClient | None = None
    """To ask for what the scheduler does not watch."""


class ServedPage(Protocol):
    """The page for browsers, put together by somebody else."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    async def follow(self) -> None:
        """To run for as long as the page is served."""


MakePage = Callable[[SchedulerParts], ServedPage]


def management_server(
    options: Options,
    flags: Mapping[str, str],
    configuration: Configuration,
    gates: FeatureGates,
    inside: SchedulerParts,
    reviewers: Reviewers,
    page: ServedPage | None = None,
    calls: LoopCalls | None = None,
) -> ManagementServer:
    """Listens already; port 0 is any free one. `calls` lead into the scheduler's loop, where the
    server has another. Raises StartRefused."""
    surface = Surface(
        metrics=inside.metrics,
        configuration=lambda: effective(inside.engine.configuration),
        flags=flags,
        standing=Standing.of(time.time(), gates),
        pods=lambda: list(inside.engine.state.pods.values()),
        leading=lambda: inside.election is None or inside.election.is_leader,
        healthz=_election_checks(inside.election) or (PING,),
        readyz=(
            *_election_checks(inside.election),
            Check("shutdown", lambda: SHUTTING_DOWN if inside.is_stopping() else None),
            Check("sched-handler-sync", lambda: None if inside.is_synced() else NOT_SYNCHRONIZED),
        ),
        records=inside.records,
        ui=page,
        set_verbosity=inside.set_verbosity if configuration.enable_profiling else None,
        gates=gates,
    )
    return ManagementServer(surface, ServingSettings.of(options), reviewers, calls=calls)


def _election_checks(election: LeaderElection | None) -> tuple[Check, ...]:
    return (Check("leaderElection", election.check),) if election is not None else ()
