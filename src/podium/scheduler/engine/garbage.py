"""How a process that holds a cluster looks for garbage.

What an attempt leaves behind is freed by reference counts as soon as nobody holds it. The collector
finds next to nothing, and to find it walks through every object that has come since the last look:
with Python's settings a tenth of the time of a pod, and pauses of seconds once a large cluster is
loaded. So what has been loaded is put aside, and the rest is looked at seldom.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (50_000, 20, 50)
"""Look after so many new objects; at older ones after so many looks at younger ones."""


@contextmanager
def pause_collection() -> Iterator[None]:
    """While a cluster is read and built: all of it is kept, so that looking is in vain."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def put_aside() -> Iterator[None]:
    """While a command reads what it needs to its end: nobody looks at that again
    before `gc.unfreeze`."""
    with pause_collection():
        yield
        gc.freeze()


@contextmanager
def seldom_collected() -> Iterator[None]:
    """While a driver works: enter when the cluster is loaded."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
