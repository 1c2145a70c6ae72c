"""The time of day as a scheduler needs it."""

import time
from collections.abc import Callable


def steady_wall() -> Callable[[], float]:
    """Seconds since 1970 that never go back, whatever becomes of the machine's clock."""
    offset = time.time() - time.monotonic()
    return lambda: offset + time.monotonic()
