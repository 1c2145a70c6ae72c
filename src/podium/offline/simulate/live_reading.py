"""Reading a cluster that runs, once and without a word on any screen."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from podium import __version__
from podium.client import KubeClient, Unreachable
from podium.client.api_errors import ApiError, Unauthorized
from podium.client.connection import find_ended_process, transport_for
from podium.client.snapshot import Listing, OnProgress, Snapshot, read_snapshot
from podium.golang.errors import InputError, ObjectError
from podium.scheduler.config.flags.client_settings import ClientSettings
from podium.scheduler.config.kubeconfig import ClusterEntry

_UNTRUSTED: Final = "CERTIFICATE_VERIFY_FAILED"


async def fetch_snapshot(
    settings: ClientSettings,
    listings: Sequence[Listing],
    on_progress: OnProgress = lambda _: None,
) -> Snapshot:
    """Some collections at one revision; nothing is written."""
    transport = transport_for(settings, user_agent=f"podium/{__version__}")
    try:
        return await read_snapshot(KubeClient(transport), listings, on_progress=on_progress)
    finally:
        await transport.close()


@contextmanager
def refusals_told(cluster: ClusterEntry) -> Iterator[None]:
    """What keeps a server from answering, as errors that a user can do something about."""
    server = cluster.server
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
            if (ended := find_ended_process(cluster)) is not None:
                raise ended from None
            cause = "connection refused"
        raise InputError(f"does not answer: {cause}", source=server) from None
