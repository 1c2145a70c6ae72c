"""What the scheduler of a whole cluster tells of itself: the same pages as those of `podium run`.

The certificate is the API server's, so that whoever trusts the one trusts the other, and the API
server is asked who may look: the token in the kubeconfig opens both.
"""

from urllib.parse import urlsplit

from podium.apiserver.serving.server import ApiServer
from podium.client import KubeClient
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.config.flags.options import options_of
from podium.config.flags.parser import parse_flags
from podium.live.assembly import Assembly
from podium.live.metrics import SchedulerMetrics
from podium.live.serving import ManagementServer, Reviewers
from podium.processes.management import SchedulerParts, management_server


def scheduler_parts(assembly: Assembly) -> SchedulerParts:
    """What there is to see of a scheduler that leads for as long as it runs."""
    engine = assembly.engine
    return SchedulerParts(
        engine,
        SchedulerMetrics(engine),
        None,
        assembly.records,
        assembly.scheduler.synced.is_set,
        lambda: False,
        lambda _: None,
    )


def scheduler_management(
    server: ApiServer, port: int, parts: SchedulerParts, client: KubeClient, gates: FeatureGates
) -> ManagementServer:
    """Listens already; port 0 is any free one. Raises StartRefused."""
    address = urlsplit(server.url).hostname or ""
    flags = {
        "bind-address": address,
        "secure-port": str(port),
        "authentication-skip-lookup": "true",
    }
    if server.certificates is not None:
        flags["tls-cert-file"] = str(server.certificates.certificate_file)
        flags["tls-private-key-file"] = str(server.certificates.key_file)
    options = options_of(parse_flags([f"--{name}={value}" for name, value in flags.items()]))
    return management_server(
        options, flags, parts.engine.configuration, gates, parts, Reviewers(client, client)
    )
