"""How to reach the API server, with what has to be known of the machine for it.

The precedence is client-go's: an explicit kubeconfig must be there; `--master` takes the place of
its server, and alone is enough; with neither, the service account of the pod is tried. Nothing else
is looked at, neither `$KUBECONFIG` nor the home directory. What cannot work is refused with
client-go's text.

Sources: `staging/src/k8s.io/client-go/tools/clientcmd/{client_config,loader,validation}.go`.

What starting a scheduler needs to know about the machine, asked through one small interface. This
package does no I/O: whoever starts the scheduler brings the answers, and a test brings its own.
Refusals are worded as Go's `os` package does: `open x: no such file or directory`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from msgspec.structs import replace

from podium.scheduler.config.errors import ConfigurationError, FieldProblem, join_problems
from podium.scheduler.config.kubeconfig import ClusterEntry, Kubeconfig, UserEntry, load_kubeconfig


class StartRefused(Exception):
    """The scheduler cannot start; the text is what kube-scheduler would exit with."""


class FileProblem(StartRefused):
    """A file that cannot be had; the text is that of Go's `os` package."""


class HostEnvironment(Protocol):
    def read(self, path: str) -> bytes:
        """A file's content. Raises FileProblem."""

    def find(self, path: str) -> None:
        """Make sure that a file is there, whatever it is. Raises FileProblem."""

    def open(self, path: str) -> None:
        """Make sure that a file can be opened. Raises FileProblem."""

    def absolute(self, path: str, below: str) -> str:
        """A path that another file names, relative to that file."""

    def variable(self, name: str) -> str:
        """An environment variable, or ""."""


TOKEN_FILE: Final = "/var/run/secrets/kubernetes.io/serviceaccount/token"
ROOT_CA_FILE: Final = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"
NOT_IN_CLUSTER: Final = (
    "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and "
    "KUBERNETES_SERVICE_PORT must be defined"
)
_INVALID: Final = "invalid configuration: "
_NO_SERVER: Final = "cluster has no server defined"
_NOTHING: Final = (
    "no configuration has been provided, try setting KUBERNETES_MASTER environment variable"
)
_INTERACTIVE_MODES: Final = ("Never", "IfAvailable", "Always")

Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """One API server and who talks to it."""

    cluster: ClusterEntry
    user: UserEntry


def client_settings(
    kubeconfig: str, master: str, host: HostEnvironment, warn: Warn
) -> ClientSettings:
    """Raises StartRefused."""
    if not kubeconfig and not master:
        warn(
            "Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  "
            "This might not work."
        )
        try:
            return in_cluster(host)
        except StartRefused as problem:
            warn(f"error creating inClusterConfig, falling back to default config: {problem}")
    return kubeconfig_settings(kubeconfig, master, host)


def kubeconfig_settings(path: str, master: str, host: HostEnvironment) -> ClientSettings:
    """The current context of a kubeconfig. Raises StartRefused."""
    loaded = _load_file(path, host) if path else Kubeconfig()
    context = loaded.contexts.get(loaded.current_context)
    cluster_name = context.cluster if context else ""
    user_name = context.user if context else ""
    cluster = loaded.clusters.get(cluster_name)
    user = loaded.users.get(user_name, UserEntry())
    if master:
        # upstream: another server is not expected to have the same name in its certificate.
        cluster = replace(cluster or ClusterEntry(), server=master, tls_server_name="")
    problems = []
    if loaded.current_context and context is None:
        name = loaded.current_context
        problems.append(f"context was not found for specified context: {name}")
    problems.extend(_user_problems(user_name, user, path, host))
    if cluster is None:
        problems.append(_NO_SERVER)
    else:
        problems.extend(_cluster_problems(cluster_name, cluster, path, host))
    if problems == [_NO_SERVER]:
        if _may_be_in_cluster(host):
            return in_cluster(host)
        raise StartRefused(_INVALID + _NOTHING)
    if problems or cluster is None:
        raise StartRefused(_INVALID + join_problems(FieldProblem("", text) for text in problems))
    return ClientSettings(cluster, user)


def in_cluster(host: HostEnvironment) -> ClientSettings:
    """The service account that a pod is given. Raises StartRefused."""
    address = host.variable("KUBERNETES_SERVICE_HOST")
    port = host.variable("KUBERNETES_SERVICE_PORT")
    if not address or not port:
        raise StartRefused(NOT_IN_CLUSTER)
    host.read(TOKEN_FILE)
    bracketed = f"[{address}]" if ":" in address else address
    cluster = ClusterEntry(server=f"https://{bracketed}:{port}", certificate_authority=ROOT_CA_FILE)
    return ClientSettings(cluster, UserEntry(token_file=TOKEN_FILE))


def _may_be_in_cluster(host: HostEnvironment) -> bool:
    try:
        in_cluster(host)
    except StartRefused:
        return False
    return True


def _load_file(path: str, host: HostEnvironment) -> Kubeconfig:
    host.find(path)
    try:
        return load_kubeconfig(host.read(path))
    except ConfigurationError as problem:
        raise StartRefused(f'error loading config file "{path}": {problem.message}') from None
    except FileProblem as problem:
        raise StartRefused(f'error loading config file "{path}": {problem}') from None


def _cluster_problems(
    name: str, cluster: ClusterEntry, path: str, host: HostEnvironment
) -> Iterator[str]:
    if not cluster.server:
        yield (
            f'no server found for cluster "{name}"'
            if name
            else ("default cluster has no server defined")
        )
    if cluster.certificate_authority and cluster.certificate_authority_data:
        yield (
            f"certificate-authority-data and certificate-authority are both specified for {name}. "
            "certificate-authority-data will override."
        )
    yield from _unreadable("certificate-authority", cluster.certificate_authority, name, path, host)


def _user_problems(name: str, user: UserEntry, path: str, host: HostEnvironment) -> Iterator[str]:
    methods = ["token"] if user.token else []
    if user.username or user.password:
        methods.append("basicAuth")
    if user.client_certificate or user.client_certificate_data:
        yield from _certificate_problems(name, user, path, host)
    if user.exec is not None:
        yield from _exec_problems(name, user)
    if len(methods) > 1:
        yield (
            f"more than one authentication method found for {name}; "
            f"found [{' '.join(methods)}], only one is allowed"
        )
    extra = user.impersonate_uid or user.impersonate_groups or user.impersonate_user_extra
    if extra and not user.impersonate:
        yield f"requesting uid, groups or user-extra for {name} without impersonating a user"


def _certificate_problems(
    name: str, user: UserEntry, path: str, host: HostEnvironment
) -> Iterator[str]:
    if user.client_certificate and user.client_certificate_data:
        yield (
            f"client-cert-data and client-cert are both specified for {name}. "
            "client-cert-data will override."
        )
    if user.client_key and user.client_key_data:
        yield (
            f"client-key-data and client-key are both specified for {name}; "
            "client-key-data will override"
        )
    if not user.client_key and not user.client_key_data:
        yield (
            f"client-key-data or client-key must be specified for {name} to use the clientCert "
            "authentication method."
        )
    yield from _unreadable("client-cert", user.client_certificate, name, path, host)
    yield from _unreadable("client-key", user.client_key, name, path, host)


def _exec_problems(name: str, user: UserEntry) -> Iterator[str]:
    assert user.exec is not None
    to_use = f"must be specified for {name} to use exec authentication plugin"
    if user.auth_provider is not None:
        yield f"authProvider cannot be provided in combination with an exec plugin for {name}"
    if not user.exec.command:
        yield f"command {to_use}"
    if not user.exec.api_version:
        yield f"apiVersion {to_use}"
    if any(not variable.name for variable in user.exec.env):
        yield f"env variable name {to_use}"
    mode = user.interactive_mode
    if not mode:
        yield f"interactiveMode {to_use}"
    elif mode not in _INTERACTIVE_MODES:
        yield f'invalid interactiveMode for {name}: "{mode}"'


def _unreadable(what: str, file: str, name: str, path: str, host: HostEnvironment) -> Iterator[str]:
    if not file:
        return
    file = host.absolute(file, path)
    try:
        host.open(file)
    except FileProblem as problem:
        yield f"unable to read {what} {file} for {name} due to {problem}"
