"""What each flag of kube-scheduler is for, in our words, and which ones change nothing here.

Names, types and defaults of the flags are data of the release; a flag of a release without a text
here is an error.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple


class FlagText(NamedTuple):
    help: str
    idle: str = ""
    """Why the flag changes nothing; "": it does."""


_NO_HTTP2: Final = "Podium serves HTTP/1.1 only"
_NOT_BUFFERED: Final = "log lines are written at once"

FLAG_TEXTS: Final[Mapping[str, FlagText]] = MappingProxyType(
    {
        "allow-metric-labels": FlagText(
            "Label values to show, all others becoming 'unexpected': metric,label='v1,v2'."
        ),
        "allow-metric-labels-manifest": FlagText(
            "A YAML file with the same: a map of 'metric,label' to 'v1,v2'."
        ),
        "authentication-kubeconfig": FlagText(
            "Kubeconfig for asking the API server about tokens; without it nobody's is checked."
        ),
        "authentication-skip-lookup": FlagText(
            "Do not look up missing authentication settings in the cluster."
        ),
        "authentication-token-webhook-cache-ttl": FlagText(
            "How long an answer about a token counts."
        ),
        "authentication-tolerate-lookup-failure": FlagText(
            "Go on when authentication settings cannot be looked up in the cluster."
        ),
        "authorization-always-allow-paths": FlagText(
            "Paths that everybody may get; a trailing * stands for anything."
        ),
        "authorization-kubeconfig": FlagText(
            "Kubeconfig for asking the API server about permissions."
        ),
        "authorization-webhook-cache-authorized-ttl": FlagText("How long a permission counts."),
        "authorization-webhook-cache-unauthorized-ttl": FlagText("How long a refusal counts."),
        "bind-address": FlagText(
            "Address to listen on for --secure-port; an unspecified one means all."
        ),
        "cert-dir": FlagText("Directory with kube-scheduler.crt and kube-scheduler.key."),
        "client-ca-file": FlagText("Authorities for client certificates."),
        "config": FlagText("The configuration file."),
        "contention-profiling": FlagText(
            "DEPRECATED: profile locks too. Ignored with --config.",
            "there are no Go locks to profile",
        ),
        "disable-http2-serving": FlagText("Serve no HTTP/2.", _NO_HTTP2),
        "disabled-metrics": FlagText("Metrics to leave out."),
        "emulated-version": FlagText(
            "Release whose feature gates are in force, 1.33 to 1.36: [kube=]1.35."
        ),
        "feature-gates": FlagText(
            "Feature gates that are not to have their defaults: [kube:]A=true,B=false. "
            "May be repeated."
        ),
        "help": FlagText("This text."),
        "http2-max-streams-per-connection": FlagText(
            "Streams that a client may have on one HTTP/2 connection.", _NO_HTTP2
        ),
        "kube-api-burst": FlagText("DEPRECATED: requests at once. Ignored with --config."),
        "kube-api-content-type": FlagText(
            "DEPRECATED: form of requests to the API server. Ignored with --config.",
            "Podium speaks JSON with the API server",
        ),
        "kube-api-qps": FlagText("DEPRECATED: requests per second. Ignored with --config."),
        "kubeconfig": FlagText("DEPRECATED: kubeconfig file. Ignored with --config."),
        "leader-elect": FlagText("Schedule only while leading."),
        "leader-elect-lease-duration": FlagText(
            "How long others wait for a leader that does not renew its lease."
        ),
        "leader-elect-renew-deadline": FlagText(
            "How long a leader tries to renew its lease before it gives up."
        ),
        "leader-elect-resource-lock": FlagText("Kind of the lock; leases."),
        "leader-elect-resource-name": FlagText("Name of the lock."),
        "leader-elect-resource-namespace": FlagText("Namespace of the lock."),
        "leader-elect-retry-period": FlagText(
            "Time between two attempts to get or renew the lease."
        ),
        "log-flush-frequency": FlagText(
            "Longest time that log lines are held back.", _NOT_BUFFERED
        ),
        "log-json-info-buffer-size": FlagText(
            "[Alpha] Buffer for information in JSON. Needs the gate LoggingAlphaOptions.",
            _NOT_BUFFERED,
        ),
        "log-json-split-stream": FlagText(
            "[Alpha] Errors to stderr, the rest to stdout. Needs the gate LoggingAlphaOptions."
        ),
        "log-text-info-buffer-size": FlagText(
            "[Alpha] Buffer for information in text. Needs the gate LoggingAlphaOptions.",
            _NOT_BUFFERED,
        ),
        "log-text-split-stream": FlagText(
            "[Alpha] Information to stdout, the rest to stderr. Needs the gate LoggingAlphaOptions."
        ),
        "logging-format": FlagText('Form of log lines: "json" or "text".'),
        "master": FlagText("Address of the API server, in place of that in the kubeconfig."),
        "min-compatibility-version": FlagText(
            "Oldest release in the control plane: [kube=]1.35.", "no gate of 1.36 depends on it"
        ),
        "permit-address-sharing": FlagText("Bind with SO_REUSEADDR."),
        "permit-port-sharing": FlagText("Bind with SO_REUSEPORT."),
        "pod-max-in-unschedulable-pods-duration": FlagText(
            "DEPRECATED: how long a pod without a node waits until it is tried again anyway."
        ),
        "profiling": FlagText("DEPRECATED: serve profiles. Ignored with --config."),
        "requestheader-allowed-names": FlagText(
            "Common names of client certificates that may pass on user names in headers."
        ),
        "requestheader-client-ca-file": FlagText(
            "Authorities for certificates of proxies that pass on user names."
        ),
        "requestheader-extra-headers-prefix": FlagText(
            "Prefixes of headers with further facts about the user."
        ),
        "requestheader-group-headers": FlagText("Headers with the user's groups."),
        "requestheader-uid-headers": FlagText("Headers with the user's UID."),
        "requestheader-username-headers": FlagText("Headers with the user's name."),
        "secure-port": FlagText("Port for HTTPS; 0 serves nothing."),
        "show-hidden-metrics-for-version": FlagText(
            "Show metrics that were hidden since this release; only the previous one is allowed.",
            "Podium hides no metrics",
        ),
        "tls-cert-file": FlagText("The server's certificate and its chain."),
        "tls-cipher-suites": FlagText("Cipher suites to offer, by their names in Go's tls."),
        "tls-curve-preferences": FlagText(
            "Key exchanges to offer, by Go's numbers (CurveID).",
            "the TLS library chooses the key exchange",
        ),
        "tls-min-version": FlagText(
            "Oldest TLS version to speak: VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13."
        ),
        "tls-private-key-file": FlagText("The private key for --tls-cert-file."),
        "tls-sni-cert-key": FlagText(
            "A certificate and its key for some host names: crt,key[:name,...]. May be repeated."
        ),
        "v": FlagText("How much to log."),
        "version": FlagText(
            "Print the version and exit, =raw with everything there is to say of it; "
            "=vX.Y.Z... sets the version that is reported."
        ),
        "vmodule": FlagText(
            "How much to log by source file.", "there are no Go source files to choose from"
        ),
        "write-config-to": FlagText("Write the effective configuration there and exit."),
    }
)
