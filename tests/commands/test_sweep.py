"""`podium sweep`, and how `podium compare` shares out its runs, as a user calls them."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.commands.command_line import EXAMPLES, node, pod, podium, writer
from support.suite.late_imports import LateImport

from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.what_if.measured_runs import RunOutcome
from podium.offline.what_if.run_matrix import MatrixRunner, RunPosition
from podium.offline.what_if.scenario_runs import name_scenario

distributed = LateImport("distributed")
parquet = LateImport("pyarrow.parquet")
WHAT_IF = EXAMPLES / "what-if"
SHOP, RENDER, API, PACKING = (
    str(WHAT_IF / f"{name}.yaml") for name in ("shop", "render", "api", "packing")
)
TWO = ("--config", "default", "--config", PACKING)
NIGHT = (*TWO, "-f", SHOP, "-f", RENDER)
MATRIX = (*TWO, "-f", SHOP, "--workload", RENDER, "--workload", API)
ONE_JOB = ("--jobs", "1")
DASK = ("--dask", "")


@pytest.fixture(scope="module")
def dask() -> Iterator[str]:
    """A scheduler and two workers within this process."""
    settings: dict[str, Any] = {"dashboard_address": "127.0.0.1:0", "threads_per_worker": 1}
    with distributed.LocalCluster(n_workers=2, processes=False, **settings) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[RunPosition]:
    """Every run that is made in this process."""
    found: list[RunPosition] = []
    really = MatrixRunner.__call__

    def run(self: MatrixRunner, position: RunPosition) -> RunOutcome:
        found.append(position)
        return really(self, position)

    monkeypatch.setattr(MatrixRunner, "__call__", run)
    return found


def table(directory: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = parquet.read_table(directory / f"{name}.parquet").to_pylist()
    return rows


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


@pytest.mark.parametrize(
    ("command", "places"),
    [
        (("compare", *NIGHT), [ONE_JOB, DASK]),
        (("sweep", *MATRIX), [ONE_JOB, ("--jobs", "2"), DASK]),
    ],
    ids=["compare", "sweep"],
)
def test_one_core_two_processes_and_dask_give_the_same_bytes(
    command: tuple[str, ...],
    places: list[tuple[str, str]],
    dask: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plugin = str(EXAMPLES / "plugins" / "pod_density.py")
    printed, written = [], []
    for number, (option, value) in enumerate(places):
        out = tmp_path / str(number)
        place = (option, value or dask)
        asked = (*command, "--plugin", plugin, "--seeds", "2", "-o", "json", *place)
        done = podium(capsys, *asked, "--parquet", str(out), "--csv", str(out))
        assert done.code == 0, done.err
        printed.append(done)
        written.append(contents(out))
    assert printed == printed[:1] * len(places)
    assert written == written[:1] * len(places)
    assert [*written[0]] == ["pods.csv", "pods.parquet", "runs.csv", "runs.parquet"]


def test_every_combination_is_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], made: list[RunPosition]
) -> None:
    inputs_of = ("--cluster", SHOP, "--workload", RENDER, "--workload", API)
    asked = ("sweep", *TWO, *inputs_of, "--seeds", "3", "--seed", "5", *ONE_JOB, "-o", "json")
    document = podium(capsys, *asked, "--parquet", str(tmp_path)).decoded()

    inputs = [f"{SHOP} + {RENDER}", f"{SHOP} + {API}"]
    assert [each["name"] for each in document["inputs"]] == inputs
    expected = [
        (given, config, seed)
        for given in inputs
        for seed in (5, 6, 7)
        for config in ("default", PACKING)
    ]
    runs = document["runs"]
    assert [(run["input"], run["configuration"], run["seed"]) for run in runs] == expected
    assert len(made) == len({run["key"] for run in runs}) == len(expected)
    cells = {(cell["input"], cell["configuration"]): cell["metrics"] for cell in document["cells"]}
    assert len(cells) == 4
    for (given, config), metrics in cells.items():
        found = {each["name"]: each for each in metrics}
        own = [
            run["metrics"]["placed"]
            for run in runs
            if (run["input"], run["configuration"]) == (given, config)
        ]
        assert found["placed"]["mean"] == sum(own) / 3
        assert found["placed"]["p50"] == sorted(own)[1]
        assert (found["placed"]["lowest"], found["placed"]["highest"]) == (min(own), max(own))

    rows = table(tmp_path, "runs")
    assert [(row["input"], row["configuration"], row["seed"]) for row in rows] == expected
    assert [row["key"] for row in rows] == [run["key"] for run in runs]
    for row, run in zip(rows, runs, strict=True):
        assert {name: row[name] for name in run["metrics"]} == run["metrics"]
    pods = table(tmp_path, "pods")
    for row in rows:
        of_run = [each for each in pods if each["run"] == row["run"]]
        assert sum(each["outcome"] == "placed" for each in of_run) == row["placed"]
        assert all((each["node"] is None) == (each["outcome"] != "placed") for each in of_run)
        assert all((each["waiting_s"] is None) == (each["node"] is None) for each in of_run)


def test_a_sweep_has_the_runs_of_a_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    asked = (*NIGHT, "--seeds", "2", *ONE_JOB, "-o", "json")
    swept, compared = (podium(capsys, name, *asked).decoded() for name in ("sweep", "compare"))
    assert [run["metrics"] for run in swept["runs"]] == [run["metrics"] for run in compared["runs"]]
    assert swept["inputs"][0]["notes"] == compared["notes"]


def test_a_table_shows_means_and_percentiles(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "sweep", *MATRIX, "--prices", "worker-1:2", *ONE_JOB)
    assert done.code == 0
    assert "MEAN" in done.out
    assert "P95" in done.out
    assert f"{API}  1 seed" in done.out
    assert done.out.count("nodes without a price cost nothing here") == 2


# --- going on ---------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["compare", "sweep"])
def test_only_missing_runs_are_made_and_nothing_else_changes(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], made: list[RunPosition]
) -> None:
    asked = (command, *NIGHT, *ONE_JOB, "-o", "json")
    kept = ("--resume", str(tmp_path / "kept"))
    podium(capsys, *asked, "--seeds", "2", *kept)
    assert len(made) == 4

    made.clear()
    resumed = podium(capsys, *asked, "--seeds", "3", *kept, "--parquet", str(tmp_path / "resumed"))
    assert [position.turn for position in made] == [2, 2]
    at_once = podium(capsys, *asked, "--seeds", "3", "--parquet", str(tmp_path / "at-once"))
    assert resumed == at_once
    assert contents(tmp_path / "resumed") == contents(tmp_path / "at-once")


def test_changed_input_configuration_and_code_make_other_runs(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    made: list[RunPosition],
    own_modules: None,
) -> None:
    write = writer(tmp_path)
    config, plugin = tmp_path / "scheduler.yaml", tmp_path / "first.py"
    kind = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    code = (EXAMPLES / "plugins" / "pod_density.py").read_text()
    kept = ("--resume", str(tmp_path / "kept"), *ONE_JOB)

    def runs(cpu: str = "4", settings: str = "", code: str = code, *more: str) -> int:
        made.clear()
        for name in [each for each in sys.modules if each.startswith("podium_user_")]:
            del sys.modules[name]  # as in a new process
        config.write_text(kind + settings)
        plugin.write_text(code)
        cluster = write(node("n1", cpu), node("n2"), pod("a"))
        asked = ("sweep", "--config", str(config), "-f", cluster, "--plugin", str(plugin))
        assert podium(capsys, *asked, *kept, *more).code == 0
        return len(made)

    assert runs() == 1
    assert runs() == 0
    assert runs(cpu="5") == 1
    assert runs(settings="percentageOfNodesToScore: 50\n") == 1
    assert runs(code=code + "\n") == 1
    assert runs("4", "", code, "--feature-gates", "GenericWorkload=true") == 1
    assert runs("4", "", code, "--seed", "1") == 1
    assert runs("4", "", code, "--typical-pod", "cpu=3") == 1
    assert runs() == 0


def test_answers_of_others_are_not_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "extended.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "extenders: [{urlPrefix: 'http://127.0.0.1:9', filterVerb: filter}]\n"
    )
    asked = ("sweep", "--config", str(config), "-f", SHOP, "--resume", str(tmp_path / "kept"))
    done = podium(capsys, *asked)
    assert done.code == 2
    assert f"{config}: asks extenders" in done.err


def test_a_run_that_fails_is_told_and_the_others_are_kept(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    made: list[RunPosition],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = MatrixRunner.__call__

    def fail(self: MatrixRunner, position: RunPosition) -> RunOutcome:
        if position.turn == 1:
            raise ZeroDivisionError("of a bug")
        return counted(self, position)

    asked = ("sweep", "-f", SHOP, "--seeds", "3", *ONE_JOB, "--resume", str(tmp_path / "kept"))
    with monkeypatch.context() as patched:
        patched.setattr(MatrixRunner, "__call__", fail)
        done = podium(capsys, *asked, "--csv", str(tmp_path / "tables"))
    assert done.code == 70
    assert "(default, seed 1) failed: ZeroDivisionError: of a bug" in done.err
    assert "1 of 3 runs failed" in done.err
    assert not [*(tmp_path / "tables").iterdir()]

    made.clear()
    assert podium(capsys, *asked).code == 0
    assert [position.turn for position in made] == [1]


# --- scenarios --------------------------------------------------------------------------------

SCENARIO = """
apiVersion: podium.dev/v1
kind: Scenario
metadata: {name: morning}
spec:
  duration: 1h
  cluster: {pools: [{name: general, count: 2, allocatable: {cpu: 4, memory: 16Gi}}]}
  tenants:
  - name: shop
    arrivals: {poisson: {rate: 30/h}}
    runTime: {uniform: {min: 5m, max: 20m}}
    workloads: [{name: web, requests: {cpu: 1}}]
  - name: batch
    arrivals: {trace: {file: trace.csv}}
    runTime: {constant: 10m}
    workloads: [{name: job, requests: {cpu: 2}}]
"""


@pytest.fixture
def morning(tmp_path: Path) -> str:
    path = tmp_path / "morning.yaml"
    path.write_text(SCENARIO)
    (tmp_path / "trace.csv").write_text("at\n60\n120\n")
    return str(path)


def test_scenarios_are_inputs_wherever_their_runs_are_made(
    morning: str, dask: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("sweep", *TWO, "--scenario", morning, "--seeds", "2", "--seed", "7", "-o", "json")
    here = podium(capsys, *asked, *ONE_JOB, "--parquet", str(tmp_path / "here"))
    there = podium(capsys, *asked, "--dask", dask, "--parquet", str(tmp_path / "there"))
    assert here == there
    assert contents(tmp_path / "here") == contents(tmp_path / "there")

    runs = here.decoded()["runs"]
    assert [(run["input"], run["seed"]) for run in runs] == [(morning, 7)] * 2 + [(morning, 8)] * 2
    for run, config in zip(runs[2:], ((), ("--config", PACKING)), strict=True):
        alone = podium(capsys, "scenario", "run", morning, "--seed", "8", *config, "-o", "json")
        assert run["metrics"] == alone.decoded()["metrics"]
    pods = [row for row in table(tmp_path / "here", "pods") if row["run"] == 0]
    assert len(pods) == runs[0]["metrics"]["arrived"]
    assert {row["outcome"] for row in pods} >= {"finished"}


def test_files_stand_in_for_the_cluster_of_a_scenario(
    morning: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write = writer(tmp_path)
    small, large = (
        write(*(node(f"n{number}", cpu) for number in range(3)), name=f"{cpu}.json")
        for cpu in ("2", "16")
    )
    asked = ("sweep", "--cluster", small, "--cluster", large, "--scenario", morning, *ONE_JOB)
    document = podium(capsys, *asked, "-o", "json").decoded()
    assert [run["input"] for run in document["runs"]] == [
        f"{small} + {morning}",
        f"{large} + {morning}",
    ]
    first, second = (run["metrics"] for run in document["runs"])
    assert first["cpu_share"] > second["cpu_share"]
    assert first["nodes_mean"] == second["nodes_mean"] == 3


def test_a_file_that_a_scenario_names_makes_other_runs_when_it_changes(
    morning: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], made: list[RunPosition]
) -> None:
    asked = ("sweep", "--scenario", morning, *ONE_JOB, "--resume", str(tmp_path / "kept"))
    for expected, trace in ((1, "60"), (0, "60"), (1, "90"), (0, "60")):
        made.clear()
        (tmp_path / "trace.csv").write_text(f"at\n{trace}\n")
        assert podium(capsys, *asked).code == 0
        assert len(made) == expected


def test_a_worker_that_finds_other_files_refuses_the_run(morning: str, tmp_path: Path) -> None:
    named = name_scenario(morning, gates=FeatureGates())
    assert named.read().name == "morning"
    (tmp_path / "trace.csv").write_text("at\n30\n")
    with pytest.raises(InputError, match="not those with which runs were planned"):
        named.read()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--workload", API, "--scenario", "zone-outage"), "scenarios bring their own workloads"),
        (("--scenario", "zone-outages"), "did you mean zone-outage?"),
        (("--workload", API, "--workload", API), "twice with --workload"),
        (("-f", "-", "--workload", API, "--workload", RENDER), "standard input can be read once"),
        (("--config", "default", "--config", "default"), "the same configuration is there twice"),
        (("--jobs", "-1"), "0 for all cores"),
        (("--dask", "somewhere"), "--dask somewhere: no address"),
        (("--dask-tls-ca", "ca.pem"), "certificates are for a Dask cluster"),
        (("--resume", SHOP), "cannot be used"),
        (("--parquet", SHOP), "cannot be written"),
    ],
)
def test_a_wrong_command_line_is_told(
    arguments: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = podium(capsys, "sweep", "-f", SHOP, *arguments)
    assert done.code == 2
    assert told in done.err
