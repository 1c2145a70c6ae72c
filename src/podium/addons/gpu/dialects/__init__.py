"""The ways in which agents on nodes and their schedulers speak of cards.

A dialect knows what resources are called, where an agent registers its cards, and what has to stand
on a pod when it is bound. It knows nothing of which card is chosen.
"""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from podium.addons.gpu.dialects.dialect import Dialect

DIALECTS: Final[dict[str, str]] = {
    "gpu-manager": "gpu_manager:GPUManager",
    "gpu-scheduler": "gpu_manager:GPUScheduler",
    "gpushare": "gpushare:GPUShareGiB",
    "gpushare-mib": "gpushare:GPUShareMiB",
    "hami": "hami:HAMi",
    "vgpu-manager": "vgpu_manager:VGPUManager",
}
"""Where the class of a dialect stands, by the dialect's name: `module:Class` below this package."""


class UnknownDialect(ValueError):
    """No dialect has the name; the message says which there are."""


@cache
def find_dialect(name: str) -> "Dialect":
    """The dialect of a name; UnknownDialect if there is none."""
    place = DIALECTS.get(name)
    if place is None:
        known = ", ".join(sorted(DIALECTS))
        raise UnknownDialect(f"no GPU dialect is called {name!r}; there are {known}")
    module, _, cls = place.partition(":")
    dialect: Dialect = getattr(import_module(f"{__name__}.{module}"), cls)()
    return dialect
