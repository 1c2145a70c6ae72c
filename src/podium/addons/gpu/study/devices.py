"""What a study's runs can be done with, and whether it is installed."""

from importlib.util import find_spec
from typing import Literal

from podium.golang.errors import InputError

DeviceName = Literal["numpy", "numba", "cuda"]


def require_installed(device: DeviceName) -> None:
    """Raises InputError."""
    package, extra = {"numba": ("numba", "study"), "cuda": ("cupy", "study-cuda")}.get(
        device, ("numpy", "")
    )
    if not find_spec(package):
        raise InputError(f"{package} is not installed", remedy=f"pip install 'podium[{extra}]'")
