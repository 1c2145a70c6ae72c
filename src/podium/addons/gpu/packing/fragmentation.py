"""Fragmentation: how much idle GPU of a node typical pods cannot use.

For one typical pod it is all idle GPU if the pod does not fit on the node or asks for no GPU, else
what lies on devices with less left than it asks for. F(n) is the mean over typical pods, in milli.

Two nodes whose F is equal in real numbers must be equal in floating point, or scores differ by one.
So sums are made as upstream makes them: one for each class of outcome, in the order of typical
pods, then the classes in a fixed order.

Source: `NodeGpuShareFragAmount` in `pkg/utils/frag.go` of
`hkust-adsl/kubernetes-scheduler-simulator`. Worked example: with 400 and 1000 left on two devices,
and typical pods of which half ask for 500 of one device and half for CPU alone, F(n) is
0.5 * 400 + 0.5 * 1400 = 900.
"""

import numpy as np

from podium.addons.gpu.cards.columns import Floats, Ints
from podium.addons.gpu.packing.typical_pods import TypicalPods

_MAX_ROWS = 2048
"""Rows worked on at a time, so that temporaries stay in the processor's cache."""


def node_fragmentation(
    cpu_left: Ints,
    left: Ints,
    model_bit: Ints,
    typical: TypicalPods,
    *,
    without_access: bool = True,
) -> Floats:
    """F(n) of each row, in thousandths of a device; on wish only of pods that have access to the
    row's model."""
    if len(cpu_left) <= _MAX_ROWS:
        return _fragmentation(cpu_left, left, model_bit, typical, without_access)
    starts = range(0, len(cpu_left), _MAX_ROWS)
    parts = [slice(start, start + _MAX_ROWS) for start in starts]
    return np.concatenate(
        [
            _fragmentation(cpu_left[part], left[part], model_bit[part], typical, without_access)
            for part in parts
        ]
    )


def _fragmentation(
    cpu_left: Ints, left: Ints, model_bit: Ints, typical: TypicalPods, without_access: bool
) -> Floats:
    idle = left.sum(axis=1)

    # Pods with GPUs: one row for each typical pod, one column for each node.
    some = typical.with_gpus
    sizes, size_of = np.unique(typical.gpu_milli[some], return_inverse=True)
    too_small = left.T[None, :, :] < sizes[:, None, None]
    pieces = (left.T * too_small).sum(axis=1)[size_of]
    large_enough = (left.shape[1] - too_small.sum(axis=1))[size_of]
    gpu_fits = large_enough >= typical.gpus[some, None]
    cpu_fits = cpu_left >= typical.cpu_milli[some, None]
    has_access = (typical.model_mask[some, None] & model_bit) != 0
    weight = typical.frequency[some, None]
    stranded = weight * idle
    too_small_or_idle = np.where(gpu_fits, weight * pieces, stranded)

    # CPU-only pods: no GPU is of use to them, whether or not they fit.
    others = typical.cpu_only
    unused = typical.frequency[others, None] * idle
    served = cpu_left >= typical.cpu_milli[others, None]

    lack_both = _sum_in_order(stranded * (has_access & ~gpu_fits & ~cpu_fits))
    lack_gpu = _sum_in_order(too_small_or_idle * (has_access & cpu_fits))
    lack_cpu = _sum_in_order(stranded * (has_access & gpu_fits & ~cpu_fits))
    total: Floats = lack_both + lack_gpu + lack_cpu
    total = total + _sum_in_order(unused * served) + _sum_in_order(unused * ~served)
    return total + _sum_in_order(stranded * ~has_access) if without_access else total


def _sum_in_order(parts: Floats) -> Floats:
    """Sums of columns from the first row down; `sum` may add in another order."""
    if not len(parts):
        return np.zeros(parts.shape[1])
    sums: Floats = np.add.accumulate(parts, axis=0)[-1]
    return sums
