"""Asking a scheduler that runs what it knows of a pod.

Contract: the pod is named in full, since a scheduler remembers pods that the cluster has no more.
"""

from typing import Any, Final
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from podium import __version__
from podium.client import KubeClient
from podium.client.api_errors import NotFound
from podium.client.connection import FoundContext, NoKubeconfig, find_context, transport_for
from podium.commands.cluster_options import ClusterOptions
from podium.commands.processes.event_loop import run
from podium.commands.recorded_options import (
    OLD_SCHEDULER_EXTENSION,
    SCHEDULER_EXTENSION,
    RecordedOptions,
)
from podium.commands.recorded_pod import RecordedPodDocument, decode_record
from podium.golang.errors import InputError
from podium.offline.simulate.live_cluster import refusals_told
from podium.scheduler.config.flags.client_settings import ClientSettings
from podium.scheduler.config.kubeconfig import ClusterEntry, UserEntry

_REMEDY: Final = "name it in full, with -n or as namespace/name; only Podium has such records"
_PODS: Final = ("po", "pod", "pods")
_NO_CONTEXT: Final = FoundContext(ClientSettings(ClusterEntry(), UserEntry()))


def read_pod_record(
    reference: str, cluster: ClusterOptions, options: RecordedOptions
) -> tuple[RecordedPodDocument, dict[str, Any]]:
    """The scheduler's record of a pod, and all that it said. Raises InputError."""
    found = _find_context(cluster, options)
    namespace, name = _name(reference, cluster.namespace or found.namespace or "default")
    settings = _scheduler_settings(found, options)
    path = f"/debug/podium/pods/{quote(namespace, safe='')}/{quote(name, safe='')}"
    server = settings.cluster.server
    with refusals_told(settings.cluster):
        try:
            body = _get(settings, path)
        except NotFound as problem:
            raise InputError(
                f"pod {namespace}/{name}: {problem}", source=server, remedy=_REMEDY
            ) from None
    try:
        return decode_record(body)
    except msgspec.MsgspecError:
        raise InputError("is no scheduler of Podium's", source=server) from None


def _get(settings: ClientSettings, path: str) -> bytes:
    got: list[bytes] = []

    async def get() -> None:
        transport = transport_for(settings, user_agent=f"podium/{__version__}")
        try:
            got.append(await KubeClient(transport).request("GET", path))
        finally:
            await transport.close()

    run(get())
    return got[0]


def _name(reference: str, namespace: str) -> tuple[str, str]:
    before, _, name = reference.rpartition("/")
    if before in _PODS:
        before = ""
    if "/" in before or not name:
        raise InputError(f"{reference} names no pod", remedy="name the pod as namespace/name")
    return before or namespace, name


def _find_context(cluster: ClusterOptions, options: RecordedOptions) -> FoundContext:
    try:
        return find_context(cluster.kubeconfig or "", cluster.context or "")
    except NoKubeconfig:
        if options.scheduler is None or cluster.is_named:
            raise
        return _NO_CONTEXT


def _scheduler_settings(found: FoundContext, options: RecordedOptions) -> ClientSettings:
    known, user = found.settings.cluster, found.settings.user
    server = options.scheduler or _scheduler_of(known)
    if options.token is not None:
        user = UserEntry(token=options.token)
    entry = replace(known, server=server, tls_server_name="")
    if options.insecure_skip_tls_verify:
        entry = replace(
            entry,
            insecure_skip_tls_verify=True,
            certificate_authority="",
            certificate_authority_data=b"",
        )
    elif options.certificate_authority is not None:
        entry = replace(
            entry,
            insecure_skip_tls_verify=False,
            certificate_authority=options.certificate_authority,
            certificate_authority_data=b"",
        )
    return ClientSettings(entry, user)


def _scheduler_of(cluster: ClusterEntry) -> str:
    names = (SCHEDULER_EXTENSION, OLD_SCHEDULER_EXTENSION)
    for extension in cluster.extensions:
        told = extension.extension
        if extension.name in names and isinstance(told, dict):
            server = told.get("server")
            if isinstance(server, str) and server:
                return server
    raise InputError(
        "the kubeconfig does not say where the scheduler is",
        remedy="--scheduler does, such as https://127.0.0.1:10259",
    )
