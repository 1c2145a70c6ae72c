"""`--device cuda` through the command, with the kernel on the CPU in place of a GPU."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
from support.addons.gpu.kernel_on_cpu import COMPILER, CpuDevice, compile_kernel
from support.suite.requirements import C_COMPILER

from podium.addons.gpu.study.kernel_engine import Array
from podium.commands.app import main

EXAMPLES = Path(__file__).resolve().parents[4] / "examples" / "study"
FILES = ("--nodes", str(EXAMPLES / "nodes.csv"), "--pods", str(EXAMPLES / "mixed.csv"))


class StandIn(CpuDevice):
    name = "a GPU that is none"
    kernel_s = 0.125


@pytest.fixture
def gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[StandIn]:
    if COMPILER is None:
        C_COMPILER.skip()
    library = compile_kernel(tmp_path)

    class Gpu(StandIn):
        def __init__(self) -> None:
            super().__init__(library)

        def launch(self, arguments: Array, blocks: int, threads: int) -> None:
            super().launch(arguments, blocks, min(threads, 2))

    module = ModuleType("podium.addons.gpu.study.cuda")
    module.CudaDevice = Gpu  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "podium.addons.gpu.study.cuda", module)
    monkeypatch.setattr("podium.commands.study_runs.require_device", lambda _device: None)
    return Gpu


def test_a_gpu_finds_what_the_cpu_finds(
    gpu: type[StandIn], capsys: pytest.CaptureFixture[str]
) -> None:
    own = f"{EXAMPLES / 'least_idle.py'}:least_idle"
    words = ["study", "gpu-packing", *FILES, "--seeds", "1-2", "-o", "json"]
    words += ["--policy", "FGDStranded", "--policy", "Random", "--policy", own]
    assert main([*words, "--device", "cuda", "--verify"]) == 0
    with_gpu = json.loads(capsys.readouterr().out)
    assert main([*words, "--device", "numpy", "--jobs", "1"]) == 0
    assert with_gpu["runs"] == json.loads(capsys.readouterr().out)["runs"]
    assert with_gpu["notes"][0] == "a GPU that is none: kernels took 0.12 s"
    assert with_gpu["notes"][1] == "4 runs placed on the CPU as well, 0 differ"


def test_a_gpu_that_errs_is_told(
    gpu: type[StandIn], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def forgetful(self: StandIn, array: Array) -> Array:
        return array * 0 if array.dtype.kind == "f" else array

    monkeypatch.setattr(gpu, "upload", forgetful)
    words = ["study", "gpu-packing", *FILES, "--seeds", "1", "--policy", "FGD"]
    assert main([*words, "--device", "cuda", "--verify"]) == 1
    assert "different: mixed FGD 1" in capsys.readouterr().out


def test_without_the_extra_a_remedy_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    if find_spec("cupy"):
        pytest.skip("CuPy is installed")
    assert main(["study", "gpu-packing", *FILES, "--device", "cuda"]) == 2
    assert "pip install 'podium[study-cuda]'" in capsys.readouterr().err
