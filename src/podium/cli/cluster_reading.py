"""Reading a cluster for a command: with a bar on terminals, and with plain words for what fails."""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress

from podium import __version__
from podium.api.errors import InputError, ObjectError
from podium.cli.console import Console, DescriptionColumn
from podium.client import KubeClient, ResourceType, Unreachable
from podium.client.api_errors import ApiError, Unauthorized
from podium.client.connection import transport_for
from podium.client.snapshot import Listing, ListProgress, OnProgress, Snapshot, read_snapshot
from podium.config.feature_gates import FeatureGates
from podium.config.flags.client_settings import ClientSettings
from podium.framework.watched_kind import WatchedKind
from podium.processes.event_loop import run
from podium.simulator.live_cluster import LiveCluster, listings_for

_UNTRUSTED = "CERTIFICATE_VERIFY_FAILED"


def read_cluster(
    settings: ClientSettings,
    gates: FeatureGates,
    watched: Sequence[WatchedKind] = (),
    more: Sequence[Listing] = (),
) -> LiveCluster:
    """Everything of a cluster that decisions depend on, `watched` by plugins included, and what
    else a command wants to read. Raises InputError."""
    server = settings.cluster.server
    with _progress() as on_progress, _without_collector(), refusals_told(server):
        snapshot = _read(settings, [*listings_for(gates, watched), *more], on_progress)
    cluster = LiveCluster.of(server, snapshot, watched)
    if cluster.missing:
        raise InputError(
            cluster.missing, source=server, remedy="there is no answer without nodes and pods"
        )
    return cluster


def _read(
    settings: ClientSettings, listings: Sequence[Listing], on_progress: OnProgress
) -> Snapshot:
    read: list[Snapshot] = []

    async def reading() -> None:
        transport = transport_for(settings, user_agent=f"podium/{__version__}")
        try:
            client = KubeClient(transport)
            read.append(await read_snapshot(client, listings, on_progress=on_progress))
        finally:
            await transport.close()

    run(reading())
    return read[0]


@contextmanager
def refusals_told(server: str) -> Iterator[None]:
    """What keeps a server from answering, as errors that a user can do something about."""
    try:
        yield
    except Unauthorized as problem:
        raise InputError(
            f"does not accept the credentials: {problem}",
            source=server,
            remedy="the user of the kubeconfig's context says who asks",
        ) from None
    except ApiError as problem:
        raise InputError(f"says no: {problem}", source=server) from None
    except ObjectError as problem:
        raise InputError(f"is no API server: its answer {problem}", source=server) from None
    except Unreachable as problem:
        cause = str(problem).removeprefix(f"{server}: ")
        if _UNTRUSTED in cause:
            raise InputError(
                f"its certificate is not trusted: {cause}",
                source=server,
                remedy="certificate-authority names who has signed it",
            ) from None
        if problem.refused:
            cause = "connection refused"
        raise InputError(f"does not answer: {cause}", source=server) from None


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
