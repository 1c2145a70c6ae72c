"""The flags of kube-scheduler, with their texts, those of earlier releases, and Podium's own.

Contract: the sections, names, types and defaults are those of the release, so that a unit file or a
static pod's command line works unchanged.

What there is to know about a flag. Definitions are data: the parser, the usage text and the typed
options all read the same tables. A flag with `idle` is understood and changes nothing here; the
text says why, and is told when the flag is used.

What each flag of kube-scheduler is for, in our words, and which ones change nothing here. Names,
types and defaults of the flags are data of the release; a flag of a release without a text here is
an error.

Flags that kube-scheduler no longer has and old guides still show. 1.36 refuses them as unknown.
Podium takes them with a warning: those that chose plugins, names and locks mean what they meant in
the last release that had them, the others are passed over. A flag with `idle` is of the latter
kind.

Sources: `cmd/kube-scheduler/app/options/{deprecated,insecure_serving}.go` at v1.21 and v1.22, and
klog's flags until 1.25.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from podium.golang.durations import Duration
from podium.kubernetes.releases.entries import FlagEntry
from podium.kubernetes.releases.release import Release
from podium.scheduler.config.flags.kinds import (
    BOOL,
    DURATION,
    INT,
    INT32,
    KINDS,
    SEVERITY,
    STRING,
    STRINGS,
    UINT,
    FlagKind,
)


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag; `until` is the last release that had a legacy one."""

    name: str
    kind: FlagKind
    default: Any
    help: str
    shorthand: str = ""
    idle: str = ""
    until: str = ""

    @property
    def label(self) -> str:
        """How messages call it."""
        return f"-{self.shorthand}, --{self.name}" if self.shorthand else f"--{self.name}"


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    flags: tuple[Flag, ...]


def by_name(sections: tuple[Section, ...]) -> Mapping[str, Flag]:
    return {flag.name: flag for section in sections for flag in section.flags}


OWN: Final = Section(
    "podium",
    (
        Flag(
            "plugin",
            STRINGS,
            (),
            "A plugin of your own, as FILE.py[:Class] or package.module:Class; may be repeated. "
            "Runs at all its points, with weight 1, unless the configuration names it.",
        ),
        Flag(
            "plugin-timeout",
            DURATION,
            Duration(5_000_000_000),
            "How long one call into a plugin of your own may take before it is interrupted and "
            "fails the pod's attempt; loading one may take twelve times that. 0 for no limit.",
        ),
        Flag(
            "reload",
            BOOL,
            False,
            "Look at the files of --plugin, and start anew with what is in them when they change. "
            "A file that does not load leaves the plugin before in force.",
        ),
        Flag(
            "run-all-filters",
            BOOL,
            False,
            "Have every filter look at every node, so that a node shows all reasons against it and "
            "not that of the first filter only. Pods go where they go without it.",
        ),
        Flag(
            "strict",
            BOOL,
            False,
            "Refuse names of earlier releases in the configuration and among the feature gates, as "
            "kube-scheduler does, instead of taking them with a warning.",
        ),
        Flag(
            "ui",
            BOOL,
            False,
            "Serve a page for browsers below /ui/ of the secure port: nodes, queue and decisions, "
            "for whoever may get that path.",
        ),
    ),
)
"""What kube-scheduler does not have."""


@cache
def scheduler_flags(known: Release) -> tuple[Section, ...]:
    """The flags of a release's kube-scheduler by section, and last our own."""
    sections = (
        Section(title, tuple(map(_flag, entries))) for title, entries in known.flags.items()
    )
    return (*sections, OWN)


def _flag(entry: FlagEntry) -> Flag:
    kind, text = KINDS[entry.type], FLAG_TEXTS[entry.name]
    default = kind.read(entry.default, None) if entry.default else kind.zero
    return Flag(entry.name, kind, default, text.help, shorthand=entry.shorthand, idle=text.idle)


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
            "Kubeconfig for token reviews; without it no token is checked."
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
            "Paths that need no authorization; a trailing * matches anything."
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
            "Minimum TLS version: VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13."
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


_NO_PLAIN_HTTP: Final = "Podium serves HTTPS only; see --bind-address and --secure-port"
_TO_STDERR: Final = "log lines go to standard error; redirect them there"


def _klog(name: str, kind: FlagKind, default: object, help_text: str) -> Flag:
    return Flag(name, kind, default, help_text, idle=_TO_STDERR, until="1.25")


LEGACY: Final = Section(
    "legacy",
    (
        _klog("add-dir-header", BOOL, False, "Directories in log headers."),
        Flag(
            "address",
            STRING,
            "0.0.0.0",
            "Address for plain HTTP.",
            idle=_NO_PLAIN_HTTP,
            until="1.22",
        ),
        Flag(
            "algorithm-provider",
            STRING,
            "",
            "Default plugins: DefaultProvider or ClusterAutoscalerProvider.",
            until="1.21",
        ),
        _klog("alsologtostderr", BOOL, False, "Log to standard error too."),
        Flag(
            "failure-domains",
            STRING,
            "",
            "Topology keys that an empty one stood for.",
            idle="pods name their topology keys",
            until="1.10",
        ),
        Flag(
            "hard-pod-affinity-symmetric-weight",
            INT32,
            1,
            "hardPodAffinityWeight of InterPodAffinity. Ignored with --config.",
            until="1.21",
        ),
        Flag(
            "lock-object-name",
            STRING,
            "kube-scheduler",
            "--leader-elect-resource-name. Ignored with --config.",
            until="1.27",
        ),
        Flag(
            "lock-object-namespace",
            STRING,
            "kube-system",
            "--leader-elect-resource-namespace. Ignored with --config.",
            until="1.27",
        ),
        _klog("log-backtrace-at", STRING, ":0", "Source line at which to log a stack."),
        _klog("log-dir", STRING, "", "Directory for log files."),
        _klog("log-file", STRING, "", "Log file."),
        _klog("log-file-max-size", UINT, 1800, "Size of a log file in MB."),
        _klog("logtostderr", BOOL, True, "Log to standard error."),
        _klog("one-output", BOOL, False, "Each line at its own level only."),
        Flag("policy-config-file", STRING, "", "Policy file.", until="1.22"),
        Flag("policy-configmap", STRING, "", "ConfigMap with the policy.", until="1.22"),
        Flag(
            "policy-configmap-namespace",
            STRING,
            "kube-system",
            "Namespace of --policy-configmap.",
            until="1.22",
        ),
        Flag("port", INT, 10251, "Port for plain HTTP.", idle=_NO_PLAIN_HTTP, until="1.23"),
        Flag(
            "scheduler-name",
            STRING,
            "default-scheduler",
            "Name of the only profile. Ignored with --config.",
            until="1.21",
        ),
        _klog("skip-headers", BOOL, False, "No headers on log lines."),
        _klog("skip-log-headers", BOOL, False, "No headers in log files."),
        _klog("stderrthreshold", SEVERITY, "2", "Least severity for standard error."),
        Flag(
            "use-legacy-policy-config",
            BOOL,
            False,
            "Use --policy-config-file even if there is a ConfigMap.",
            until="1.22",
        ),
    ),
)

INSTEAD: Final = {
    "algorithm-provider": "use --config with a profile",
    "hard-pod-affinity-symmetric-weight": "use --config with InterPodAffinity's arguments",
    "lock-object-name": "use --leader-elect-resource-name",
    "lock-object-namespace": "use --leader-elect-resource-namespace",
    "policy-config-file": "use --config with a profile; podium config convert writes one",
    "policy-configmap": "use --config with a profile",
    "policy-configmap-namespace": "use --config with a profile",
    "scheduler-name": "use --config with a profile",
    "use-legacy-policy-config": "use --config with a profile",
}
"""What to write today in place of a flag that still works."""
