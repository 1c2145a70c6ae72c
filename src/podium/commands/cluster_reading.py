"""Reading a cluster for a command: with a bar on terminals, and with plain words for what fails."""

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress

from podium.client import ResourceType, Selection
from podium.client.snapshot import Listing, ListProgress, OnProgress, Snapshot
from podium.commands.console import Console, DescriptionColumn
from podium.commands.processes.event_loop import run
from podium.golang.errors import InputError
from podium.kubernetes.controllers.stores import KINDS
from podium.kubernetes.controllers.workloads import Workload
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.live_cluster import (
    LiveCluster,
    fetch_snapshot,
    listings_for,
    refusals_told,
)
from podium.scheduler.config.flags.client_settings import ClientSettings
from podium.scheduler.explain.proposals.owners import owner_of
from podium.scheduler.explain.proposals.workload_copy import RESOURCES
from podium.scheduler.explain.trial import Trial
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

        async def fetch() -> None:
            read.append(await fetch_snapshot(settings, listings, on_progress))

        run(fetch())
        (snapshot,) = read
    cluster = LiveCluster.of(server, snapshot, watched)
    if cluster.missing:
        raise InputError(
            cluster.missing, source=server, remedy="there is no answer without nodes and pods"
        )
    return cluster


def read_controller(
    settings: ClientSettings, trial: Trial, known: Iterable[Workload]
) -> list[Workload]:
    """The object whose template the pod of a trial is made from, unless it is among those that are
    known. Nothing if it may not be read: then it follows from its pods."""
    namespace = trial.pod.metadata.namespace
    owner = owner_of(trial.pod, trial.engine.cluster.catalog)
    resource = RESOURCES.get(owner.kind) if owner is not None else None
    if owner is None or resource is None:
        return []
    identity = (owner.kind, namespace, owner.name)
    if any((each.kind, each.namespace, each.name) == identity for each in known):
        return []
    only = Selection(namespace, fields=f"metadata.name={owner.name}")
    listing = Listing(resource, KINDS[resource], only)
    with refusals_told(settings.cluster):
        read: list[Snapshot] = []

        async def fetch() -> None:
            read.append(await fetch_snapshot(settings, [listing]))

        run(fetch())
    found = read[0].objects.get(resource, [])
    return [each for each in found if isinstance(each, Workload)]


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
