"""What an expression may cost at worst, worked out before it ever runs.

    declared sizes ─┐
    checked tree ───┴─ estimate_cost ─ units, at most

The units, and every formula, are those of cel-go (`checker/cost.go`) and of Kubernetes' functions
(`apiserver/pkg/cel/library/cost.go`): whether a definition of custom resources is accepted hangs
on the number. Units are saturated at 2^64-1 as upstream's are.
"""

from podium.kubernetes.cel.costs.estimator import estimate_cost
from podium.kubernetes.cel.costs.sizes import (
    MAX_UINT64,
    Declared,
    saturated_product,
    saturated_sum,
    size_of_path,
)

__all__ = [
    "MAX_UINT64",
    "Declared",
    "estimate_cost",
    "saturated_product",
    "saturated_sum",
    "size_of_path",
]
