"""Inputs as people have them: packed, behind an address, from a Helm chart."""

import gzip
import json
import logging
import tracemalloc
from pathlib import Path

import pytest
from support.commands.command_line import Write, node, pod, podium, writer

from podium.commands.line_logging import silence_web_server
from podium.golang.errors import InputError
from podium.net.files.bounded_files import unpack_gzip

pytestmark = pytest.mark.usefixtures("wide_output")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


def test_a_packed_dump_is_read_by_whatever_name(
    capsys: pytest.CaptureFixture[str], write: Write, tmp_path: Path
) -> None:
    packed = gzip.compress(Path(write(node(), pod("p"))).read_bytes())
    directory = tmp_path / "dumps"
    directory.mkdir()
    (directory / "cluster.json.gz").write_bytes(packed)
    for path in (directory, directory / "cluster.json.gz"):
        assert podium(capsys, "simulate", "-f", str(path)).code == 0
    odd = tmp_path / "cluster"
    odd.write_bytes(packed + gzip.compress(b" "))
    assert podium(capsys, "simulate", "-f", str(odd)).code == 0


def test_what_unpacks_to_too_much_is_refused_while_it_is_unpacked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    bomb = tmp_path / "bomb.json.gz"
    with gzip.open(bomb, "wb") as file:
        for _ in range(300):
            file.write(b" " * (1 << 20))
    done = podium(capsys, "simulate", "-f", str(bomb))
    assert done.code == 2
    assert f"podium: {bomb}: larger than 256 MiB when unpacked; split the file" in done.err


def test_unpacking_takes_no_more_memory_than_its_limit_allows() -> None:
    bomb = gzip.compress(bytes(64 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="larger than 1 MiB when unpacked"):
            unpack_gzip(bomb, 1 << 20, "bomb")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20


@pytest.mark.parametrize("cut", [3, 12, -4])
def test_broken_gzip_is_told(
    capsys: pytest.CaptureFixture[str], write: Write, tmp_path: Path, cut: int
) -> None:
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(Path(write(node())).read_bytes())[:cut])
    done = podium(capsys, "simulate", "-f", str(path))
    assert done.code == 2
    assert f"podium: {path}: ends in the middle of gzip data" in done.err


def test_an_address_is_refused_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    address = "https://example.com/a b.yaml?x=1"
    done = podium(capsys, "simulate", "-f", address)
    assert done.code == 2
    assert done.err == (
        f"podium: {address}: is an address, and nothing is fetched; curl -fsSL '{address}' |"
        " podium simulate -f -\n"
    )


@pytest.mark.parametrize("hook", ["test", "test-success", "pre-install,test"])
def test_helms_tests_are_left_out_with_a_note(
    capsys: pytest.CaptureFixture[str], write: Write, hook: str
) -> None:
    tested = pod("release-test")
    tested["metadata"]["annotations"] = {"helm.sh/hook": hook}
    installed = pod("migrate")
    installed["metadata"]["annotations"] = {"helm.sh/hook": "pre-install"}
    done = podium(capsys, "simulate", "-f", write(node(), tested, installed), "-o", "json")
    document = done.decoded()
    assert [each["name"] for each in document["pods"]] == ["migrate"]
    assert document["notes"] == ["left out, since Helm makes them for tests only: Pod (1)"]


def test_a_benched_file_may_give_capacity_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    bare = node()
    bare["status"] = {"capacity": bare["status"]["allocatable"]}
    workload = tmp_path / "workload.json"
    workload.write_text(json.dumps({"nodes": [bare], "pods": [pod("p")]}))
    done = podium(capsys, "bench", "--file", str(workload), "--json")
    assert done.decoded()["bound"] == 1


def test_the_web_server_keeps_its_own_lines_to_itself(
    caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest
) -> None:
    logger = logging.getLogger("uvicorn.error")
    before = list(logger.filters)
    request.addfinalizer(lambda: setattr(logger, "filters", before))
    silence_web_server()
    logger.warning("Unsupported upgrade request.")
    logger.error("Cancel 1 running task(s), timeout graceful shutdown exceeded")
    assert caplog.records == []
    logger.error("Exception in ASGI application", exc_info=ValueError("x"))
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    ("command", "names"),
    [("config", ("check", "convert", "show")), ("bench", ("scaling", "live", "apiserver"))],
)
def test_subcommands_have_a_heading_of_their_own(
    capsys: pytest.CaptureFixture[str], command: str, names: tuple[str, ...]
) -> None:
    out = podium(capsys, command, "--help").out
    assert "Shell and help" not in out
    listed = out.split("─ Commands ", 1)[1]
    assert all(name in listed for name in names)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_flags_of_run_are_completed(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    script = podium(capsys, "completion", shell).out
    for flag in ("leader-elect-lease-duration", "secure-port", "authentication-kubeconfig"):
        assert flag in script
