"""The mistakes that options can have by themselves, before any file but a manifest is opened.

Contract: upstream collects them all and exits with one message; the order is that of its option
groups. Legacy options stand where they stood in 1.22.

Sources: `cmd/kube-scheduler/app/options/options.go` (`Validate`), and the `Validate` of
`apiserver/pkg/server/options` and `component-base/metrics/api/v1`.
"""

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from podium.golang.quoting import quoted
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.releases.version import Version
from podium.scheduler.config.errors import ConfigurationError, FieldProblem, invalid, required
from podium.scheduler.config.flags.host_environment import FileProblem, HostEnvironment
from podium.scheduler.config.flags.options import Authentication, Legacy, Metrics, Options
from podium.scheduler.config.yaml_text import read_yaml_text

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


def header_warnings(authentication: Authentication) -> Iterator[str]:
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


def _plain_http_problems(legacy: Legacy) -> Iterator[str]:
    if not 0 <= legacy.port <= _LARGEST_PORT:
        yield (
            f"--port {legacy.port} must be between 0 and 65535, inclusive. "
            "0 for turning off insecure (HTTP) port"
        )
    try:
        ipaddress.ip_address(legacy.address or "0.0.0.0")
    except ValueError:
        yield f"--address {legacy.address} is an invalid IP address"


def _header_problems(authentication: Authentication, gates: Mapping[str, bool]) -> Iterator[str]:
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
        yield f"empty value in {quoted(flag)}"


def _legacy_problems(legacy: Legacy) -> Iterator[FieldProblem]:
    if legacy.use_legacy_policy_config and not legacy.policy_config_file:
        yield required("policyConfigFile", "required when --use-legacy-policy-config is true")
    weight = legacy.hard_pod_affinity_symmetric_weight
    if not 0 <= weight <= 100:
        yield invalid("hardPodAffinitySymmetricWeight", weight, "not in valid range [0, 100]")


def _metrics_problems(
    metrics: Metrics, host: HostEnvironment, own: Version
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
                f'must be fully qualified metric names matching "^{_METRIC}$", got {quoted(name)}',
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
            _sorted(mapping),
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


def _sorted(mapping: Mapping[str, str] | None) -> dict[str, str]:
    """A map in the order in which Go writes it."""
    return dict(sorted((mapping or {}).items()))


def _as_configuration(metrics: Metrics) -> dict[str, Any]:
    fields = {
        "showHiddenMetricsForVersion": metrics.show_hidden_metrics_for_version,
        "disabledMetrics": list(metrics.disabled_metrics),
        "allowListMapping": _sorted(metrics.allow_metric_labels),
        "allowListMappingManifest": metrics.allow_metric_labels_manifest,
    }
    return {name: value for name, value in fields.items() if value}


def _has(headers: Sequence[str], standard: str) -> bool:
    return any(header.casefold() == standard.casefold() for header in headers)
