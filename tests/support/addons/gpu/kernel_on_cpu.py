"""The study's kernel on the CPU: its source, compiled as C with threads for CUDA's."""

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from podium.addons.gpu.study.kernel_engine import Array, kernel_source

COMPILER = shutil.which("cc")
_SHIM = Path(__file__).with_name("kernel_on_cpu.c")


def compile_kernel(folder: Path) -> Path:
    assert COMPILER is not None
    (folder / "kernel.cu").write_text(kernel_source())
    library = folder / "kernel.so"
    flags = ["-O2", "-ffp-contract=off", "-shared", "-fPIC", "-pthread", "-Wall", "-Werror"]
    source = folder / "shim.c"
    source.write_text(_SHIM.read_text())
    subprocess.run([COMPILER, *flags, "-o", library, source], check=True)
    return library


class CpuDevice:
    """Arrays stay where they are."""

    def __init__(self, library: Path) -> None:
        self._launch = ctypes.CDLL(str(library)).launch
        self._launch.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
        self._launch.restype = None

    def upload(self, array: Array) -> Any:
        return np.ascontiguousarray(array)

    def allocate(self, size: int, dtype: npt.DTypeLike) -> Any:
        # Whatever the kernel does not write must not matter.
        return np.full(size, 77, dtype)

    def address(self, held: Any) -> int:
        return int(held.ctypes.data)

    def launch(self, arguments: Any, blocks: int, threads: int) -> None:
        self._launch(self.address(arguments), blocks, threads)

    def download(self, held: Any) -> Array:
        return np.asarray(held)
