"""`podium bench` from the outside, on clusters too small to say anything about speed."""

import cProfile
import io
import json
import re
import shlex
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from podium.bench import child
from podium.bench.child import carry_out
from podium.bench.function_times import short_path
from podium.bench.scaling import BEGIN, END
from podium.commands import main
from podium.commands.app import build_app
from podium.commands.bench_view import break_name, short

TINY = ("--nodes", "5", "--repeat", "1")
NAMED = ("--workload", "basic", *TINY)


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def measured_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are made in this process, not in one each: what is printed of them is looked at."""
    monkeypatch.setattr(child, "measure_apart", carry_out)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["bench", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def workload_file(tmp_path: Path) -> str:
    node = {
        "metadata": {"name": "n1"},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
    }
    pods: list[dict[str, Any]] = [
        {
            "metadata": {"name": name, "namespace": "default", "uid": name},
            "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]},
        }
        for name in ("a", "b")
    ]
    path = tmp_path / "workload.json"
    path.write_text(json.dumps({"nodes": [node], "pods": pods}))
    return str(path)


def test_a_table_fits_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    long = "SchedulingRequiredPodAntiAffinityWithNSSelector"
    code, out, err = run(capsys, "--workload", long, *NAMED)
    assert code == 0
    assert "SchedulingRequiredPodAnti" in out
    assert "AffinityWithNSSelector" in out
    assert "5 nodes, every node scored, 1 run" in out
    assert "one-minute load" in out
    assert max(map(len, out.splitlines())) <= 80
    assert "basic, run 1" in err


@pytest.mark.usefixtures("measured_here")
def test_json_has_the_figures_of_each_workload(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "engine", "--json", "--workload", "spread", *NAMED)
    spread, basic = json.loads(out)["items"]
    assert code == 0
    assert (spread["workload"], spread["case"]) == ("spread", "TopologySpreading")
    assert basic["bound"] == basic["pods"]
    assert basic["failed"] == 0
    assert len(basic["runs"]) == 1
    for key in ("pods_per_s", "pods_per_cpu_s", "p50_ms", "p99_ms", "peak_rss_mb", "load"):
        assert isinstance(basic[key], float)


def test_a_workload_file_gives_one_result(
    capsys: pytest.CaptureFixture[str], workload_file: str
) -> None:
    arguments = ("engine", "--file", workload_file, "--json", "--repeat", "2")
    code, out, err = run(capsys, *arguments)
    found = json.loads(out)
    assert code == 0
    assert (found["workload"], found["bound"], found["failed"]) == ("workload.json", 1, 1)
    assert len(found["runs"]) == 2
    assert err == ""


def test_a_workload_can_come_from_standard_input(
    capsys: pytest.CaptureFixture[str], workload_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path(workload_file).read_bytes())))
    code, out, _ = run(capsys, "engine", "--file", "-", "--json", "--repeat", "1")
    assert code == 0
    assert json.loads(out)["pods"] == 2


def test_pods_that_were_not_bound_are_told(
    capsys: pytest.CaptureFixture[str], workload_file: str
) -> None:
    _, out, _ = run(capsys, "engine", "--file", workload_file, "--repeat", "1")
    assert "1 of 2 pods were not bound" in out


@pytest.mark.usefixtures("measured_here")
def test_an_earlier_run_is_compared_as_ratios(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    earlier = tmp_path / "earlier.json"
    earlier.write_text(run(capsys, "--json", *NAMED)[1])
    code, out, _ = run(capsys, "--compare", str(earlier), *NAMED)
    assert code == 0
    assert "Compared" in out
    assert "SchedulingBasic" in out
    compared = json.loads(run(capsys, "--compare", str(earlier), "--json", *NAMED)[1])
    (found,) = compared["items"]
    assert found["compared"]["ratio"] > 0
    assert found["compared"]["verdict"] in ("faster", "slower", "within noise")


@pytest.mark.usefixtures("measured_here")
def test_an_earlier_run_of_something_else_is_no_comparison(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    earlier = tmp_path / "earlier.json"
    earlier.write_text('[{"workload": "spread", "pods_per_s": 1.0}]')
    _, out, _ = run(capsys, "--compare", str(earlier), *NAMED)
    assert "the earlier run has none of these workloads" in out


@pytest.mark.usefixtures("measured_here")
def test_a_plot_is_written_as_svg(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "plot.svg"
    code, _, _ = run(capsys, "--plot", str(target), *NAMED)
    assert code == 0
    assert target.read_text().startswith("<svg ")
    assert "SchedulingBasic" in target.read_text()


@pytest.mark.usefixtures("measured_here")
def test_a_profile_names_functions(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted_calls = partial(cProfile.Profile, count().__next__, 1e-6)
    monkeypatch.setattr(cProfile, "Profile", counted_calls)  # so the order is the same each time
    code, out, _ = run(capsys, "--profile", *NAMED)
    assert code == 0
    assert "Functions of basic" in out
    assert "scheduler/engine/scheduling_cycle.py" in out


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (
            "/home/me/podium/src/podium/scheduler/engine/scheduler.py",
            "scheduler/engine/scheduler.py",
        ),
        (
            "/home/me/podium/.venv/lib/python3.11/site-packages/numpy/core/multiarray.py",
            "numpy/core/multiarray.py",
        ),
        (
            "/usr/lib/python3/site-packages/podium/scheduler/engine/scheduler.py",
            "scheduler/engine/scheduler.py",
        ),
        ("/usr/lib/python3.11/json/decoder.py", "decoder.py"),
    ],
)
def test_a_place_in_a_profile_begins_with_its_package(path: str, shown: str) -> None:
    assert short_path(path) == shown


@pytest.mark.usefixtures("measured_here")
def test_functions_are_part_of_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = json.loads(run(capsys, "--profile", "--json", *NAMED)[1])["items"]
    assert {"name", "place", "calls", "own_s", "total_s", "share"} <= set(found["functions"][0])


@pytest.mark.usefixtures("measured_here")
def test_flame_graphs_of_several_workloads_have_their_names(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run(capsys, "--flame-graph", str(tmp_path / "one.svg"), *NAMED)
    run(capsys, "--flame-graph", str(tmp_path / "two.svg"), "--workload", "spread", *NAMED)
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == ["one.svg", "two-basic.svg", "two-spread.svg"]


def test_workloads_are_listed_with_their_counts(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--list", "--nodes", "500")
    assert code == 0
    assert "PreemptionBasic" in out
    assert "2,000" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--workload", "basix"), "do you mean basic?"),
        (("--workload", "zzz"), "`podium bench --list` names them all"),
        (("--nodes", "0"), "must be at least 1"),
        (("--repeat", "0"), "must be at least 1"),
        (("--init", "-1"), "must not be negative"),
        (("--percentage", "101"), "between 0 and 100"),
        (("--compare", "/nonexistent"), "/nonexistent: cannot be read"),
        (("--file", "/nonexistent"), "/nonexistent: cannot be read"),
        (("--file", "/dev/null", "--profile"), "need a named workload"),
        (("scaling", "--repeat", "0"), "must be at least 1"),
        (("scaling", "--write", "/nonexistent"), "/nonexistent: cannot be read"),
    ],
)
def test_wrong_arguments_are_told(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], problem: str
) -> None:
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert problem in " ".join(err.split())


@pytest.mark.usefixtures("measured_here")
def test_a_plot_that_cannot_be_written_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "--plot", "/nonexistent/plot.svg", *NAMED)
    assert code == 2
    assert "/nonexistent/plot.svg: cannot be written" in err


@pytest.mark.slow
@pytest.mark.usefixtures("measured_here")
def test_scaling_fills_the_marked_place_of_a_document(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    document = tmp_path / "doc.md"
    document.write_text(f"# Title\n{BEGIN}\n{END}\n")
    arguments = ("scaling", "--axis", "nodes", "--most", "1", "--repeat", "1")
    code, out, _ = run(capsys, *arguments, "--write", str(document))
    assert (code, out) == (0, "")
    assert "| 500 |" in document.read_text()


def test_long_names_are_broken_before_capital_letters() -> None:
    assert break_name("basic", 10) == ["basic"]
    assert break_name("SchedulingPodAffinity", 15) == ["SchedulingPod", "  Affinity"]
    assert break_name("SchedulingCSIPVs", 12) == ["Scheduling", "  CSIPVs"]


def test_numbers_keep_three_digits() -> None:
    assert [short(n) for n in (0.1234, 4.4666, 163.2)] == ["0.123", "4.47", "163"]


def documented() -> list[str]:
    text = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text()
    blocks = re.findall(r"```\n(.*?)```", text, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [re.split(r"\s{2,}| > ", line)[0] for line in lines if line.startswith("podium ")]


@pytest.mark.parametrize("command", documented())
def test_a_documented_command_line_is_a_valid_one(command: str) -> None:
    words = shlex.split(command)[1:]
    function, bound, _ = build_app().parse_args(words, exit_on_error=False, print_error=False)
    assert function.__name__ in ("engine", "scaling")
    assert len(bound.arguments) == sum(word.startswith("--") for word in words)


@pytest.mark.usefixtures("measured_here")
def test_a_configuration_is_measured_beside_the_default_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = Path(__file__).parents[2] / "examples" / "coscheduling" / "scheduler.yaml"
    code, out, _ = run(capsys, *NAMED, "--pods", "4", "--config", str(file), "--json")
    assert code == 0
    by_name = {each["workload"]: each for each in json.loads(out)["items"]}
    assert [name.partition(",")[2] for name in by_name] == ["", " scheduler.yaml"]
    assert all(each["bound"] == 4 for each in by_name.values())


def test_a_configuration_that_does_not_load_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text("kind: Nonsense\n")
    code, _, err = run(capsys, *NAMED, "--config", str(file))
    assert code == 2
    assert "scheduler.yaml" in err
