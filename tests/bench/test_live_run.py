"""`podium bench live`, on clusters too small to say anything about speed."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from podium.bench.results import Figures, LiveResult, compare_live
from podium.bench.scheduler_process import SchedulerEnded, command_of, scheduler_process
from podium.commands import main
from podium.golang.errors import InputError

TINY = ("--nodes", "3", "--init", "2", "--pods", "6", "--connections", "2", "--runs", "1")
SAME_AGAIN = shlex.join([sys.executable, "-m", "podium", "run", "--config", "{config}"])


@pytest.mark.slow
def test_schedulers_are_measured_in_turn_and_compared(capsys: pytest.CaptureFixture[str]) -> None:
    other = f"{SAME_AGAIN} --secure-port=0"
    assert main(["bench", "live", *TINY, "--scheduler", other, "--output", "json"]) == 0
    told = capsys.readouterr()
    document = json.loads(told.out)
    for result, name in zip(
        document["results"], ("podium", Path(sys.executable).name), strict=True
    ):
        assert result["scheduler"] == name
        assert (result["workload"], result["case"]) == ("basic", "SchedulingBasic")
        assert (result["nodes"], result["init"]) == (3, 2)
        assert (result["pods"], result["bound"], result["failed"]) == (6, 6, 0)
        assert 0 < result["p50_ms"] <= result["p99_ms"]
        assert result["peak_rss_mb"] > 1
        assert len(result["runs"]) == len(result["cpu_ms_per_pod_runs"]) == 1
        assert f"basic, {name}, run 1" in told.err
    (compared,) = document["compared"]
    assert compared["pods_per_s"]["best"] > 0


def test_a_table_says_how_noisy_it_was(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    assert main(["bench", "live", *TINY, "--workload", "affinity", "--tls"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Pods bound per second 3 nodes, 6 pods, over TLS, 1 run" in text
    assert "affinity podium" in text
    assert "one-minute load from" in text


@pytest.mark.slow
def test_a_scheduler_that_dies_is_told_with_the_end_of_its_log(
    capsys: pytest.CaptureFixture[str],
) -> None:
    dying = "sh -c 'echo no such luck; exit 3' {config}"
    assert main(["bench", "live", *TINY, "--scheduler", dying]) == 2
    told = capsys.readouterr().err
    assert "the scheduler ended with code 3; the end of its log:\nno such luck" in told


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--pods", "0"], "all numbers must be at least 1"),
        (["--init", "-1"], "all numbers must be at least 1"),
        (["--scheduler", "kube-scheduler"], "write {config} or {kubeconfig}"),
        (["--scheduler", "sh '{config}"], "not a command line"),
    ],
)
def test_what_cannot_be_measured_is_refused_at_once(
    options: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "live", *options]) == 2
    assert problem in capsys.readouterr().err


# --- processes --------------------------------------------------------------------------------


def test_a_command_is_given_both_files_and_ended(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    script = f"echo $0 $$ > {seen}; cat $1 >> {seen}; touch {seen}.whole; sleep 60"
    kubeconfig = tmp_path / "kubeconfig"
    command = command_of(f"sh -c '{script}' {{kubeconfig}} {{config}}")
    with scheduler_process(command, kubeconfig) as process:
        while not Path(f"{seen}.whole").exists():
            process.check()
        assert process.cpu_s() >= 0
        assert process.peak_rss_mb() > 0
    first, *lines = seen.read_text().splitlines()
    named, number = first.split()
    assert named == str(kubeconfig)
    assert f"  kubeconfig: {kubeconfig}" in lines
    assert not Path("/proc", number).exists()


def test_a_command_that_is_not_there_cannot_be_started(tmp_path: Path) -> None:
    with (
        pytest.raises(SchedulerEnded, match="cannot be started: No such file"),
        scheduler_process(["no-such-scheduler", "{config}"], tmp_path),
    ):
        raise AssertionError("it was started")


def test_what_is_no_command_line_is_refused() -> None:
    with pytest.raises(InputError, match="names no API server for the scheduler"):
        command_of("kube-scheduler --v=2")


# --- comparing --------------------------------------------------------------------------------


def _figures(pods_per_s: float, cpu_seconds: float) -> Figures:
    return Figures(
        nodes=1,
        pods=100,
        bound=100,
        failed=0,
        seconds=1.0,
        cpu_seconds=cpu_seconds,
        pods_per_s=pods_per_s,
        p50_ms=1.0,
        p99_ms=2.0,
        peak_rss_mb=50.0,
        load=1.0,
    )


def _result(scheduler: str, *runs: Figures) -> LiveResult:
    return LiveResult(workload="basic", case="SchedulingBasic", runs=runs, scheduler=scheduler)


def test_ratios_are_of_the_best_runs_and_of_every_pair() -> None:
    ours = _result("podium", _figures(100.0, 0.2), _figures(300.0, 0.1))
    other = _result("other", _figures(100.0, 0.4), _figures(200.0, 0.5))
    compared = compare_live(ours, other)
    found = compared.pods_per_s
    assert (found.best, found.lowest, found.highest) == (1.5, 1.0, 1.5)
    assert (compared.cpu.best, compared.cpu.lowest, compared.cpu.highest) == (0.25, 0.2, 0.5)
    assert ours.cpu_ms == 1.0
