"""A GPU as the place where the study's kernel runs, by CuPy: an extra, `podium[study-cuda]`."""

from typing import Any

import cupy
import numpy as np
import numpy.typing as npt

from podium.addons.gpu.study.kernel_engine import Array, kernel_source
from podium.golang.errors import InputError


class CudaDevice:
    """The first GPU. The kernel is compiled when the device is made, and cached by CuPy."""

    def __init__(self) -> None:
        try:
            cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError as problem:
            raise InputError(f"no GPU can be used: {problem}") from None
        # Fused operations round once where the CPU rounds twice, and scores would differ.
        options = ("--fmad=false", "--std=c++14")
        self._kernel = cupy.RawKernel(kernel_source(), "run_study", options=options)
        self._kernel.compile()
        self.kernel_s = 0.0
        """Time in kernels so far, by the GPU's own clock."""

    @property
    def name(self) -> str:
        return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())

    def upload(self, array: Array) -> Any:
        return cupy.asarray(np.ascontiguousarray(array))

    def allocate(self, size: int, dtype: npt.DTypeLike) -> Any:
        return cupy.empty(size, dtype)

    def address(self, held: Any) -> int:
        return int(held.data.ptr)

    def launch(self, arguments: Any, blocks: int, threads: int) -> None:
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        self._kernel((blocks,), (threads,), (arguments,))
        end.record()
        end.synchronize()
        self.kernel_s += cupy.cuda.get_elapsed_time(start, end) / 1000

    def download(self, held: Any) -> Array:
        return np.asarray(cupy.asnumpy(held))
