"""Many runs at once by the kernel in `packing_kernel.cu`, a thread block for each; the rules of
policies in it are those of `packing_rules.py`.

What the kernel reads and writes is laid out here; where it runs is a `KernelDevice`: a GPU
(`cuda`), or in tests the CPU. Contract: streams, orders of nodes and placements are those of
`make_workload` and `numpy_engine.place`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from podium.addons.gpu.cards.columns import Ints
from podium.addons.gpu.packing import policies
from podium.addons.gpu.packing.node_columns import WHOLE
from podium.addons.gpu.packing.policies import POLICY_NUMBERS, SCORE_THRESHOLDS
from podium.addons.gpu.packing.typical_pods import prices_of
from podium.addons.gpu.study.cuda_source import cuda_rules
from podium.addons.gpu.study.numpy_engine import Placements
from podium.addons.gpu.study.traces import Trace
from podium.addons.gpu.study.workloads import TUNED_RATIO, model_masks, pod_shapes, typical_pods
from podium.golang.errors import InputError
from podium.golang.math_rand import constant_table

THREADS = 256
RULE_CONSTANTS: Final[dict[str, int | float]] = {
    "WHOLE": WHOLE,
    "SCORES": policies.SCORES,
    "MAX_SPEC_CPU": policies.MAX_SPEC_CPU,
    "MAX_SPEC_GPU": policies.MAX_SPEC_GPU,
    "PARTLY_USED_WEIGHT": policies.PARTLY_USED_WEIGHT,
    "RANDOM": policies.RANDOM,
    "DOT_PROD": policies.DOT_PROD,
    "GPU_CLUSTERING": policies.GPU_CLUSTERING,
    "GPU_PACKING": policies.GPU_PACKING,
    "BEST_FIT": policies.BEST_FIT,
    "FGD_STRANDED": policies.FGD_STRANDED,
}
"""What the rules, and the kernel around them, know by name."""
MAX_NODES = 2**20 - 1
_MAX_WORK_BYTES = 8 * 1024**3
"""Work space of the runs that are started together."""

Array = npt.NDArray[Any]
_TRACE = np.dtype(
    [
        *((name, np.int32) for name in ("first_node", "nodes", "first_pod", "pods")),
        *((name, np.int32) for name in ("first_shape", "shapes", "first_typical", "typical")),
        *((name, np.int32) for name in ("devices", "largest_gpus")),
        *((name, np.float64) for name in ("cpu_per_gpu", "needed_cpu_per_gpu", "limit_milli")),
    ],
    align=True,
)


class KernelDevice(Protocol):
    """Where the kernel runs: it holds arrays, which have an address there."""

    def upload(self, array: Array) -> Any: ...
    def allocate(self, size: int, dtype: npt.DTypeLike) -> Any: ...
    def address(self, held: Any) -> int: ...
    def launch(self, arguments: Any, blocks: int, threads: int) -> None: ...
    def download(self, held: Any) -> Array: ...


@dataclass(frozen=True, slots=True)
class KernelRun:
    trace: Trace
    seed: int
    policy: str


@dataclass(frozen=True, slots=True)
class KernelResult:
    stream: Ints
    node_order: Ints
    placements: Placements


def kernel_source() -> str:
    folder = files("podium.addons.gpu.study")
    rules = cuda_rules(folder.joinpath("packing_rules.py").read_text(), RULE_CONSTANTS)
    names = ("packing_workload.cu", "packing_kernel.cu")
    return "\n".join((rules, *(folder.joinpath(name).read_text() for name in names)))


def place_on_device(
    runs: Sequence[KernelRun],
    device: KernelDevice,
    ratio: float = TUNED_RATIO,
    threads: int = THREADS,
) -> Iterator[KernelResult]:
    """The results of runs, in their order."""
    traces = list(dict.fromkeys(run.trace for run in runs))
    if any(len(trace.nodes.names) > MAX_NODES for trace in traces):
        raise InputError(f"more than {MAX_NODES:,} nodes are too many for a GPU")
    columns = {name: device.upload(array) for name, array in _columns(traces, ratio).items()}
    stream = max(_expected_stream(trace, ratio) for trace in traces)
    sizes = _Sizes(
        max(len(trace.nodes.names) for trace in traces),
        max(int(trace.nodes.gpus.max()) for trace in traces),
        max(len(pod_shapes(trace)[0]) for trace in traces),
        stream,
    )
    together = max(1, _MAX_WORK_BYTES // sizes.bytes_per_run)
    for start in range(0, len(runs), together):
        some = runs[start : start + together]
        yield from _place_together(some, traces, columns, sizes, device, threads)


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Of the largest trace; every run gets work space for it."""

    nodes: int
    devices: int
    shapes: int
    stream: int

    @property
    def bytes_per_run(self) -> int:
        return self.nodes * (53 + 4 * self.devices + 7 * self.shapes) + 20 * self.stream


def _place_together(
    runs: Sequence[KernelRun],
    traces: Sequence[Trace],
    columns: dict[str, Any],
    sizes: _Sizes,
    device: KernelDevice,
    threads: int,
) -> Iterator[KernelResult]:
    number_of = {trace: number for number, trace in enumerate(traces)}
    held = dict(columns)
    for name, values in (
        ("run_traces", [number_of[run.trace] for run in runs]),
        ("run_seeds", [run.seed for run in runs]),
        ("run_policies", [POLICY_NUMBERS[run.policy] for run in runs]),
    ):
        held[name] = device.upload(np.array(values, np.int32))
    nodes, pods = len(runs) * sizes.nodes, len(runs) * sizes.stream
    work: dict[str, tuple[int, npt.DTypeLike]] = {
        **dict.fromkeys(("cpu", "memory", "gpus", "tags", "changes"), (nodes, np.int32)),
        "left": (nodes * sizes.devices, np.int32),
        "model_bit": (nodes, np.int64),
        **dict.fromkeys(("price", "node_fragments"), (nodes, np.float64)),
        "feasible": (nodes, np.uint8),
        "seen": (nodes * sizes.shapes, np.int32),
        "scores": (nodes * sizes.shapes, np.int16),
        "score_devices": (nodes * sizes.shapes, np.int8),
        "lengths": (len(runs), np.int32),
        "orders": (nodes, np.int32),
        **dict.fromkeys(("streams", "rows", "devices"), (pods, np.int32)),
        "fragments": (pods, np.float64),
    }
    held |= {name: device.allocate(size, dtype) for name, (size, dtype) in work.items()}
    numbers = {
        "max_nodes": sizes.nodes,
        "max_devices": sizes.devices,
        "max_shapes": sizes.shapes,
        "max_stream": sizes.stream,
    }
    arguments = [
        numbers[name] if name in numbers else device.address(held[name]) for name in _ARGUMENTS
    ]
    device.launch(device.upload(np.array(arguments, np.uint64)), len(runs), threads)
    lengths = device.download(held["lengths"])
    if (lengths < 0).any():
        raise InputError("the pods of a stream are more than expected for its demand of GPUs")
    found = {
        name: device.download(held[name]).reshape(len(runs), -1)
        for name in ("orders", "streams", "rows", "devices", "fragments")
    }
    for number, (run, length) in enumerate(zip(runs, lengths.tolist(), strict=True)):
        yield KernelResult(
            found["streams"][number, :length].astype(np.int64),
            found["orders"][number, : len(run.trace.nodes.names)].astype(np.int64),
            Placements(
                *(found[name][number, :length] for name in ("rows", "devices", "fragments"))
            ),
        )


def _columns(traces: Sequence[Trace], ratio: float) -> dict[str, Array]:
    """The columns of all traces, one trace after the other."""
    typical = [typical_pods(trace) for trace in traces]
    prices = [
        prices_of(trace.nodes.model_bit, pods.model_prices)
        for trace, pods in zip(traces, typical, strict=True)
    ]
    shapes = [pod_shapes(trace) for trace in traces]

    def join(parts: Sequence[Array], dtype: npt.DTypeLike) -> Array:
        return np.concatenate(parts).astype(dtype)

    return {
        "traces": _trace_rows(traces, ratio).view(np.uint8),
        "node_cpu": join([trace.nodes.cpu_milli for trace in traces], np.int32),
        "node_memory": join([trace.nodes.memory_mib for trace in traces], np.int32),
        "node_gpus": join([trace.nodes.gpus for trace in traces], np.int32),
        "node_model_bit": join([trace.nodes.model_bit for trace in traces], np.int64),
        "node_price": join(prices, np.float64),
        "pod_memory": join([trace.pods.memory_mib for trace in traces], np.int32),
        "pod_shape": join([shape_of for _, shape_of in shapes], np.int32),
        "pod_model_mask": join([model_masks(trace) for trace in traces], np.int64),
        "shape_cpu": join([shape[:, 0] for shape, _ in shapes], np.int32),
        "shape_milli": join([shape[:, 1] for shape, _ in shapes], np.int32),
        "shape_gpus": join([shape[:, 2] for shape, _ in shapes], np.int32),
        "typical_cpu": join([pods.cpu_milli for pods in typical], np.int32),
        "typical_milli": join([pods.gpu_milli for pods in typical], np.int32),
        "typical_gpus": join([pods.gpus for pods in typical], np.int32),
        "typical_model_mask": join([pods.model_mask for pods in typical], np.int64),
        "typical_frequency": join([pods.frequency for pods in typical], np.float64),
        "random_table": constant_table(),
        "thresholds": SCORE_THRESHOLDS,
    }


def _trace_rows(traces: Sequence[Trace], ratio: float) -> Array:
    rows = np.zeros(len(traces), _TRACE)
    counts = (
        ("first_node", "nodes", [len(trace.nodes.names) for trace in traces]),
        ("first_pod", "pods", [len(trace.pods.names) for trace in traces]),
        ("first_shape", "shapes", [len(pod_shapes(trace)[0]) for trace in traces]),
        ("first_typical", "typical", [len(typical_pods(trace).frequency) for trace in traces]),
    )
    for first, count, values in counts:
        rows[first] = np.cumsum([0, *values[:-1]])
        rows[count] = values
    rows["devices"] = [int(trace.nodes.gpus.max()) for trace in traces]
    rows["largest_gpus"] = [typical_pods(trace).largest_gpus for trace in traces]
    rows["cpu_per_gpu"] = [typical_pods(trace).cpu_per_gpu for trace in traces]
    rows["needed_cpu_per_gpu"] = [typical_pods(trace).needed_cpu_per_gpu for trace in traces]
    rows["limit_milli"] = [ratio * trace.nodes.gpu_milli for trace in traces]
    return rows


def _expected_stream(trace: Trace, ratio: float) -> int:
    """More pods than a stream will have, up to unheard-of luck in drawing."""
    demand = trace.pods.demand_milli
    missing = max(0.0, ratio * trace.nodes.gpu_milli - float(demand.sum()))
    drawn = missing / demand.mean() if demand.any() else 0.0
    return len(demand) + int(1.5 * drawn) + 1000


def _argument_names(source: str) -> list[str]:
    """Names of the kernel's arguments, in the order in which its struct has them."""
    text = source[source.index("typedef struct {\n    const Trace *traces;") :]
    lines = text[: text.index("} Arguments;")].splitlines()[1:]
    declared = " ".join(line for line in lines if not line.strip().startswith("/*"))
    names = [name for part in declared.split(";") for name in part.split(",")]
    return [name.split()[-1].lstrip("*") for name in names if name.strip()]


_ARGUMENTS = _argument_names(kernel_source())
