"""From a kubeconfig to a client: which server, as whom, and how to get there.

Contexts are looked for as kubectl does: in the file that was named, in those that `$KUBECONFIG`
lists, or in `~/.kube/config`, and where there is none, with the service account of the pod that
Podium runs in. Of several files the first to name something wins. Files that an entry names are
relative to the kubeconfig that holds the entry.

What a user can get wrong is an `InputError` that names the file and what is missing in it.

The kubeconfig of a `podium up` that has ended. Such a cluster lives in one process, and its
kubeconfig outlives it. `podium up` writes into it which process it is and how it was started;
whoever then finds nobody listening can say so.
"""

import os
import shlex
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import quote

from msgspec.structs import replace

from podium.client.credentials import Credentials, ExecCredentials, user_credentials
from podium.client.http_transport import HttpTransport
from podium.client.kube_client import KubeClient
from podium.golang.errors import InputError, closest, did_you_mean
from podium.golang.json_values import JsonObject
from podium.net.files.bounded_files import read_file
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.flags.client_settings import ROOT_CA_FILE, TOKEN_FILE, ClientSettings
from podium.scheduler.config.kubeconfig import (
    ClusterEntry,
    ContextEntry,
    NotAKubeconfig,
    UserEntry,
    load_kubeconfig,
)

_USUAL: Final = "~/.kube/config"
_NAMESPACE_FILE: Final = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
_SERVICE: Final = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")
_EXAMPLE: Final = f"a kubeconfig names clusters, as {_USUAL} does"
_CONFIGURATIONS: Final = ("KubeSchedulerConfiguration", "Policy")

EntryT = TypeVar("EntryT")


class NoKubeconfig(InputError):
    """Nobody has said which cluster is meant."""


@dataclass(slots=True)
class _Merged:
    """What all the files say together."""

    clusters: dict[str, ClusterEntry] = field(default_factory=dict)
    users: dict[str, UserEntry] = field(default_factory=dict)
    contexts: dict[str, ContextEntry] = field(default_factory=dict)
    current: str = ""


def located_settings(settings: ClientSettings, kubeconfig: str) -> ClientSettings:
    """Settings with paths that are absolute; `kubeconfig` is where relative ones start."""
    return ClientSettings(
        _located_cluster(settings.cluster, kubeconfig), _located_user(settings.user, kubeconfig)
    )


def transport_for(
    settings: ClientSettings, *, user_agent: str, kubeconfig: str = ""
) -> HttpTransport:
    """The way to the server of a context; `kubeconfig` is where relative paths start.

    Raises InputError.
    """
    located = located_settings(settings, kubeconfig)
    cluster, user = located.cluster, located.user
    headers = [("User-Agent", user_agent), *_impersonation(user)]
    return HttpTransport(cluster, _credentials(user, cluster), headers=headers)


@asynccontextmanager
async def connect(
    kubeconfig: str = "", context: str = "", *, field_manager: str = "podium"
) -> AsyncIterator[KubeClient]:
    """A client for the server of a context, found as kubectl finds it; closed at the end.

    Raises InputError.
    """
    settings = find_settings(kubeconfig, context)
    transport = transport_for(settings, user_agent=field_manager)
    try:
        yield KubeClient(transport, field_manager=field_manager)
    finally:
        await transport.close()


@dataclass(frozen=True, slots=True)
class FoundContext:
    """The server and user of a context, and the namespace that it is about, "" if it says none."""

    settings: ClientSettings
    namespace: str = ""


def find_settings(
    kubeconfig: str = "", context: str = "", environment: Mapping[str, str] = os.environ
) -> ClientSettings:
    """The server and user of a context, with paths that are absolute. Raises InputError."""
    return find_context(kubeconfig, context, environment).settings


def find_context(
    kubeconfig: str = "", context: str = "", environment: Mapping[str, str] = os.environ
) -> FoundContext:
    """Raises InputError, NoKubeconfig if there is none to look into."""
    files = _files(kubeconfig, environment)
    if not files:
        if all(environment.get(name) for name in _SERVICE):
            return FoundContext(_in_cluster(environment), _pod_namespace())
        raise NoKubeconfig(
            "there is no kubeconfig",
            remedy=f"name one with --kubeconfig or in $KUBECONFIG, or put it into {_USUAL}",
        )
    return _choose_context(_merge_files(files), context, ", ".join(map(str, files)))


def _files(kubeconfig: str, environment: Mapping[str, str]) -> list[Path]:
    if kubeconfig:
        return [Path(kubeconfig)]
    listed = [Path(part) for part in environment.get("KUBECONFIG", "").split(os.pathsep) if part]
    if listed:
        # upstream: of the files in the variable, those that are missing are passed over.
        there = [path for path in listed if path.exists()]
        if not there:
            names = ", ".join(map(str, listed))
            raise InputError("there is no such file", source=names, path="$KUBECONFIG")
        return there
    usual = Path(environment.get("HOME", ""), *_USUAL.split("/")[1:])
    return [usual] if environment.get("HOME") and usual.exists() else []


def _merge_files(files: Sequence[Path]) -> _Merged:
    merged = _Merged()
    for path in files:
        source = str(path)
        try:
            found = load_kubeconfig(read_file(path))
        except OSError as problem:
            reason = (problem.strerror or str(problem)).lower()
            raise InputError(f"cannot be read: {reason}", source=source) from None
        except NotAKubeconfig as problem:
            raise _another_kind(problem.kind, source) from None
        except ConfigurationError as problem:
            raise InputError(problem.message, source=source) from None
        for name, cluster in found.clusters.items():
            merged.clusters.setdefault(name, _located_cluster(cluster, source))
        for name, user in found.users.items():
            merged.users.setdefault(name, _located_user(user, source))
        for name, context in found.contexts.items():
            merged.contexts.setdefault(name, context)
        merged.current = merged.current or found.current_context
    return merged


def _another_kind(kind: str, source: str) -> InputError:
    """What the file is, and where such files are given."""
    if kind in _CONFIGURATIONS:
        problem, remedy = "a configuration of schedulers", "give it with --config"
    elif kind:
        problem, remedy = f"a manifest ({kind})", f"to read its objects, give it with -f {source}"
    else:
        return InputError("is no kubeconfig", source=source, remedy=_EXAMPLE)
    return InputError(f"is {problem}, no kubeconfig", source=source, remedy=remedy)


def _choose_context(merged: _Merged, wanted: str, source: str) -> FoundContext:
    name = wanted or merged.current
    if not name:
        known = ", ".join(sorted(merged.contexts))
        remedy = f"--context chooses one of {known}" if known else _EXAMPLE
        raise InputError("has no current context", source=source, remedy=remedy)
    context = _find_entry("context", name, merged.contexts, source)
    cluster = _find_entry("cluster", context.cluster, merged.clusters, source)
    if not cluster.server:
        raise InputError(f'cluster "{context.cluster}" has no server', source=source)
    user = _find_entry("user", context.user, merged.users, source) if context.user else UserEntry()
    return FoundContext(ClientSettings(cluster, user), context.namespace)


def _find_entry(what: str, name: str, known: Mapping[str, EntryT], source: str) -> EntryT:
    found = known.get(name)
    if found is None:
        remedy = did_you_mean(closest(name, sorted(known)))
        raise InputError(f'there is no {what} "{name}"', source=source, remedy=remedy)
    return found


def _in_cluster(environment: Mapping[str, str]) -> ClientSettings:
    host, port = (environment[name] for name in _SERVICE)
    bracketed = f"[{host}]" if ":" in host else host
    cluster = ClusterEntry(server=f"https://{bracketed}:{port}", certificate_authority=ROOT_CA_FILE)
    return ClientSettings(cluster, UserEntry(token_file=TOKEN_FILE))


def _pod_namespace() -> str:
    try:
        return read_file(_NAMESPACE_FILE).decode().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _credentials(user: UserEntry, cluster: ClusterEntry) -> Credentials:
    if user.auth_provider is not None:
        raise InputError(
            "is not supported any more",
            path="user.auth-provider",
            remedy="use an exec plugin, a token or a client certificate",
        )
    if user.exec is not None and not (user.token or user.token_file):
        mode = user.interactive_mode or "IfAvailable"
        return ExecCredentials(user.exec, cluster, time.time, interactive_mode=mode)
    return user_credentials(user, time.monotonic)


def _impersonation(user: UserEntry) -> list[tuple[str, str]]:
    if not user.impersonate:
        return []
    headers = [("Impersonate-User", user.impersonate)]
    if user.impersonate_uid:
        headers.append(("Impersonate-Uid", user.impersonate_uid))
    headers += [("Impersonate-Group", group) for group in user.impersonate_groups]
    for key, values in user.impersonate_user_extra.items():
        headers += [(f"Impersonate-Extra-{quote(key, safe='')}", value) for value in values]
    return headers


def _located_cluster(cluster: ClusterEntry, kubeconfig: str) -> ClusterEntry:
    return replace(
        cluster, certificate_authority=_locate_file(cluster.certificate_authority, kubeconfig)
    )


def _located_user(user: UserEntry, kubeconfig: str) -> UserEntry:
    plugin = user.exec
    if plugin is not None and "/" in plugin.command:
        # upstream: a command with a slash in it is a file beside the kubeconfig.
        plugin = replace(plugin, command=_locate_file(plugin.command, kubeconfig))
    return replace(
        user,
        client_certificate=_locate_file(user.client_certificate, kubeconfig),
        client_key=_locate_file(user.client_key, kubeconfig),
        token_file=_locate_file(user.token_file, kubeconfig),
        exec=plugin,
    )


def _locate_file(file: str, kubeconfig: str) -> str:
    if not file or not kubeconfig:
        return file
    return os.path.abspath(os.path.join(os.path.dirname(kubeconfig), file))


UP_EXTENSION: Final = "podium.dev/up"
"""The extension of a kubeconfig's cluster that says whose it is: `process` and `command`."""
_OLD_UP_EXTENSION: Final = "podium/up"


def describe_process(arguments: Sequence[str]) -> JsonObject:
    """This process, with the arguments that `podium` was started with."""
    return {"process": os.getpid(), "command": shlex.join(["podium", *arguments])}


def find_ended_process(cluster: ClusterEntry) -> InputError | None:
    """What to say where nobody listens; None if the file names no process, or it still runs."""
    for extension in cluster.extensions:
        found = extension.extension
        if extension.name in (UP_EXTENSION, _OLD_UP_EXTENSION) and isinstance(found, dict):
            process, command = found.get("process"), found.get("command")
            if isinstance(process, int) and process > 0 and isinstance(command, str):
                return None if _runs(process) else _describe_ended(process, command)
    return None


def _describe_ended(process: int, command: str) -> InputError:
    return InputError(
        f"the cluster of this kubeconfig was `podium up`, process {process}, which has ended",
        remedy=f"start it again with `{command}`",
    )


def _runs(process: int) -> bool:
    with suppress(ProcessLookupError, OverflowError):
        try:
            os.kill(process, 0)
        except PermissionError:
            return True  # somebody else's
        return True
    return False
