"""Traces are exported where the environment says so, and cost nothing where it does not."""

import builtins
import subprocess
import sys
from typing import Any

import pytest

from podium.commands.processes.kube_log import KubeLog
from podium.commands.processes.trace_export import exported_traces, wanted_endpoint
from podium.testing import FakeCluster

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
URL = "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({}, ""),
        ({ENDPOINT: ""}, ""),
        ({ENDPOINT: URL}, ENDPOINT),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": URL}, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
        ({ENDPOINT: URL, "OTEL_SDK_DISABLED": "true"}, ""),
        ({ENDPOINT: URL, "OTEL_TRACES_EXPORTER": "none"}, ""),
    ],
)
def test_the_environment_says_where_traces_go(environment: dict[str, str], found: str) -> None:
    assert wanted_endpoint(environment) == found


def test_without_an_endpoint_nobody_observes() -> None:
    engine = FakeCluster().engine
    with exported_traces(engine, {}, KubeLog()):
        assert engine.observers.heard == set()


def test_with_an_endpoint_attempts_are_observed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENDPOINT, URL)
    engine = FakeCluster().engine
    with exported_traces(engine, {ENDPOINT: URL}, KubeLog()):
        assert "pod_decided" in engine.observers.heard
    assert f'"Exporting traces" endpoint="{URL}"' in capsys.readouterr().err


def test_a_missing_extra_is_told_and_stops_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = builtins.__import__

    def refuse(name: str, *args: Any, **named: Any) -> Any:
        if name.startswith("opentelemetry"):
            raise ImportError(name)
        return imported(name, *args, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    engine = FakeCluster().engine
    with exported_traces(engine, {ENDPOINT: URL}, KubeLog()):
        assert engine.observers.heard == set()
    assert "podium[otel]" in capsys.readouterr().err


def test_a_scheduler_without_traces_does_not_import_opentelemetry() -> None:
    code = (
        "import sys, podium.commands.processes.run_scheduler;"
        "import podium.commands.processes.whole_cluster;"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
