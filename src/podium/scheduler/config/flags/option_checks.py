"""The mistakes that options can have, in the order in which upstream finds them.

Contract: upstream collects them all and exits with one message; the order is that of its option
groups. Legacy options are where they stood in 1.22.

Sources: `cmd/kube-scheduler/app/options/options.go` (`Validate`), and the `Validate` of
`apiserver/pkg/server/options` and `component-base/metrics/api/v1`.

What may not be asked of the log. Contract: upstream's field errors, one after the other. They are
printed bare, because there is no log yet when they are found.

Source: `staging/src/k8s.io/component-base/logs/api/v1/options.go`.

What shows only when clients, locks and the elector are made. Flags are not validated once they are
laid over a configuration, so these come late, and in this order. Contract: the text of the first
failure, or "".

Sources: `staging/src/k8s.io/client-go/{kubernetes/clientset,rest/url_utils}.go` and
`tools/leaderelection` there.
"""

import ipaddress
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from podium.golang.quoting import go_quote
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.releases.release import Version
from podium.kubernetes.rules.quantity import value as quantity_value
from podium.scheduler.config.errors import (
    ConfigurationError,
    FieldProblem,
    forbidden,
    invalid,
    required,
)
from podium.scheduler.config.flags.client_settings import (
    ClientSettings,
    FileProblem,
    HostEnvironment,
)
from podium.scheduler.config.flags.options import (
    AuthenticationFlags,
    LegacyFlags,
    LogFlags,
    MetricsFlags,
    Options,
)
from podium.scheduler.config.types import ClientConnectionConfiguration, LeaderElectionConfiguration
from podium.scheduler.config.written import read_yaml_text

_LABEL: Final = "[a-zA-Z_][a-zA-Z0-9_]*"
_METRIC: Final = "[a-zA-Z_:][a-zA-Z0-9_:]*"
_LARGEST_PORT: Final = 65535


def option_problems(options: Options, gates: FeatureGates, host: HostEnvironment) -> list[str]:
    return [
        *_port_problems(options.secure_serving.secure_port),
        *_plain_http_problems(options.legacy),
        *_header_problems(options.authentication, gates),
        *map(str, _legacy_problems(options.legacy)),
        *map(str, _metrics_problems(options.metrics, host, gates.release.version)),
        *_reload_problems(options),
        *_timeout_problems(options),
    ]


def _timeout_problems(options: Options) -> Iterator[str]:
    if options.plugin_timeout.nanoseconds < 0:
        yield f"--plugin-timeout {options.plugin_timeout} must not be negative"


def _reload_problems(options: Options) -> Iterator[str]:
    if options.reload and not options.plugin:
        yield "--reload has nothing to look at; name the file of a plugin with --plugin"


def header_warnings(authentication: AuthenticationFlags) -> Iterator[str]:
    """Headers that the API server's aggregator would miss."""
    for flag, headers, standard, what in (
        ("username-headers", authentication.requestheader_username_headers, "X-Remote-User", ""),
        ("group-headers", authentication.requestheader_group_headers, "X-Remote-Group", ""),
        (
            "extra-headers-prefix",
            authentication.requestheader_extra_headers_prefix,
            "X-Remote-Extra-",
            " prefix",
        ),
    ):
        if headers and not _has(headers, standard):
            yield (
                f"--requestheader-{flag} is set without specifying the standard {standard} "
                f"header{what} - API aggregation will not work"
            )


def _port_problems(port: int) -> Iterator[str]:
    # upstream: says so although 0 is legal.
    if port > _LARGEST_PORT:
        yield (
            f"--secure-port {port} must be between 1 and 65535, inclusive. "
            "It cannot be turned off with 0"
        )
    elif port < 0:
        yield (
            f"--secure-port {port} must be between 0 and 65535, inclusive. "
            "0 for turning off secure port"
        )


def _plain_http_problems(legacy: LegacyFlags) -> Iterator[str]:
    if not 0 <= legacy.port <= _LARGEST_PORT:
        yield (
            f"--port {legacy.port} must be between 0 and 65535, inclusive. "
            "0 for turning off insecure (HTTP) port"
        )
    try:
        ipaddress.ip_address(legacy.address or "0.0.0.0")
    except ValueError:
        yield f"--address {legacy.address} is an invalid IP address"


def _header_problems(
    authentication: AuthenticationFlags, gates: Mapping[str, bool]
) -> Iterator[str]:
    for flag, listed in (
        ("requestheader-username-headers", authentication.requestheader_username_headers),
        ("requestheader-group-headers", authentication.requestheader_group_headers),
        ("requestheader-extra-headers-prefix", authentication.requestheader_extra_headers_prefix),
        ("requestheader-allowed-names", authentication.requestheader_allowed_names),
    ):
        yield from _blank_problems(flag, listed)
    headers = authentication.requestheader_uid_headers
    if not gates["RemoteRequestHeaderUID"]:
        if headers:
            yield (
                '--requestheader-uid-headers requires the "RemoteRequestHeaderUID" feature '
                "to be enabled"
            )
        return
    yield from _blank_problems("requestheader-uid-headers", headers)
    if headers and not _has(headers, "X-Remote-Uid"):
        yield (
            "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid "
            "header - API aggregation will not work"
        )


def _blank_problems(flag: str, listed: Sequence[str]) -> Iterator[str]:
    if any(not entry.strip() for entry in listed):
        yield f"empty value in {go_quote(flag)}"


def _legacy_problems(legacy: LegacyFlags) -> Iterator[FieldProblem]:
    if legacy.use_legacy_policy_config and not legacy.policy_config_file:
        yield required("policyConfigFile", "required when --use-legacy-policy-config is true")
    weight = legacy.hard_pod_affinity_symmetric_weight
    if not 0 <= weight <= 100:
        yield invalid("hardPodAffinitySymmetricWeight", weight, "not in valid range [0, 100]")


def _metrics_problems(
    metrics: MetricsFlags, host: HostEnvironment, own: Version
) -> Iterator[FieldProblem]:
    allowed = f"{own.before}"
    if metrics.show_hidden_metrics_for_version not in ("", allowed):
        yield invalid(
            "metrics.showHiddenMetricsForVersion",
            metrics.show_hidden_metrics_for_version,
            f"must be omitted or have the value '{allowed}'; only the previous minor version is "
            "allowed",
        )
    for name in metrics.disabled_metrics:
        if not re.fullmatch(_METRIC, name):
            yield invalid(
                "metrics.disabledMetrics",
                list(metrics.disabled_metrics),
                f'must be fully qualified metric names matching "^{_METRIC}$",'
                f" got {go_quote(name)}",
            )
            break
    yield from _mapping_problems(metrics.allow_metric_labels, "metrics.allowListMapping")
    if not metrics.allow_metric_labels_manifest:
        return
    yield from _manifest_problems(metrics.allow_metric_labels_manifest, host)
    if metrics.allow_metric_labels is not None:
        yield invalid(
            "metrics",
            _as_configuration(metrics),
            "cannot specify both allowListMapping and allowListMappingManifest",
        )


def _mapping_problems(mapping: Mapping[str, str] | None, at: str) -> Iterator[FieldProblem]:
    if any(not re.fullmatch(f"{_METRIC},{_LABEL}", key) for key in mapping or ()):
        yield invalid(
            at,
            _sort_mapping(mapping),
            "must have keys with format `metricName,labelName` where metricName matches "
            f'"{_METRIC}" and labelName matches "{_LABEL}"',
        )


def _manifest_problems(path: str, host: HostEnvironment) -> Iterator[FieldProblem]:
    at = "metrics.allowListMappingManifest"
    try:
        mapping = label_manifest(host.read(path))
    except FileProblem as problem:
        yield invalid(at, path, f"failed to read allow list manifest: {problem}")
        return
    except ConfigurationError as problem:
        yield invalid(at, path, f"failed to parse allow list manifest: {problem.message}")
        return
    wrong = list(_mapping_problems(mapping, at))
    if wrong:
        yield invalid(at, path, f"invalid allow list mapping in manifest: [{wrong[0]}]")


def label_manifest(data: bytes) -> Mapping[str, str]:
    """The map in a manifest. Raises ConfigurationError."""
    text = read_yaml_text(data)
    value = text.value
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        kind = "!!seq" if isinstance(value, list) else f"!!str `{str(value)[:7]}`"
        raise _unmarshal_error(1, kind, "map[string]string")
    for key, inner in value.items():
        if isinstance(inner, Mapping | list):
            line = text.lines.get((id(value), key), 1)
            raise _unmarshal_error(
                line, "!!map" if isinstance(inner, Mapping) else "!!seq", "string"
            )
    return {key: "" if inner is None else str(inner) for key, inner in value.items()}


def _unmarshal_error(line: int, kind: str, wanted: str) -> ConfigurationError:
    return ConfigurationError(
        f"yaml: unmarshal errors:\n  line {line}: cannot unmarshal {kind} into {wanted}"
    )


def _sort_mapping(mapping: Mapping[str, str] | None) -> dict[str, str]:
    """A map in the order in which Go writes it."""
    return dict(sorted((mapping or {}).items()))


def _as_configuration(metrics: MetricsFlags) -> dict[str, Any]:
    fields = {
        "showHiddenMetricsForVersion": metrics.show_hidden_metrics_for_version,
        "disabledMetrics": list(metrics.disabled_metrics),
        "allowListMapping": _sort_mapping(metrics.allow_metric_labels),
        "allowListMappingManifest": metrics.allow_metric_labels_manifest,
    }
    return {name: value for name, value in fields.items() if value}


def _has(headers: Sequence[str], standard: str) -> bool:
    return any(header.casefold() == standard.casefold() for header in headers)


TEXT: Final = "text"
JSON: Final = "json"
_JSON_GATE: Final = "LoggingBetaOptions"
_GATE: Final = "LoggingAlphaOptions"


def logging_problems(logs: LogFlags, gates: Mapping[str, bool]) -> list[FieldProblem]:
    return list(_problems(logs, gates))


def _problems(logs: LogFlags, gates: Mapping[str, bool]) -> Iterator[FieldProblem]:
    frequency = logs.log_flush_frequency
    if frequency.nanoseconds <= 0:
        yield invalid("flushFrequency", str(frequency), "Must be greater than zero")
    if logs.logging_format not in (TEXT, JSON):
        yield invalid("format", logs.logging_format, "Unsupported log format")
    elif logs.logging_format == JSON and not gates[_JSON_GATE]:
        yield forbidden("format", f"Log format {JSON} is disabled, see {_JSON_GATE} feature")
    if logs.vmodule and logs.logging_format not in (TEXT, ""):
        yield forbidden("vmodule", "Only supported for text log format")
    if gates[_GATE]:
        return
    for form, split_stream, buffer_size in (
        (TEXT, logs.log_text_split_stream, logs.log_text_info_buffer_size),
        (JSON, logs.log_json_split_stream, logs.log_json_info_buffer_size),
    ):
        if split_stream:
            yield forbidden(f"options.{form}.splitStream", f"Feature {_GATE} is disabled")
        if quantity_value(buffer_size):
            yield forbidden(f"options.{form}.infoBufferSize", f"Feature {_GATE} is disabled")


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
        return f"parse {go_quote(assumed)}: {problem}"
    if url[2] not in ("", "/"):
        return f"host must be a URL or a host:port pair: {go_quote(server)}"
    return ""


def _authority_problem(authority: str) -> str:
    host = authority.rpartition("@")[2]
    strange = _HOST_CHARACTERS.match(host)
    if strange is not None and strange.end() < len(host):
        return f"invalid character {go_quote(host[strange.end()])} in host name"
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            return "missing ']' in host"
        port = host[end + 1 :]
    else:
        port = host[host.rindex(":") :] if ":" in host else ""
    if port and not re.fullmatch(r":[0-9]*", port):
        return f"invalid port {go_quote(port)} after host"
    return ""
