"""Peaks: rather nodes whose power draw rises least with the pod.

A node at a CPU use of u percent draws `k0 + k1 * e^(k2 * u)`; the model of each node is given. The
smallest rise gets 100, the largest 0.

upstream: a node without measurements or a model, or that the pod would fill beyond 100 %, has a
rise of 0, which makes it the best of all. Here such nodes get 0.

Source: `pkg/trimaran/peaks` in `kubernetes-sigs/scheduler-plugins`.
"""

import os
from typing import Final

import msgspec
import numpy as np

from podium.addons.collection.load.load_score import MAX_SCORE, LoadScorePlugin
from podium.addons.collection.load.load_source import LoadArgs
from podium.net.files.bounded_files import read_file
from podium.plugin import ArgumentsError, Cycle, Dependence, Floats, Handle, Ints, NodeTable, Rows

MODEL_VARIABLE: Final = "NODE_POWER_MODEL"
_UNKNOWN: Final = -1
_SCALE: Final = 1e15
_MAX_RISE: Final = 9.2e18 / 2
"""Of a raw score: two of them can be subtracted within an int64."""
_MAX_BITS: Final = 56
"""A number of so many bits can be multiplied by 100 within an int64."""


class PowerModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    k0: float = 0.0
    k1: float = 0.0
    k2: float = 0.0


class Peaks(LoadScorePlugin):
    name = "Peaks"

    class Args(LoadArgs, frozen=True, kw_only=True, rename="camel"):
        node_power_model: dict[str, PowerModel] = msgspec.field(default_factory=dict)
        # upstream: the tags of these two fields are broken, so that they begin with capitals.
        capital_watcher_address: str = msgspec.field(default="", name="WatcherAddress")
        capital_node_power_model: dict[str, PowerModel] = msgspec.field(
            default_factory=dict, name="NodePowerModel"
        )

    args: Args

    def __init__(self, args: Args, handle: Handle) -> None:
        address = args.watcher_address or args.capital_watcher_address
        super().__init__(msgspec.structs.replace(args, watcher_address=address), handle)
        self._models = args.node_power_model or args.capital_node_power_model or _models_of_file()
        self._factors: Floats = np.zeros((2, 0))
        self._factors_for: tuple[int, int] | None = None

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        loads = self.loads(cycle, rows)
        k1, k2 = self._model_columns(cycle.nodes)[:, rows]
        capacity = loads.cpu_capacity_milli
        request = cycle.pod.shape.requests.get("cpu", 0)
        share = np.divide(
            100.0 * request, capacity, out=np.zeros(len(capacity)), where=capacity > 0
        )
        predicted = loads.cpu + share
        with np.errstate(over="ignore", invalid="ignore"):
            rise = _SCALE * k1 * (np.exp(k2 * predicted) - np.exp(k2 * loads.cpu))
        known = ~np.isnan(rise) & (predicted <= 100)
        return np.where(known, np.clip(rise, 0, _MAX_RISE), _UNKNOWN).astype(np.int64)

    def score_depends(self, cycle: Cycle) -> Dependence:
        request = cycle.pod.shape.requests.get("cpu", 0)
        return Dependence(request, usage=False, version=self.column.version)

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:  # noqa: ARG002
        known = scores >= 0
        if not known.any():
            return np.zeros(len(scores), dtype=np.int64)
        lowest, highest = int(scores[known].min()), int(scores[known].max())
        span = max(1, highest - lowest)
        shift = max(0, span.bit_length() - _MAX_BITS)
        cost: Ints = ((scores - lowest) >> shift) * MAX_SCORE // (span >> shift)
        return np.where(known, MAX_SCORE - cost, 0)

    def _model_columns(self, nodes: NodeTable) -> Floats:
        moment = (nodes.membership, nodes.size)
        if moment != self._factors_for:
            unknown = PowerModel(k1=np.nan)
            models = [self._models.get(name, unknown) for name in nodes.names[: nodes.size]]
            self._factors = np.array([[m.k1 for m in models], [m.k2 for m in models]])
            self._factors_for = moment
        return self._factors


def _models_of_file() -> dict[str, PowerModel]:
    """The models of the file that the environment names. Raises ArgumentsError."""
    path = os.environ.get(MODEL_VARIABLE, "")
    field = "args.nodePowerModel"
    if not path:
        remedy = f"write it, or name a file in ${MODEL_VARIABLE}"
        raise ArgumentsError(field, "is missing", remedy)
    try:
        return msgspec.json.decode(read_file(path), type=dict[str, PowerModel])
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise ArgumentsError(
            field, f"{path} (${MODEL_VARIABLE}) cannot be read: {reason}"
        ) from None
    except (msgspec.DecodeError, RecursionError) as problem:
        raise ArgumentsError(field, f"{path} (${MODEL_VARIABLE}): {problem}") from None
