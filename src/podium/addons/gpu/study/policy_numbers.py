"""Numbers of the policies that compiled loops know; `packing_kernel.cu` has the same ones."""

from typing import Final

RANDOM, DOT_PROD, GPU_CLUSTERING, GPU_PACKING, BEST_FIT, FGD, FGD_STRANDED = range(7)

POLICY_NUMBERS: Final = {
    "Random": RANDOM,
    "DotProd": DOT_PROD,
    "GpuClustering": GPU_CLUSTERING,
    "GpuPacking": GPU_PACKING,
    "BestFit": BEST_FIT,
    "FGD": FGD,
    "FGDStranded": FGD_STRANDED,
}
