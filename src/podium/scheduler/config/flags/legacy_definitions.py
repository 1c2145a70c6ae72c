"""Flags that kube-scheduler no longer has and old guides still show.

1.36 refuses them as unknown. Podium takes them with a warning: those that chose plugins, names and
locks mean what they meant in the last release that had them, the others are passed over. A flag
with `idle` is of the latter kind.

Sources: `cmd/kube-scheduler/app/options/{deprecated,insecure_serving}.go` at v1.21 and v1.22, and
klog's flags until 1.25.
"""

from typing import Final

from podium.scheduler.config.flags.flag import Flag, Section
from podium.scheduler.config.flags.kinds import BOOL, INT, INT32, SEVERITY, STRING, UINT, Kind

_NO_PLAIN_HTTP: Final = "Podium serves HTTPS only; see --bind-address and --secure-port"
_TO_STDERR: Final = "log lines go to standard error; redirect them there"


def _klog(name: str, kind: Kind, default: object, help_text: str) -> Flag:
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
