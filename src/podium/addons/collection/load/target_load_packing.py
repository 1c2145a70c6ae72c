"""TargetLoadPacking: fill nodes up to a target of CPU use, and avoid those beyond it.

What a pod will use is guessed from its limits, or from its requests times 1.5. Pods that were bound
too late to be in the measurements are guessed as well.

upstream: a pod counts as bound when the plugin hears of it, which after a restart is now, for all
of them; here the pod's own condition PodScheduled says when.

Worked example: target 40; a predicted use of 20 % scores (100-40)*20/40+40 = 70, one of 50 % scores
40*(100-50)/(100-40) = 33. Source: `pkg/trimaran/targetloadpacking` in
`kubernetes-sigs/scheduler-plugins`.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Final
from weakref import WeakKeyDictionary

import msgspec
import numpy as np
from msgspec import Meta

from podium.addons.collection.load.load_score import (
    MAX_SCORE,
    LoadScorePlugin,
    PodColumns,
    round_scores,
)
from podium.addons.collection.load.load_source import LoadArgs, Loads
from podium.kubernetes.kinds.meta import Quantity
from podium.kubernetes.kinds.pod import Container, ResourceRequirements
from podium.kubernetes.rules.quantity import QuantityError, milli_value
from podium.kubernetes.rules.timestamps import seconds_of
from podium.plugin import (
    ArgumentsError,
    Cycle,
    Dependence,
    Floats,
    Handle,
    Ints,
    PodInfo,
    PodShape,
    Rows,
)

_DEFAULT_TARGET: Final = 40
_DEFAULT_CPU: Final = "1000m"
_REPORTING_S: Final = 60.0
"""How long it takes until a pod shows in the measurements."""


class TargetLoadPacking(LoadScorePlugin):
    name = "TargetLoadPacking"

    class Args(LoadArgs, frozen=True, kw_only=True, rename="camel"):
        target_utilization: Annotated[int, Meta(le=100)] = _DEFAULT_TARGET
        default_requests: dict[str, Quantity] = msgspec.field(
            default_factory=lambda: {"cpu": _DEFAULT_CPU}
        )
        default_requests_multiplier: str = "1.5"

    args: Args

    def __init__(self, args: Args, handle: Handle) -> None:
        super().__init__(args, handle)
        # upstream: a target of 0 or less is the default.
        self._target = args.target_utilization if args.target_utilization > 0 else _DEFAULT_TARGET
        self._multiplier = _multiplier(args.default_requests_multiplier)
        try:
            self._default_milli = milli_value(args.default_requests.get("cpu", 0))
        except QuantityError as problem:
            raise ArgumentsError("args.defaultRequests.cpu", str(problem)) from None
        self._predicted: WeakKeyDictionary[PodShape, int] = WeakKeyDictionary()
        self._latest = PodColumns(lambda: handle.cluster.usage, 1, _latest_binding)

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        loads = self.loads(cycle, rows)
        capacity = loads.cpu_capacity_milli
        added = self.predict(cycle.pod.shape) + self._predict_unmeasured(cycle, rows)
        share = np.divide(100 * added, capacity, out=np.zeros(len(capacity)), where=capacity > 0)
        use = np.where(capacity > 0, loads.cpu, 0 * loads.cpu) + share
        target = float(self._target)
        below = (MAX_SCORE - target) * use / target + target
        beyond = target * (100 - use) / (100 - target) if target < 100 else np.zeros(len(use))
        return round_scores(np.where(use <= target, below, np.where(use <= 100, beyond, 0.0 * use)))

    def score_row(self, cycle: Cycle, row: int) -> int:
        measured, capacity = self._loads.of_row(self.column, cycle.nodes, row)
        if math.isnan(measured):
            return 0
        since = self._unmeasured_since()
        pods = (pod for pod in cycle.usage.pods(row) if bound_at(pod) > since)
        added = self.predict(cycle.pod.shape) + sum(self.predict(pod.shape) for pod in pods)
        use = measured + 100 * added / capacity if capacity > 0 else 0.0
        target = float(self._target)
        if use <= target:
            score = (MAX_SCORE - target) * use / target + target
        else:
            score = target * (100 - use) / (100 - target) if use <= 100 else 0.0
        return math.floor(min(max(score, 0.0), MAX_SCORE) + 0.5)

    def score_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(self.predict(cycle.pod.shape), usage=True, version=self.column.version)

    def predict(self, shape: PodShape) -> int:
        """The milli-cores that a pod of a shape will use."""
        found = self._predicted.get(shape)
        if found is None:
            spec = shape.first.spec
            overhead = milli_value((spec.overhead or {}).get("cpu", 0))
            found = sum(map(self._of_container, spec.containers or ())) + overhead
            self._predicted[shape] = found
        return found

    def _of_container(self, container: Container) -> int:
        written = container.resources or ResourceRequirements()
        limits, requests = written.limits or {}, written.requests or {}
        if "cpu" in limits:
            return milli_value(limits["cpu"])
        if "cpu" in requests:
            return math.floor(milli_value(requests["cpu"]) * self._multiplier + 0.5)
        return self._default_milli

    def _predict_unmeasured(self, cycle: Cycle, rows: Rows) -> Floats:
        """What pods will use that are not in the measurements yet."""
        latest = self._latest.of(cycle.usage, rows)[0]
        since = self._unmeasured_since()
        missing = np.zeros(len(latest))
        numbers = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
        for position in np.flatnonzero(latest > since).tolist():
            missing[position] = sum(
                self.predict(pod.shape)
                for pod in cycle.usage.pods(int(numbers[position]))
                if bound_at(pod) > since
            )
        return missing

    def _unmeasured_since(self) -> float:
        """From when on pods may be missing in the measurements; without any, nobody counts."""
        loads = self.column.value
        return loads.window_end - _REPORTING_S if isinstance(loads, Loads) else math.inf


def bound_at(pod: PodInfo) -> float:
    """When a pod was bound, in seconds since 1970; infinite while it is on its way. One that runs
    and does not say since when has run for long."""
    status = pod.pod.status
    told = next((c.last_transition_time for c in status.conditions or () if _is_bound(c)), None)
    try:
        return seconds_of(told or status.start_time or "")
    except ValueError:
        return 0.0 if status.phase == "Running" else math.inf


def _is_bound(condition: object) -> bool:
    kind, status = getattr(condition, "type", ""), getattr(condition, "status", "")
    return kind == "PodScheduled" and status == "True"


def _latest_binding(pods: Sequence[PodInfo]) -> tuple[float]:
    return (max(map(bound_at, pods), default=0.0),)


def _multiplier(written: str) -> float:
    try:
        found = float(written)
    except ValueError:
        found = math.nan
    if not (math.isfinite(found) and found >= 0):
        raise ArgumentsError("args.defaultRequestsMultiplier", f'"{written}" is no number')
    return found
