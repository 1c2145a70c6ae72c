"""What shows only when clients, locks and the elector are made.

Flags are not validated once they are laid over a configuration, so these come late, and in this
order. Contract: the text of the first failure, or "".

Sources: `staging/src/k8s.io/client-go/{kubernetes/clientset,rest/url_utils}.go` and
`tools/leaderelection` there.
"""

import math
import re
from typing import Final

from podium.golang.quoting import quoted
from podium.scheduler.config.flags.client_settings import ClientSettings
from podium.scheduler.config.types import ClientConnectionConfiguration, LeaderElectionConfiguration

_URL: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://([^/?#]*)([^?#]*)")
_HOST_CHARACTERS: Final = re.compile(r"[^\s<>\"\\^`{}|]*")
_JITTER: Final = 1.2
_REMOVED_LOCKS: Final = {
    "endpoints": "endpoints lock is removed, migrate to leases",
    "configmaps": "configmaps lock is removed, migrate to leases",
    "endpointsleases": "endpointsleases lock is removed, migrate to leases",
    # upstream: worded unlike the others.
    "configmapsleases": "configmapsleases lock is removed, migrated to leases",
}


def client_problem(connection: ClientConnectionConfiguration, settings: ClientSettings) -> str:
    """Why no client can be made."""
    if connection.qps > 0 and connection.burst <= 0:
        return (
            "burst is required to be greater than 0 when RateLimiter is not set and QPS is set "
            "to greater than 0"
        )
    cluster, user = settings.cluster, settings.user
    secure = bool(
        cluster.certificate_authority
        or cluster.certificate_authority_data
        or cluster.insecure_skip_tls_verify
        or user.client_certificate
        or user.client_certificate_data
    )
    return _server_problem(cluster.server, secure)


def lock_problem(election: LeaderElectionConfiguration) -> str:
    """Why there is no such lock."""
    if not election.leader_elect or election.resource_lock == "leases":
        return ""
    unknown = f"Invalid lock-type {election.resource_lock}"
    problem = _REMOVED_LOCKS.get(election.resource_lock, unknown)
    return f"couldn't create resource lock: {problem}"


def elector_problem(election: LeaderElectionConfiguration) -> str:
    """Why nobody can be elected with these times."""
    if not election.leader_elect:
        return ""
    lease = election.lease_duration.nanoseconds
    renew = election.renew_deadline.nanoseconds
    retry = election.retry_period.nanoseconds
    problem = ""
    if lease <= renew:
        problem = "leaseDuration must be greater than renewDeadline"
    elif renew <= math.trunc(_JITTER * retry):
        problem = "renewDeadline must be greater than retryPeriod*JitterFactor"
    else:
        for name, time in (
            ("leaseDuration", lease),
            ("renewDeadline", renew),
            ("retryPeriod", retry),
        ):
            if time < 1:
                problem = f"{name} must be greater than zero"
                break
    return f"couldn't create leader elector: {problem}" if problem else ""


def _server_problem(server: str, secure: bool) -> str:
    url = _URL.match(server)
    if url is not None and url[1] and not _authority_problem(url[1]):
        return ""
    assumed = f"{'https' if secure else 'http'}://{server}"
    url = _URL.match(assumed)
    assert url is not None
    problem = _authority_problem(url[1])
    if problem:
        return f"parse {quoted(assumed)}: {problem}"
    if url[2] not in ("", "/"):
        return f"host must be a URL or a host:port pair: {quoted(server)}"
    return ""


def _authority_problem(authority: str) -> str:
    host = authority.rpartition("@")[2]
    strange = _HOST_CHARACTERS.match(host)
    if strange is not None and strange.end() < len(host):
        return f"invalid character {quoted(host[strange.end()])} in host name"
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            return "missing ']' in host"
        port = host[end + 1 :]
    else:
        port = host[host.rindex(":") :] if ":" in host else ""
    if port and not re.fullmatch(r":[0-9]*", port):
        return f"invalid port {quoted(port)} after host"
    return ""
