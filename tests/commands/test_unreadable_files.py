"""Every command that reads a file reads it up to a bound and says what is wrong with it."""

import gzip
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.commands.command_line import node, pod, podium, writer
from support.waiting import PATIENCE_S

FILES = [
    ("simulate", "-f"),
    ("explain", "x", "-f"),
    ("why", "x", "-f"),
    ("story", "x", "-f"),
    ("simulate", "-f", "input.json", "--config"),
    ("config", "check"),
    ("config", "show"),
    ("config", "convert"),
    ("bench", "--file"),
    ("bench", "--workload", "basic", "--compare"),
    ("bench", "scaling", "--write"),
    ("nodes", "--template"),
    ("nodes", "--stages"),
    ("nodes", "--kubeconfig"),
    ("up", "--port", "0", "-f"),
    ("parity",),
    ("run", "--config"),
    ("run", "--write-config-to", "out", "--kubeconfig"),
    ("apiserver", "--port", "0", "--token-file"),
]


@pytest.fixture(autouse=True)
def _inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    writer(tmp_path)(node())
    monkeypatch.setattr("podium.offline.simulate.input_files.MAX_CLUSTER_BYTES", 1 << 20)
    monkeypatch.setattr("podium.net.files.bounded_files.MAX_CLUSTER_BYTES", 1 << 20)
    monkeypatch.setattr("podium.parity.cases.MAX_CASE_BYTES", 1 << 20)


@pytest.mark.parametrize("command", FILES, ids=" ".join)
def test_a_device_without_an_end_is_refused(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    done = podium(capsys, *command, "/dev/zero")
    assert done.code in (1, 2)
    told = done.out + done.err
    assert "/dev/zero" in told
    assert "larger than" in told or "file too large" in told
    assert "Traceback" not in told


def test_code_of_plugins_is_read_up_to_a_bound(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rule.py").symlink_to("/dev/zero")
    done = podium(capsys, "simulate", "-f", "input.json", "--plugin", "rule.py")
    assert done.code == 2
    assert "rule.py: larger than 16 MiB" in done.err


@pytest.mark.parametrize("command", [("bench", "--file"), ("bench", "--compare")], ids=" ".join)
def test_deeply_nested_results_are_refused(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("deep.json").write_text('{"a":' * 100_000)
    done = podium(capsys, *command, "deep.json")
    assert done.code == 2
    assert done.err.startswith("podium: deep.json: not ")
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("begin", "value", "end"),
    [
        (b'{"apiVersion":"v1","kind":"List","items":[', b"{}", b"]}"),
        (b"[", b"[]", b"]"),
    ],
    ids=["a list of nothing", "lists of nothing"],
)
def test_a_small_file_that_unpacks_to_many_values_does_not_fill_memory(
    begin: bytes, value: bytes, end: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "many.json.gz"
    text = begin + (value + b",") * 30_000_000 + value + end
    path.write_bytes(gzip.compress(text, 1))
    limit = 2 * 1024**3

    def bound_memory() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    done = subprocess.run(
        [sys.executable, "-m", "podium", "simulate", "-f", str(path)],
        capture_output=True,
        text=True,
        preexec_fn=bound_memory,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "more than 25,000,000 values; split the file" in done.stderr


@pytest.mark.parametrize("command", FILES, ids=" ".join)
def test_a_loop_of_links_is_refused(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("one.yaml").symlink_to("other.yaml")
    Path("other.yaml").symlink_to("one.yaml")
    done = podium(capsys, *command, "one.yaml")
    assert done.code in (1, 2)
    told = (done.out + done.err).lower()
    assert "too many levels of symbolic links" in told or "no such file" in told
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("kind", "field", "number", "told"),
    [
        (
            "Deployment",
            "replicas",
            2**31,
            "cannot unmarshal number 2147483648 into Go",
        ),
        (
            "StatefulSet",
            "replicas",
            2**31,
            "cannot unmarshal number 2147483648 into Go",
        ),
        ("Job", "parallelism", 2**40, "cannot unmarshal number 1099511627776 into Go"),
        ("Deployment", "replicas", 2**31 - 1, "there would be more than 500,000"),
        ("StatefulSet", "replicas", 2**31 - 1, "there would be more than 500,000"),
        ("ReplicaSet", "replicas", 2**31 - 1, "there would be more than 500,000"),
        ("Job", "parallelism", 2**31 - 1, "there would be more than 500,000"),
        (
            "Deployment",
            "replicas",
            -1,
            "spec.replicas: Invalid value: -1: must be greater",
        ),
    ],
)
def test_no_number_of_replicas_fills_memory(
    kind: str,
    field: str,
    number: int,
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    labels = {"app": "web"}
    spec: dict[str, Any] = {
        field: number,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod("web")["spec"]},
    }
    if kind == "Job":
        del spec["selector"]
        spec["template"]["spec"]["restartPolicy"] = "Never"
    group = "batch/v1" if kind == "Job" else "apps/v1"
    workload = {"apiVersion": group, "kind": kind, "metadata": {"name": "web"}, "spec": spec}
    done = podium(capsys, "simulate", "-f", writer(tmp_path)(node(), workload))
    assert done.code == 2
    assert told in done.err


def test_no_scaling_fills_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = writer(tmp_path)(node(), pod("web"))
    done = podium(capsys, "what-if", "-f", files, "--scale", f"deploy/web={10**9}")
    assert done.code == 2
    assert "asks for more than 500,000 pods" in done.err
