"""Whom the endpoints would ask about a request, and what does not work without that.

Contract: as in upstream, a file that cannot be used is refused, and what merely will not work is a
warning. Looking things up in the cluster is left to whoever serves.

Sources: `ApplyTo` in `staging/src/k8s.io/apiserver/pkg/server/options/{authentication,
authorization}.go`.
"""

from collections.abc import Callable

from podium.golang.quoting import quoted
from podium.scheduler.config.flags.client_settings import (
    NOT_IN_CLUSTER,
    ClientSettings,
    Warn,
    in_cluster,
    kubeconfig_settings,
)
from podium.scheduler.config.flags.host_environment import (
    FileProblem,
    HostEnvironment,
    StartRefused,
)
from podium.scheduler.config.flags.options import Authentication, Authorization
from podium.scheduler.config.flags.pem_text import CERTIFICATE, block_types


def check_authentication(
    authentication: Authentication, host: HostEnvironment, warn: Warn
) -> ClientSettings | None:
    """The API server that knows who asks, if there is one. Raises StartRefused."""
    try:
        client = _delegate("authentication", authentication.authentication_kubeconfig, host, warn)
    except StartRefused as problem:
        # upstream: says so twice.
        raise StartRefused(
            f"failed to get delegated authentication kubeconfig: {problem}"
        ) from None
    looks_up = not authentication.authentication_skip_lookup and client is None
    in_map = "in configmap/extension-apiserver-authentication in kube-system"
    if authentication.client_ca_file:
        _check_bundle(
            "client-ca-bundle",
            authentication.client_ca_file,
            host,
            lambda problem: f"unable to load client CA provider: {problem}",
        )
    elif looks_up:
        warn(
            f"No authentication-kubeconfig provided in order to lookup client-ca-file {in_map}, "
            "so client certificate authentication won't work."
        )
    if authentication.requestheader_client_ca_file:
        _check_bundle(
            "request-header",
            authentication.requestheader_client_ca_file,
            host,
            lambda problem: f"unable to create request header authentication config: {problem}",
        )
    elif looks_up:
        warn(
            "No authentication-kubeconfig provided in order to lookup "
            f"requestheader-client-ca-file {in_map}, so request-header client certificate "
            "authentication won't work."
        )
    return client


def check_authorization(
    authorization: Authorization, host: HostEnvironment, warn: Warn
) -> ClientSettings | None:
    """The API server that knows who may do what, if there is one. Raises StartRefused."""
    client = _delegate("authorization", authorization.authorization_kubeconfig, host, warn)
    for path in authorization.authorization_always_allow_paths:
        bare = path.removeprefix("/")
        if "*" in bare[:-1]:
            raise StartRefused(f"only trailing * allowed in {quoted(bare)}")
    if client is None:
        warn(
            "No authorization-kubeconfig provided, so SubjectAccessReview of authorization tokens "
            "won't work."
        )
    return client


def _delegate(
    what: str, kubeconfig: str, host: HostEnvironment, warn: Warn
) -> ClientSettings | None:
    """The API server that is asked about others' requests, if there is one."""
    if kubeconfig:
        try:
            return kubeconfig_settings(kubeconfig, "", host)
        except StartRefused as problem:
            raise StartRefused(f"failed to get delegated {what} kubeconfig: {problem}") from None
    try:
        return in_cluster(host)
    except StartRefused as problem:
        if str(problem) != NOT_IN_CLUSTER:
            warn(f"failed to read in-cluster kubeconfig for delegated {what}: {problem}")
        return None


def _check_bundle(
    purpose: str, file: str, host: HostEnvironment, worded: Callable[[str], str]
) -> None:
    name = quoted(f"{purpose}::{file}")
    try:
        data = host.read(file)
    except FileProblem as problem:
        raise StartRefused(worded(str(problem))) from None
    if not data:
        raise StartRefused(worded(f"missing content for CA bundle {name}"))
    if CERTIFICATE not in block_types(data):
        nothing = "data does not contain any valid RSA or ECDSA certificates"
        raise StartRefused(worded(f"error loading CA bundle for {name}: {nothing}"))
