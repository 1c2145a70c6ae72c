"""Reading a cluster for a command: with a bar on terminals, and with plain words for what fails."""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress

from podium.client import ResourceType
from podium.client.snapshot import Listing, ListProgress, OnProgress, Snapshot
from podium.commands.console import Console, DescriptionColumn
from podium.commands.processes.event_loop import run
from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.live_cluster import LiveCluster, listings_for
from podium.offline.simulate.live_reading import fetch_snapshot, refusals_told
from podium.scheduler.config.flags.client_settings import ClientSettings
from podium.scheduler.framework.events import WatchedKind


def read_cluster(
    settings: ClientSettings,
    gates: FeatureGates,
    watched: Sequence[WatchedKind] = (),
    more: Sequence[Listing] = (),
    *,
    with_files: bool = False,
) -> LiveCluster:
    """Everything of a cluster that decisions depend on, `watched` by plugins included, what
    admission of pods from files depends on, and what else a command wants to read. Raises
    InputError."""
    server = settings.cluster.server
    with _progress() as on_progress, _without_collector(), refusals_told(settings.cluster):
        listings = [*listings_for(gates, watched, with_files=with_files), *more]
        read: list[Snapshot] = []

        async def reading() -> None:
            read.append(await fetch_snapshot(settings, listings, on_progress))

        run(reading())
        (snapshot,) = read
    cluster = LiveCluster.of(server, snapshot, watched)
    if cluster.missing:
        raise InputError(
            cluster.missing, source=server, remedy="there is no answer without nodes and pods"
        )
    return cluster


@contextmanager
def _without_collector() -> Iterator[None]:
    """What is read is kept, so that looking for garbage among it is in vain."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def _progress() -> Iterator[OnProgress]:
    """Objects read so far of those that there are, as far as the server says."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    columns = (DescriptionColumn(), BarColumn(), MofNCompleteColumn())
    known: dict[ResourceType, ListProgress] = {}
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("reading the cluster", total=None)

        def advance(news: ListProgress) -> None:
            known[news.resource] = news
            done = sum(each.read for each in known.values())
            left = sum(each.left or 0 for each in known.values())
            progress.update(task, completed=done, total=done + left)

        yield advance
