"""The flags of kube-scheduler 1.36: names, types, defaults, and what each is for.

Contract: the sections, names, types and defaults are upstream's (`cmd/kube-scheduler/app/options`
at v1.36.4), so that a unit file or a static pod's command line works unchanged.
"""

from types import MappingProxyType
from typing import Final

from podium.golang.durations import Duration
from podium.config.flags.flag import Flag, Section
from podium.config.flags.kinds import (
    BOOL,
    COMPONENTS,
    DURATION,
    FILE_LEVELS,
    FLOAT32,
    INT32,
    LEVEL,
    QUANTITY,
    STRING,
    STRING_MAP,
    STRINGS,
    VERSION,
)
from podium.config.flags.serving_definitions import AUTHENTICATION, AUTHORIZATION, SECURE_SERVING

_NOT_BUFFERED: Final = "log lines are written at once"

MISC: Final = Section(
    "misc",
    (
        Flag("config", STRING, "", "The configuration file."),
        Flag(
            "master", STRING, "", "Address of the API server, in place of that in the kubeconfig."
        ),
        Flag("write-config-to", STRING, "", "Write the effective configuration there and exit."),
    ),
)
DEPRECATED: Final = Section(
    "deprecated",
    (
        Flag(
            "contention-profiling",
            BOOL,
            True,
            "DEPRECATED: profile locks too. Ignored with --config.",
            idle="there are no Go locks to profile",
        ),
        Flag("kube-api-burst", INT32, 100, "DEPRECATED: requests at once. Ignored with --config."),
        Flag(
            "kube-api-content-type",
            STRING,
            "application/vnd.kubernetes.protobuf",
            "DEPRECATED: form of requests to the API server. Ignored with --config.",
            idle="Podium speaks JSON with the API server",
        ),
        Flag(
            "kube-api-qps", FLOAT32, 50.0, "DEPRECATED: requests per second. Ignored with --config."
        ),
        Flag("kubeconfig", STRING, "", "DEPRECATED: kubeconfig file. Ignored with --config."),
        Flag(
            "pod-max-in-unschedulable-pods-duration",
            DURATION,
            Duration.of_seconds(300),
            "DEPRECATED: how long a pod without a node waits until it is tried again anyway.",
        ),
        Flag("profiling", BOOL, True, "DEPRECATED: serve profiles. Ignored with --config."),
    ),
)
LEADER_ELECTION: Final = Section(
    "leader election",
    (
        Flag("leader-elect", BOOL, True, "Schedule only while leading."),
        Flag(
            "leader-elect-lease-duration",
            DURATION,
            Duration.of_seconds(15),
            "How long others wait for a leader that does not renew its lease.",
        ),
        Flag(
            "leader-elect-renew-deadline",
            DURATION,
            Duration.of_seconds(10),
            "How long a leader tries to renew its lease before it gives up.",
        ),
        Flag("leader-elect-resource-lock", STRING, "leases", "Kind of the lock; leases."),
        Flag("leader-elect-resource-name", STRING, "kube-scheduler", "Name of the lock."),
        Flag("leader-elect-resource-namespace", STRING, "kube-system", "Namespace of the lock."),
        Flag(
            "leader-elect-retry-period",
            DURATION,
            Duration.of_seconds(2),
            "Time between two attempts to get or renew the lease.",
        ),
    ),
)
FEATURE_GATE: Final = Section(
    "feature gate",
    (
        Flag(
            "emulated-version",
            STRINGS,
            (),
            "Release whose feature gates are in force, 1.33 to 1.36: [kube=]1.35.",
        ),
        Flag(
            "feature-gates",
            COMPONENTS,
            MappingProxyType({}),
            "Feature gates that are not to have their defaults: [kube:]A=true,B=false. "
            "May be repeated.",
        ),
        Flag(
            "min-compatibility-version",
            STRINGS,
            (),
            "Oldest release in the control plane: [kube=]1.35.",
            idle="no gate of 1.36 depends on it",
        ),
    ),
)
METRICS: Final = Section(
    "metrics",
    (
        Flag(
            "allow-metric-labels",
            STRING_MAP,
            None,
            "Label values to show, all others becoming 'unexpected': metric,label='v1,v2'.",
        ),
        Flag(
            "allow-metric-labels-manifest",
            STRING,
            "",
            "A YAML file with the same: a map of 'metric,label' to 'v1,v2'.",
        ),
        Flag("disabled-metrics", STRINGS, (), "Metrics to leave out."),
        Flag(
            "show-hidden-metrics-for-version",
            STRING,
            "",
            "Show metrics that were hidden since this release; only the previous one is allowed.",
            idle="Podium hides no metrics",
        ),
    ),
)
LOGS: Final = Section(
    "logs",
    (
        Flag(
            "log-flush-frequency",
            DURATION,
            Duration.of_seconds(5),
            "Longest time that log lines are held back.",
            idle=_NOT_BUFFERED,
        ),
        Flag(
            "log-json-info-buffer-size",
            QUANTITY,
            "0",
            "[Alpha] Buffer for information in JSON. Needs the gate LoggingAlphaOptions.",
            idle=_NOT_BUFFERED,
        ),
        Flag(
            "log-json-split-stream",
            BOOL,
            False,
            "[Alpha] Errors to stderr, the rest to stdout. Needs the gate LoggingAlphaOptions.",
        ),
        Flag(
            "log-text-info-buffer-size",
            QUANTITY,
            "0",
            "[Alpha] Buffer for information in text. Needs the gate LoggingAlphaOptions.",
            idle=_NOT_BUFFERED,
        ),
        Flag(
            "log-text-split-stream",
            BOOL,
            False,
            "[Alpha] Information to stdout, the rest to stderr. "
            "Needs the gate LoggingAlphaOptions.",
        ),
        Flag("logging-format", STRING, "text", 'Form of log lines: "json" or "text".'),
        Flag("v", LEVEL, 0, "How much to log.", shorthand="v"),
        Flag(
            "vmodule",
            FILE_LEVELS,
            (),
            "How much to log by source file.",
            idle="there are no Go source files to choose from",
        ),
    ),
)
GLOBAL: Final = Section(
    "global",
    (
        Flag("help", BOOL, False, "This text.", shorthand="h"),
        Flag(
            "version",
            VERSION,
            "false",
            "Print the version and exit, =raw with everything there is to say of it; "
            "=vX.Y.Z... sets the version that is reported.",
        ),
    ),
)
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
CURRENT: Final = (
    MISC,
    SECURE_SERVING,
    AUTHENTICATION,
    AUTHORIZATION,
    DEPRECATED,
    LEADER_ELECTION,
    FEATURE_GATE,
    METRICS,
    LOGS,
    GLOBAL,
    OWN,
)
