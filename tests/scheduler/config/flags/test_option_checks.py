"""Mistakes that options have by themselves."""

import pytest
from support.scheduler.config.fake_host_environment import FakeHostEnvironment

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.flags.option_checks import (
    header_warnings,
    logging_problems,
    option_problems,
)
from podium.scheduler.config.flags.options import Options, options_of
from podium.scheduler.config.flags.parser import parse_flags

METRIC = '"[a-zA-Z_:][a-zA-Z0-9_:]*"'
LABEL = '"[a-zA-Z_][a-zA-Z0-9_]*"'
FORM = (
    "must have keys with format `metricName,labelName` where metricName matches "
    f"{METRIC} and labelName matches {LABEL}"
)
FILES = {
    "good.yaml": "metric,label: a,b\n",
    "bad.yaml": "metric: a\n",
    "deep.yaml": "a: 1\nmetric,label:\n  b: c\n",
    "text.yaml": "metric",
}


def options(*arguments: str) -> Options:
    return options_of(parse_flags(arguments))


def problems(*arguments: str, gates: FeatureGates | None = None) -> list[str]:
    return option_problems(options(*arguments), gates or FeatureGates(), FakeHostEnvironment(FILES))


def test_the_defaults_are_right() -> None:
    assert problems() == []
    assert list(header_warnings(options().authentication)) == []
    assert logging_problems(options().logs, FeatureGates()) == []


def test_there_must_be_a_plugin_to_load_anew() -> None:
    assert problems("--reload", "--plugin=mine.py") == []
    (told,) = problems("--reload")
    assert "--plugin" in told


@pytest.mark.parametrize(
    ("argument", "text"),
    [
        (
            "--secure-port=70000",
            "--secure-port 70000 must be between 1 and 65535, inclusive. "
            "It cannot be turned off with 0",
        ),
        (
            "--secure-port=-1",
            "--secure-port -1 must be between 0 and 65535, inclusive. "
            "0 for turning off secure port",
        ),
        (
            "--port=-1",
            "--port -1 must be between 0 and 65535, inclusive. "
            "0 for turning off insecure (HTTP) port",
        ),
        ("--address=x", "--address x is an invalid IP address"),
        ("--requestheader-allowed-names=a, ", 'empty value in "requestheader-allowed-names"'),
        (
            "--requestheader-uid-headers=uid",
            "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid "
            "header - API aggregation will not work",
        ),
        (
            "--use-legacy-policy-config",
            "policyConfigFile: Required value: required when --use-legacy-policy-config is true",
        ),
        (
            "--hard-pod-affinity-symmetric-weight=101",
            "hardPodAffinitySymmetricWeight: Invalid value: 101: not in valid range [0, 100]",
        ),
        (
            "--show-hidden-metrics-for-version=1.34",
            'metrics.showHiddenMetricsForVersion: Invalid value: "1.34": must be omitted or have '
            "the value '1.35'; only the previous minor version is allowed",
        ),
        (
            "--disabled-metrics=good,a<b",
            'metrics.disabledMetrics: Invalid value: ["good","a\\u003cb"]: must be fully qualified '
            'metric names matching "^[a-zA-Z_:][a-zA-Z0-9_:]*$", got "a<b"',
        ),
        (
            "--allow-metric-labels=metric=v",
            f'metrics.allowListMapping: Invalid value: {{"metric":"v"}}: {FORM}',
        ),
        (
            "--allow-metric-labels-manifest=missing.yaml",
            'metrics.allowListMappingManifest: Invalid value: "missing.yaml": failed to read allow '
            "list manifest: open missing.yaml: no such file or directory",
        ),
        (
            "--allow-metric-labels-manifest=deep.yaml",
            'metrics.allowListMappingManifest: Invalid value: "deep.yaml": failed to parse allow '
            "list manifest: yaml: unmarshal errors:\n  line 3: cannot unmarshal !!map into string",
        ),
        (
            "--allow-metric-labels-manifest=text.yaml",
            'metrics.allowListMappingManifest: Invalid value: "text.yaml": failed to parse allow '
            "list manifest: yaml: unmarshal errors:\n"
            "  line 1: cannot unmarshal !!str `metric` into map[string]string",
        ),
        (
            "--allow-metric-labels-manifest=bad.yaml",
            'metrics.allowListMappingManifest: Invalid value: "bad.yaml": invalid allow list '
            "mapping in manifest: [metrics.allowListMappingManifest: Invalid value: "
            f'{{"metric":"a"}}: {FORM}]',
        ),
    ],
)
def test_a_mistake_is_told_in_upstreams_words(argument: str, text: str) -> None:
    assert problems(argument) == [text]


def test_all_mistakes_are_told_in_the_order_of_the_option_groups() -> None:
    found = problems(
        "--show-hidden-metrics-for-version=1.2",
        "--use-legacy-policy-config",
        "--requestheader-username-headers=",
        "--requestheader-group-headers=,",
        "--secure-port=70000",
    )
    starts = ["--secure-port", "empty value", "policyConfigFile", "metrics."]
    assert [text.startswith(start) for text, start in zip(found, starts, strict=True)] == [True] * 4


def test_labels_come_from_a_flag_or_a_manifest() -> None:
    manifest = "--allow-metric-labels-manifest=good.yaml"
    assert problems(manifest) == []
    assert problems(manifest, "--allow-metric-labels=m,l=v") == [
        'metrics: Invalid value: {"allowListMapping":{"m,l":"v"},"allowListMappingManifest":'
        '"good.yaml"}: cannot specify both allowListMapping and allowListMappingManifest'
    ]


def test_a_gate_decides_whether_there_are_headers_for_uids() -> None:
    off = FeatureGates({"RemoteRequestHeaderUID": False})
    assert problems("--requestheader-uid-headers=X-Remote-UID") == []
    assert problems("--requestheader-uid-headers=X-Remote-UID", gates=off) == [
        '--requestheader-uid-headers requires the "RemoteRequestHeaderUID" feature to be enabled'
    ]


def test_headers_that_the_aggregator_misses_are_warned_about() -> None:
    found = header_warnings(
        options(
            "--requestheader-username-headers=user",
            "--requestheader-group-headers=X-REMOTE-GROUP",
            "--requestheader-extra-headers-prefix=x-",
        ).authentication
    )
    assert list(found) == [
        "--requestheader-username-headers is set without specifying the standard X-Remote-User "
        "header - API aggregation will not work",
        "--requestheader-extra-headers-prefix is set without specifying the standard "
        "X-Remote-Extra- header prefix - API aggregation will not work",
    ]


@pytest.mark.parametrize(
    ("argument", "text"),
    [
        ("--logging-format=xml", 'format: Invalid value: "xml": Unsupported log format'),
        ("--logging-format=", 'format: Invalid value: "": Unsupported log format'),
        (
            "--log-flush-frequency=-1s",
            'flushFrequency: Invalid value: "-1s": Must be greater than zero',
        ),
        (
            "--log-json-split-stream",
            "options.json.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled",
        ),
        (
            "--log-text-info-buffer-size=1Ki",
            "options.text.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled",
        ),
    ],
)
def test_what_the_log_cannot_do_is_refused(argument: str, text: str) -> None:
    assert [
        str(problem) for problem in logging_problems(options(argument).logs, FeatureGates())
    ] == [text]


def test_alpha_options_of_the_log_need_their_gate() -> None:
    gates = FeatureGates({"LoggingAlphaOptions": True})
    logs = options("--log-json-split-stream", "--log-text-info-buffer-size=1Ki").logs
    assert logging_problems(logs, gates) == []


def test_json_has_a_gate_too() -> None:
    gates = FeatureGates({"LoggingBetaOptions": False})
    (problem,) = logging_problems(options("--logging-format=json").logs, gates)
    assert str(problem) == (
        "format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature"
    )


def test_files_are_told_apart_in_text_only() -> None:
    logs = options("--logging-format=json", "--vmodule=a=1").logs
    (problem,) = logging_problems(logs, FeatureGates())
    assert str(problem) == "vmodule: Forbidden: Only supported for text log format"
