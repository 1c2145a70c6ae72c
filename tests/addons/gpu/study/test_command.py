"""`podium study gpu-packing`: traces by policies by seeds, resumed, with policies of users."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.suite.late_imports import LateImport

from podium.commands.app import main
from podium.commands.study_policies import REVISIONS, policy_digest, require_policy
from podium.golang.errors import InputError

distributed = LateImport("distributed")
parquet = LateImport("pyarrow.parquet")
EXAMPLES = Path(__file__).resolve().parents[4] / "examples" / "study"
FILES = ("--nodes", str(EXAMPLES / "nodes.csv"), "--pods", str(EXAMPLES / "mixed.csv"))
QUICK = (*FILES, "--device", "numpy", "--jobs", "1")


def study(*words: str) -> int:
    return main(["study", "gpu-packing", *words])


def document(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert study(*words, "-o", "json") == 0
    return json.loads(capsys.readouterr().out)


def test_tables_have_a_row_for_each_policy(capsys: pytest.CaptureFixture[str]) -> None:
    assert study(*QUICK, "--policy", "FGD", "--policy", "DotProd", "--seeds", "1-2") == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("FGD ") for line in lines) == 3
    # Allocation, fragmentation, the difference to FGD and the curve.
    assert sum(line.startswith("DotProd ") for line in lines) == 4


def test_only_tables_have_the_time_that_a_study_took(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.html"
    assert study(*QUICK, "--policy", "FGD", "--seeds", "1", "--html", str(report)) == 0
    assert re.search(r"· 1 run with numpy in \d+\.\d s$", capsys.readouterr().out.rstrip())
    assert '"notes":["1 run with numpy"]' in report.read_text()


def test_a_study_goes_on_where_it_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ("--out", str(tmp_path / "results"), "--policy", "DotProd")
    first = document(capsys, *QUICK, *folder, "--seeds", "1")
    runs = tmp_path / "results" / "runs.jsonl"
    runs.write_bytes(runs.read_bytes() + b'\n{"trace":"mixed","policy":"Dot')
    second = document(capsys, *QUICK, *folder, "--seeds", "1-2")
    assert second["runs"][0] == first["runs"][0]
    assert second["notes"][0].startswith("1 run had a result in ")
    assert second["notes"][1] == "1 run with numpy"
    third = document(capsys, *QUICK, *folder, "--seeds", "1-2")
    assert third["runs"] == second["runs"]
    rows = list(csv.DictReader((tmp_path / "results" / "cells.csv").read_text().splitlines()))
    assert {row["seed"] for row in rows} == {"1", "2"}
    assert float(rows[-1]["allocation"]) == second["runs"][1]["allocationPercent"][130]


def test_results_of_a_policy_that_was_changed_are_not_reused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = []
    for number in (1, 2):
        # Two files, since a module that was loaded stays loaded in one process.
        policy = tmp_path / f"{number}" / "mine.py"
        policy.parent.mkdir()
        policy.write_text(f"def score(nodes, pod, typical):\n    return nodes.gpus * {number}\n")
        words = ("--policy", f"{policy}:score", "--seeds", "1", "--out", str(tmp_path / "out"))
        notes.append(document(capsys, *QUICK, *words)["notes"])
    assert [len(each) for each in notes] == [1, 1]


def test_results_of_a_former_formula_are_made_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (*QUICK, "--policy", "FGDStranded", "--seeds", "1", "--out", str(tmp_path / "out"))
    document(capsys, *words)
    assert len(document(capsys, *words)["notes"]) == 2
    monkeypatch.setitem(REVISIONS, "FGDStranded", "another")
    assert len(document(capsys, *words)["notes"]) == 1


def test_a_users_policy_is_compared(capsys: pytest.CaptureFixture[str]) -> None:
    policy = f"{EXAMPLES / 'least_idle.py'}:least_idle"
    found = document(capsys, *QUICK, "--policy", "FGD", "--policy", policy, "--seeds", "1")
    assert [each["policy"] for each in found["policies"]] == ["FGD", "least_idle"]
    assert found["policies"][1]["allocationGainPoints"]


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("return 1", "gave one number for"),
        ("return nodes.gpus / 2", "gave numbers of type float64"),
        ("return 1 / 0", "raised ZeroDivisionError: division by zero"),
        ("return nodes.gpus[:1]", "gave 1 for"),
    ],
)
def test_mistakes_of_a_users_policy_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], code: str, problem: str
) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(f"def score(nodes, pod, typical):\n    {code}\n")
    assert study(*QUICK, "--policy", f"{file}:score", "--seeds", "1") == 2
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--policy", "FGDD"), "no policy named FGDD"),
        (("--seeds", "9-1"), "from 1 to 10,000 seeds in a row"),
        (("--seeds", "x"), "not seeds"),
        (("--verify",), "--verify compares a GPU with the CPU"),
        (("--demand", "0"), "--demand must be between 1 and 130"),
        (("--jobs", "0"), "--jobs must be at least 1"),
    ],
)
def test_mistakes_on_the_command_line_are_told(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], problem: str
) -> None:
    assert study(*FILES, "--device", "numpy", *words) == 2
    assert problem in capsys.readouterr().err


def tables(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


@pytest.mark.slow
def test_several_processes_and_dask_find_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = f"{EXAMPLES / 'least_idle.py'}:least_idle"
    words = (*FILES, "--device", "numpy", "--policy", "DotProd", "--policy", policy)
    settings: dict[str, Any] = {"processes": False, "dashboard_address": "127.0.0.1:0"}
    found, written = [], []
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, **settings) as cluster:
        address = cluster.scheduler_address
        for number, place in enumerate((("--jobs", "1"), ("--jobs", "2"), ("--dask", address))):
            out = tmp_path / str(number)
            asked = (*words, "--seeds", "1-2", *place, "--parquet", str(out))
            found.append(document(capsys, *asked)["runs"])
            written.append(tables(out))
    assert found == found[:1] * 3
    assert written == written[:1] * 3


def test_tables_have_every_run_and_every_cell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = (*QUICK, "--policy", "DotProd", "--seeds", "1-2", "--out", str(tmp_path / "out"))
    runs = document(capsys, *asked, "--parquet", str(tmp_path))["runs"]
    rows = parquet.read_table(tmp_path / "runs.parquet").to_pylist()
    assert [(row["seed"], row["placed"]) for row in rows] == [
        (run["seed"], run["placed"]) for run in runs
    ]
    cells = parquet.read_table(tmp_path / "cells.parquet").to_pylist()
    listed = csv.DictReader((tmp_path / "out" / "cells.csv").read_text().splitlines())
    assert [(row["seed"], row["arrived_percent"], row["allocation_percent"]) for row in cells] == [
        (int(row["seed"]), int(row["arrived"]), float(row["allocation"])) for row in listed
    ]


def test_a_policy_that_is_not_what_was_planned_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "planned.py"
    file.write_text("def score(nodes, pod, typical):\n    return nodes.gpus\n")
    wanted = policy_digest(f"{file}:score")
    require_policy(f"{file}:score", wanted)
    file.write_text("def score(nodes, pod, typical):\n    return -nodes.gpus\n")
    # What is loaded is what was planned, whatever the file has become.
    require_policy(f"{file}:score", wanted)
    changed = policy_digest(f"{file}:score")
    require_policy(f"{file}:score", changed)
    with pytest.raises(InputError, match="not the code that runs were planned with"):
        require_policy(f"{file}:score", wanted)
