"""Every document that a command prints says its version and kind, and is as its schema says."""

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from cyclopts import App
from support.commands.command_line import EXAMPLE, EXAMPLES, ROOT, podium
from support.commands.document_schemas import require_valid
from support.recorded_cases import PARITY
from support.scheduler.explain.pending_corpus import PENDING, PendingPod, cluster_manifests
from support.scheduler.explain.pending_input import write_list
from support.suite.slow_cases import few_of

from podium.commands.app import build_app
from podium.net.files.versioned_documents import API_VERSION

FIRST_STEPS = ("-f", str(EXAMPLES / "cluster.yaml"), "-f", str(EXAMPLES / "first-steps.yaml"))
WAITING = ("-f", str(EXAMPLES / "cluster.yaml"), "-f", str(EXAMPLES / "waiting.yaml"))
SCHEDULER = str(EXAMPLES / "scheduler.yaml")
RECORDED = str(PARITY / "schedulinggates.jsonl.gz")
TINY = ("--nodes", "3", "--pods", "2", "--repeat", "1")
LOAD = (
    *("--pods", "20", "--connections", "2", "--watchers", "3", "--events-per-s", "50"),
    *("--seconds", "1", "--objects", "30", "--repeat", "1"),
)
LIVE = ("--nodes", "3", "--init", "2", "--pods", "6", "--connections", "2", "--runs", "1")
SAME_AGAIN = f"{sys.executable} -m podium run --config {{config}} --secure-port=0"

WHAT_IF = {path.stem: str(path) for path in (EXAMPLES / "what-if").glob("*.yaml")}
SHOP = ("-f", WHAT_IF["shop"])
COMPARED = (
    *("--config", "default", "--config", WHAT_IF["packing"]),
    *(*SHOP, "-f", WHAT_IF["render"]),
)
EVENING = str(EXAMPLES / "traces" / "evening.podium")
STUDY_FILES = EXAMPLES / "study"
STUDY = (
    *("--nodes", str(STUDY_FILES / "nodes.csv"), "--pods", str(STUDY_FILES / "mixed.csv")),
    *("--policy", "FGD", "--policy", "BestFit", "--seeds", "1,2", "--device", "numpy"),
)

Printed = tuple[str, tuple[str, ...]]

# The command, what it prints, and how it is asked. Several lines where there are several forms.
QUICK: dict[str, list[Printed]] = {
    "simulate": [
        ("Simulation", (*EXAMPLE, "-o", "json")),
        ("Simulation", (*EXAMPLE, "--timeline", "-o", "json")),
        ("Simulation", (*FIRST_STEPS, "--timeline", "-o", "yaml")),
        ("Simulation", (*WAITING, "-o", "yaml")),
    ],
    "explain": [
        ("Explanation", ("web-0", *EXAMPLE, "-o", "json")),
        ("Explanation", ("render", *EXAMPLE, "-o", "yaml")),
        ("Explanation", ("gpu-trainer", *EXAMPLE, "--node", "gpu-a1", "-o", "json")),
        ("Explanation", ("cache-0", *EXAMPLE, "-o", "json")),
    ],
    "why": [
        ("Proposals", ("gpu-trainer", *EXAMPLE, "-o", "json")),
        ("Proposals", ("archive", *WAITING, "--alone", "-o", "yaml")),
        ("Proposals", ("web-0", *EXAMPLE, "-o", "json")),
        ("PendingPods", (*EXAMPLE, "-o", "json")),
    ],
    "pending": [
        ("PendingPods", (*WAITING, "-o", "json")),
        ("PendingPods", (*EXAMPLE, "-o", "yaml")),
    ],
    "story": [
        ("Story", ("render", *EXAMPLE, "-o", "json")),
        ("Story", ("sweep-2", *EXAMPLE, "-o", "yaml")),
        ("Story", ("gpu-trainer", *EXAMPLE, "-o", "json")),
    ],
    "dump-command": [("DumpCommand", ("-o", "json"))],
    "config check": [
        ("ConfigurationCheck", (SCHEDULER, "-o", "json")),
        ("ConfigurationCheck", (str(EXAMPLES / "pods.yaml"), "-o", "json")),
        ("ConfigurationCheckList", (SCHEDULER, str(EXAMPLES / "policy.json"), "-o", "json")),
    ],
    "config points": [
        ("ExtensionPointsList", ("-o", "json")),
        ("ExtensionPointsList", ("-o", "json", "--feature-gates", "GenericWorkload=true")),
    ],
    "gpu show": [
        ("GPUOverview", ("-f", str(EXAMPLES / "gpu" / "hami-cluster.yaml"), "-o", "json")),
    ],
    "gpu defrag": [
        ("GPUDefragmentation", ("-f", str(EXAMPLES / "gpu" / "hami-cluster.yaml"), "-o", "yaml")),
    ],
    "capacity": [
        ("Capacity", (*SHOP, "-f", WHAT_IF["api"], "-o", "json")),
        ("Capacity", (*SHOP, "-f", WHAT_IF["api"], "-f", WHAT_IF["checkout"], "-o", "yaml")),
    ],
    "what-if": [
        ("WhatIf", (*SHOP, "--drain", "worker-1", "-o", "json")),
        ("WhatIf", (*SHOP, "--each-node", "-o", "yaml")),
    ],
    "optimum": [
        ("Optimum", ("-f", WHAT_IF["nightly"], "-o", "json")),
        ("Optimum", ("-f", WHAT_IF["nightly"], "--objective", "cost", "-o", "yaml")),
    ],
    "rebalance": [
        ("Rebalance", (*SHOP, "--free-nodes", "1", "-o", "json")),
        ("Rebalance", (*SHOP, "-f", WHAT_IF["render"], "--fit-pending", "-o", "yaml")),
    ],
    "compare": [
        ("Comparison", (*COMPARED, "-o", "json")),
        ("Comparison", (*COMPARED, "--seeds", "2", "-o", "yaml")),
        ("Comparison", ("--trace", EVENING, "--config", "default", "-o", "json")),
    ],
    "replay": [
        ("ReplayCheck", (EVENING, "-o", "json")),
        ("Replay", (EVENING, "--config", WHAT_IF["packing"], "-o", "yaml")),
    ],
    "sweep": [
        ("Sweep", (*COMPARED, "--jobs", "1", "-o", "json")),
        ("Sweep", (*SHOP, "--workload", WHAT_IF["render"], "--jobs", "1", "-o", "yaml")),
    ],
    "scenario run": [
        (
            "ScenarioRun",
            ("zone-outage", "--until", "30m", "--scale", "0.3", "--pods", "-o", "json"),
        ),
        ("ScenarioRun", ("gpu-shapes", "--until", "20m", "-o", "yaml")),
    ],
    "scenario compare": [
        (
            "ScenarioComparison",
            (
                *("gpu-shapes", "--config", "default", "--config", WHAT_IF["packing"]),
                *("--until", "10m", "--seeds", "2", "-o", "json"),
            ),
        ),
    ],
    "scenario list": [("ScenarioSummaryList", ("-o", "json"))],
    "study gpu-packing": [
        ("GPUPackingStudy", (*STUDY, "--bound", "-o", "json")),
        ("GPUPackingStudy", (*STUDY, "--demand", "60", "-o", "yaml")),
    ],
    "plugin list": [
        ("PluginList", ("-o", "json")),
        ("PluginList", ("--plugin", str(EXAMPLES / "plugins" / "zone_price.py"), "-o", "json")),
    ],
    "plugin test": [
        ("PluginTest", (str(EXAMPLES / "plugins" / "zone_price.py"), "-o", "json")),
        ("PluginTest", (str(EXAMPLES / "plugins" / "rack_temperature.py"), *EXAMPLE, "-o", "json")),
    ],
    "parity": [
        ("AgreementList", (RECORDED, "-o", "json")),
        ("AgreementList", (RECORDED, "-o", "yaml")),
    ],
}
SLOW: dict[str, list[Printed]] = {
    "bench engine": [
        ("EngineBenchmarkList", ("--json", "--workload", "basic", "--profile", *TINY)),
    ],
    "bench apiserver": [("ApiserverBenchmarkList", ("--json", *LOAD))],
    "bench extender": [("ExtenderBenchmarkList", ("--json", *TINY))],
    "bench live": [("LiveBenchmark", ("--output", "json", *LIVE, "--scheduler", SAME_AGAIN))],
}


def commands(app: App, *names: str) -> Iterator[tuple[str, App]]:
    """Every command by its words, subcommands as well."""
    for name in app:
        if not name.startswith("-"):
            found = app[name]
            inner = list(commands(found, *names, name))
            yield from inner or [(" ".join((*names, name)), found)]


def prints_documents(command: App) -> bool:
    """Whether one of its options asks for JSON or YAML."""
    return any(
        "--json" in argument.names or "json" in (argument.get_choices(force=True) or ())
        for argument in command.assemble_argument_collection()
    )


def decoded(text: str, arguments: tuple[str, ...]) -> Any:
    return yaml.safe_load(text) if "yaml" in arguments else json.loads(text)


def cases(table: dict[str, list[Printed]]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(name, kind, words) for name, asked in table.items() for kind, words in asked]


def test_every_command_that_prints_documents_is_checked_here() -> None:
    found = {name for name, command in commands(build_app()) if prints_documents(command)}
    assert found == {*QUICK, *SLOW}


def test_every_document_that_a_command_prints_has_a_schema_that_is_generated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(ROOT / "tools")
    generated = importlib.import_module("document_schemas").write_schemas()
    printed = {kind for _, kind, _ in (*cases(QUICK), *cases(SLOW))}
    assert {f"{kind}.json" for kind in printed} <= generated.keys()


@pytest.mark.parametrize(("command", "kind", "arguments"), cases(QUICK))
def test_a_document_says_what_it_is_and_keeps_its_schema(
    command: str, kind: str, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    done = podium(capsys, *command.split(), *arguments)
    assert done.code in (0, 1)
    document = decoded(done.out, arguments)
    assert (document["apiVersion"], document["kind"]) == (API_VERSION, kind)
    require_valid(document)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "kind", "arguments"), cases(SLOW))
def test_a_measurement_says_what_it_is_and_keeps_its_schema(
    command: str, kind: str, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    test_a_document_says_what_it_is_and_keeps_its_schema(command, kind, arguments, capsys)


def test_a_single_workload_and_a_comparison_keep_their_schema(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workload, earlier = tmp_path / "workload.json", tmp_path / "earlier.json"
    workload.write_text('{"nodes": [{"metadata": {"name": "n1"}}], "pods": []}')
    asked = ("bench", "--file", str(workload), "--json", "--repeat", "1")
    earlier.write_text(podium(capsys, *asked).out)
    document = podium(capsys, *asked, "--compare", str(earlier)).decoded()
    assert document["kind"] == "EngineBenchmark"
    assert "compared" in document
    require_valid(document)


# --- the corpus of pending pods -------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_list(tmp_path_factory.mktemp("corpus") / "cluster.json", cluster_manifests())


Ask = Callable[[PendingPod, str], Any]


@pytest.fixture
def ask(cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    def ask_about(entry: PendingPod, command: str) -> Any:
        """The document, which `decoded` checks against its schema."""
        words = [command, entry.key, "-f", cluster]
        words += ["-f", write_list(tmp_path / "pods.json", [*entry.extra, entry.pod])]
        if entry.plugin:
            plugin = tmp_path / f"plugin_{entry.name.replace('-', '_')}_{command}.py"
            plugin.write_text(entry.plugin)
            words += ["--plugin", str(plugin)]
        if entry.config:
            (tmp_path / "scheduler.yaml").write_text(entry.config)
            words += ["--config", str(tmp_path / "scheduler.yaml")]
        if entry.gates:
            words += ["--feature-gates", entry.gates]
        return podium(capsys, *words, "-o", "json").decoded()

    return ask_about


# `tests/scheduler/explain/test_pending_corpus.py` checks the documents of `explain`, for all of
# them.
@pytest.mark.parametrize("entry", few_of(PENDING, 6), ids=lambda entry: entry.name)
def test_documents_about_pending_pods_keep_their_schemas(entry: PendingPod, ask: Ask) -> None:
    for command in ("story", "why"):
        ask(entry, command)


def test_a_simulation_of_many_pending_pods_keeps_its_schema(
    cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = [each for entry in PENDING if entry.is_plain for each in (*entry.extra, entry.pod)]
    pods = write_list(tmp_path / "pods.json", items)
    podium(capsys, "simulate", "-f", cluster, "-f", pods, "-o", "json").decoded()
