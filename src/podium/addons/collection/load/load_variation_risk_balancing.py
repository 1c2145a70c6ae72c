"""LoadVariationRiskBalancing: rather nodes whose load is low and steady.

The risk of a node is the middle between its mean load, with the pod, and the deviation of it; the
resource with the higher risk counts. Worked example: 4000m allocatable, average 50 %, deviation
10 %, a pod of 400m: (0.6 + 0.1) / 2 is a risk of 0.35 and a score of 65.

Source: `pkg/trimaran/loadvariationriskbalancing` in `kubernetes-sigs/scheduler-plugins`.
"""

from typing import Final

import numpy as np

from podium.addons.collection.load.load_score import (
    MAX_SCORE,
    LoadScorePlugin,
    effective_resources,
    round_scores,
)
from podium.addons.collection.load.load_source import LoadArgs
from podium.plugin import CPU, MEMORY, Cycle, Dependence, Floats, Handle, Ints, Rows

_DEFAULT_MARGIN: Final = 1.0
_DEFAULT_SENSITIVITY: Final = 1.0


class LoadVariationRiskBalancing(LoadScorePlugin):
    name = "LoadVariationRiskBalancing"

    class Args(LoadArgs, frozen=True, kw_only=True, rename="camel"):
        safe_variance_margin: float = _DEFAULT_MARGIN
        safe_variance_sensitivity: float = _DEFAULT_SENSITIVITY

    args: Args

    def __init__(self, args: Args, handle: Handle) -> None:
        super().__init__(args, handle)
        # upstream: what is negative is the default.
        margin, sensitivity = args.safe_variance_margin, args.safe_variance_sensitivity
        self._margin = margin if margin >= 0 else _DEFAULT_MARGIN
        self._sensitivity = sensitivity if sensitivity >= 0 else _DEFAULT_SENSITIVITY

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        loads = self.loads(cycle, rows)
        pod = effective_resources(cycle.pod.shape)
        allocatable = cycle.nodes.allocatable
        cpu = self._score(
            loads.cpu, loads.cpu_deviation, pod.cpu_request_milli, allocatable[CPU][rows]
        )
        memory = self._score(
            loads.memory,
            loads.memory_deviation,
            pod.memory_request_bytes,
            allocatable[MEMORY][rows],
        )
        # fmin and not minimum: a resource that nobody measured does not count.
        return round_scores(np.fmin(cpu, memory))

    def score_depends(self, cycle: Cycle) -> Dependence:
        pod = effective_resources(cycle.pod.shape)
        fragment = (pod.cpu_request_milli, pod.memory_request_bytes)
        return Dependence(fragment, usage=False, version=self.column.version)

    def _score(self, percent: Floats, deviation: Floats, request: int, allocatable: Ints) -> Floats:
        """Of one resource; NaN where it was not measured, 0 on a node that has none of it."""
        has_any = allocatable > 0
        asked = np.divide(max(request, 0), allocatable, out=np.zeros(len(percent)), where=has_any)
        mean = np.clip(np.clip(percent / 100, 0, 1) + asked, 0, 1)
        with np.errstate(divide="ignore"):
            root = np.divide(1.0, self._sensitivity)
        spread = np.clip(self._margin * np.clip(deviation / 100, 0, 1) ** root, 0, 1)
        scores = (1 - (mean + spread) / 2) * MAX_SCORE
        return np.where(has_any, scores, 0 * percent)
