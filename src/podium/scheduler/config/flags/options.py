"""The command line as typed values, section by section.

Nothing behind this looks a flag up by its name. A field carries its flag's name in
snake case. `given` keeps which flags were on the command line, since a flag that was given wins
over a configuration file even with its default value.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from podium.golang.durations import Duration
from podium.scheduler.config.flags.kinds import CertificatePair, FileVerbosity
from podium.scheduler.config.flags.parser import ParsedFlags

SectionT = TypeVar("SectionT")


@dataclass(frozen=True, slots=True)
class SecureServingFlags:
    bind_address: str
    cert_dir: str
    disable_http2_serving: bool
    http2_max_streams_per_connection: int
    permit_address_sharing: bool
    permit_port_sharing: bool
    secure_port: int
    tls_cert_file: str
    tls_cipher_suites: tuple[str, ...]
    tls_curve_preferences: tuple[int, ...]
    tls_min_version: str
    tls_private_key_file: str
    tls_sni_cert_key: tuple[CertificatePair, ...]


@dataclass(frozen=True, slots=True)
class AuthenticationFlags:
    authentication_kubeconfig: str
    authentication_skip_lookup: bool
    authentication_token_webhook_cache_ttl: Duration
    authentication_tolerate_lookup_failure: bool
    client_ca_file: str
    requestheader_allowed_names: tuple[str, ...]
    requestheader_client_ca_file: str
    requestheader_extra_headers_prefix: tuple[str, ...]
    requestheader_group_headers: tuple[str, ...]
    requestheader_uid_headers: tuple[str, ...]
    requestheader_username_headers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AuthorizationFlags:
    authorization_always_allow_paths: tuple[str, ...]
    authorization_kubeconfig: str
    authorization_webhook_cache_authorized_ttl: Duration
    authorization_webhook_cache_unauthorized_ttl: Duration


@dataclass(frozen=True, slots=True)
class DeprecatedFlags:
    contention_profiling: bool
    kube_api_burst: int
    kube_api_content_type: str
    kube_api_qps: float
    kubeconfig: str
    pod_max_in_unschedulable_pods_duration: Duration
    profiling: bool


@dataclass(frozen=True, slots=True)
class LeaderElectionFlags:
    leader_elect: bool
    leader_elect_lease_duration: Duration
    leader_elect_renew_deadline: Duration
    leader_elect_resource_lock: str
    leader_elect_resource_name: str
    leader_elect_resource_namespace: str
    leader_elect_retry_period: Duration


@dataclass(frozen=True, slots=True)
class VersionFlags:
    emulated_version: tuple[str, ...]
    feature_gates: Mapping[str, tuple[str, ...]]
    min_compatibility_version: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MetricsFlags:
    allow_metric_labels: Mapping[str, str] | None
    allow_metric_labels_manifest: str
    disabled_metrics: tuple[str, ...]
    show_hidden_metrics_for_version: str


@dataclass(frozen=True, slots=True)
class LogFlags:
    log_flush_frequency: Duration
    log_json_info_buffer_size: str
    log_json_split_stream: bool
    log_text_info_buffer_size: str
    log_text_split_stream: bool
    logging_format: str
    v: int
    vmodule: tuple[FileVerbosity, ...]


@dataclass(frozen=True, slots=True)
class LegacyFlags:
    """What is left to honour of the flags that 1.36 has dropped."""

    address: str
    algorithm_provider: str
    hard_pod_affinity_symmetric_weight: int
    lock_object_name: str
    lock_object_namespace: str
    policy_config_file: str
    policy_configmap: str
    policy_configmap_namespace: str
    port: int
    scheduler_name: str
    use_legacy_policy_config: bool


@dataclass(frozen=True, slots=True)
class Options:
    config: str
    master: str
    write_config_to: str
    help: bool
    version: str
    secure_serving: SecureServingFlags
    authentication: AuthenticationFlags
    authorization: AuthorizationFlags
    deprecated: DeprecatedFlags
    leader_election: LeaderElectionFlags
    versions: VersionFlags
    metrics: MetricsFlags
    logs: LogFlags
    legacy: LegacyFlags
    plugin: tuple[str, ...]
    plugin_timeout: Duration
    reload: bool
    run_all_filters: bool
    ui: bool
    strict: bool
    given: frozenset[str]
    positional: tuple[str, ...]


def options_of(parsed: ParsedFlags) -> Options:
    values = parsed.values
    return Options(
        config=values["config"],
        master=values["master"],
        write_config_to=values["write-config-to"],
        help=values["help"],
        version=values["version"],
        secure_serving=_section(SecureServingFlags, values),
        authentication=_section(AuthenticationFlags, values),
        authorization=_section(AuthorizationFlags, values),
        deprecated=_section(DeprecatedFlags, values),
        leader_election=_section(LeaderElectionFlags, values),
        versions=_section(VersionFlags, values),
        metrics=_section(MetricsFlags, values),
        logs=_section(LogFlags, values),
        legacy=_section(LegacyFlags, values),
        plugin=tuple(values["plugin"]),
        plugin_timeout=values["plugin-timeout"],
        reload=values["reload"],
        run_all_filters=values["run-all-filters"],
        ui=values["ui"],
        strict=values["strict"],
        given=frozenset(parsed.given),
        positional=parsed.positional,
    )


def _section(shape: type[SectionT], values: Mapping[str, Any]) -> SectionT:
    names = [field.name for field in dataclasses.fields(shape)]  # type: ignore[arg-type]
    return shape(**{name: values[name.replace("_", "-")] for name in names})
