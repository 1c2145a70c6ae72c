"""The configuration, as a user writes it and as the scheduler runs with it; extension points.

`KubeSchedulerConfiguration` and what hangs below it mirror the v1 file format; nothing is filled
in, so an absent field can be told from one that was set. `Configuration` is the result of loading:
complete, checked, with the default plugins merged in. Everything past the loader reads only the
latter, so a further file format needs nothing but its own way to the former.

The plugin sets inside a `Configuration` are merged but not expanded: which plugin runs at which
point depends on what the plugins implement, which `merge.expand_point` is told by its caller.

The extension points of a profile. Which points there are, and in which order a profile is put
together, is data of the release. That order is visible: of several mistakes in one profile, the one
at the earliest point is the one reported. The values are the names used in configuration files, so
a point can be written as a plain string wherever that reads better.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Final

import msgspec

from podium.golang.durations import Duration
from podium.kubernetes.releases.release import Release
from podium.scheduler.config.decode import Float32, Int32, Int64
from podium.scheduler.config.errors import ConfigFinding
from podium.scheduler.config.plugin_args import PluginArgs, RawArgs


class ExtensionPoint(StrEnum):
    """A step of scheduling at which plugins run."""

    PRE_FILTER = "preFilter"
    FILTER = "filter"
    POST_FILTER = "postFilter"
    RESERVE = "reserve"
    PRE_SCORE = "preScore"
    SCORE = "score"
    PRE_BIND = "preBind"
    BIND = "bind"
    POST_BIND = "postBind"
    PERMIT = "permit"
    PRE_ENQUEUE = "preEnqueue"
    QUEUE_SORT = "queueSort"
    PLACEMENT_GENERATE = "placementGenerate"
    PLACEMENT_SCORE = "placementScore"

    @property
    def plugin_type(self) -> str:
        """What upstream calls a plugin of this point, as error texts have it."""
        return f"{self.value[0].upper()}{self.value[1:]}Plugin"

    @property
    def is_weighted(self) -> bool:
        """Whether a plugin's weight means anything here."""
        return self in (ExtensionPoint.SCORE, ExtensionPoint.PLACEMENT_SCORE)


@cache
def points_of(known: Release) -> tuple[ExtensionPoint, ...]:
    """The points of a release, in the order in which its profiles are put together."""
    return tuple(map(ExtensionPoint, known.extension_points))


API_GROUP: Final = "kubescheduler.config.k8s.io"
API_VERSION: Final = f"{API_GROUP}/v1"
KIND: Final = "KubeSchedulerConfiguration"


class PluginRef(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A plugin named in a list. Weight 0 means unset; where weights count it becomes 1."""

    GO_TYPE: ClassVar[str] = "v1.Plugin"

    name: str = ""
    weight: Int32 = 0


class PluginSet(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What is switched on and off at one extension point. `*` among the disabled means all."""

    enabled: tuple[PluginRef, ...] = ()
    disabled: tuple[PluginRef, ...] = ()


class _ConfigStruct(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What the other parts of a configuration are made of."""


class Plugins(_ConfigStruct, frozen=True):
    """A plugin set for each extension point, and one (`multi_point`) for all of them together."""

    pre_enqueue: PluginSet = PluginSet()
    queue_sort: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()
    multi_point: PluginSet = PluginSet()
    placement_generate: PluginSet = PluginSet()
    placement_score: PluginSet = PluginSet()

    def at(self, point: ExtensionPoint | str) -> PluginSet:
        """The set of one extension point, named as in files (`preFilter`)."""
        found: PluginSet = getattr(self, ExtensionPoint(point).name.lower())
        return found

    def enabled_names(self) -> frozenset[str]:
        """Every plugin enabled anywhere: the ones that a profile has to construct."""
        return frozenset(plugin.name for _, entry in self.items() for plugin in entry.enabled)

    def items(self) -> Iterator[tuple[str, PluginSet]]:
        """All fifteen sets with their attribute names, in the order of the file format."""
        for name in self.__struct_fields__:
            yield name, getattr(self, name)


class LeaderElectionConfiguration(_ConfigStruct, frozen=True):
    """As written; zero and empty mean the same as absent here, except for `leader_elect`."""

    GO_TYPE: ClassVar[str] = "v1alpha1.LeaderElectionConfiguration"
    OLD_NAMES: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "LeaderElect": "leaderElect",
            "LeaseDuration": "leaseDuration",
            "RenewDeadline": "renewDeadline",
            "RetryPeriod": "retryPeriod",
            "ResourceLock": "resourceLock",
            "ResourceName": "resourceName",
            "ResourceNamespace": "resourceNamespace",
        }
    )
    """Go's names of the fields, which articles print."""

    leader_elect: bool = True
    lease_duration: Duration = Duration()
    renew_deadline: Duration = Duration()
    retry_period: Duration = Duration()
    resource_lock: str = ""
    resource_name: str = ""
    resource_namespace: str = ""


class ClientConnectionConfiguration(_ConfigStruct, frozen=True):
    """How to talk to the API server. A negative `qps` means no limit on the client's side."""

    GO_TYPE: ClassVar[str] = "v1alpha1.ClientConnectionConfiguration"

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = ""
    qps: Float32 = 0.0
    burst: Int32 = 0


class ExtenderTLSConfig(_ConfigStruct, frozen=True):
    """Certificates for an extender; data wins over a file."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: bytes = b""
    key_data: bytes = b""
    ca_data: bytes = b""


class ExtenderManagedResource(_ConfigStruct, frozen=True):
    name: str = ""
    ignored_by_scheduler: bool = False


class Extender(_ConfigStruct, frozen=True):
    """A webhook that may veto, score and bind."""

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    bind_verb: str = ""
    weight: Int64 = 0
    enable_https: bool = msgspec.field(default=False, name="enableHTTPS")
    tls_config: ExtenderTLSConfig | None = None
    http_timeout: Duration = Duration()
    node_cache_capable: bool = False
    managed_resources: tuple[ExtenderManagedResource, ...] = ()
    ignorable: bool = False


class PluginConfig(_ConfigStruct, frozen=True):
    """Arguments for one plugin as written; the loader types them by the plugin's name."""

    name: str = ""
    args: Any = None


class KubeSchedulerProfile(_ConfigStruct, frozen=True):
    scheduler_name: str | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[PluginConfig, ...] = ()


class KubeSchedulerConfiguration(_ConfigStruct, frozen=True):
    """A v1 file."""

    GO_EMBEDDED: ClassVar[MappingProxyType[str, str]] = MappingProxyType(
        {
            "enableProfiling": "DebuggingConfiguration",
            "enableContentionProfiling": "DebuggingConfiguration",
        }
    )

    api_version: str = ""
    kind: str = ""
    parallelism: Int32 | None = None
    leader_election: LeaderElectionConfiguration = LeaderElectionConfiguration()
    client_connection: ClientConnectionConfiguration = ClientConnectionConfiguration()
    enable_profiling: bool | None = None
    enable_contention_profiling: bool | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    pod_initial_backoff_seconds: Int64 | None = None
    pod_max_backoff_seconds: Int64 | None = None
    profiles: tuple[KubeSchedulerProfile, ...] = ()
    extenders: tuple[Extender, ...] = ()
    delay_cache_until_active: bool = False


class ProfileConfiguration(_ConfigStruct, frozen=True, kw_only=True):
    """One scheduler name and how its pods are scheduled.

    `plugin_args` has the user's entries in file order, then the defaulted ones by name. Arguments
    of plugins that Podium does not know stay raw.
    """

    scheduler_name: str
    percentage_of_nodes_to_score: int | None = None
    plugins: Plugins
    plugin_args: dict[str, PluginArgs | RawArgs]
    always_check_all_predicates: bool = False
    """Whether a node shows the reasons of all filters; only a Policy can ask for it."""


class Configuration(_ConfigStruct, frozen=True, kw_only=True):
    """Everything the scheduler is told, complete and valid.

    `percentage_of_nodes_to_score` is kept as written (0 when absent), for the whole and for each
    profile; what 0 means is the engine's decision.
    """

    parallelism: int
    percentage_of_nodes_to_score: int
    pod_initial_backoff_seconds: int
    pod_max_backoff_seconds: int
    leader_election: LeaderElectionConfiguration
    client_connection: ClientConnectionConfiguration
    enable_profiling: bool
    enable_contention_profiling: bool
    delay_cache_until_active: bool
    profiles: tuple[ProfileConfiguration, ...]
    extenders: tuple[Extender, ...] = ()
    api_version: str = API_VERSION
    """The format it was read from, in which it is also written."""
    from_policy: bool = False
    """Whether it was a Policy, which is written in the terms of v1beta1."""
    spares_pods_with_requests: bool = False
    """Whether a node short of memory refuses only pods that ask for nothing, which is what a Policy
    means by CheckNodeMemoryPressure; simulations heed it."""
    notes: tuple[str, ...] = ()
    """What is understood, and has no effect here."""
    findings: tuple[ConfigFinding, ...] = ()
    """What was taken for something else than it says."""

    def profile(self, scheduler_name: str) -> ProfileConfiguration | None:
        """The profile that serves pods with this `spec.schedulerName`, if there is one."""
        return next((p for p in self.profiles if p.scheduler_name == scheduler_name), None)
