"""How often a process that keeps a cluster in memory looks for garbage.

Python's collector goes through all that is new after every 700 objects, and now and then through
everything. A scheduler holds hundreds of thousands of objects that stay, and makes some hundred for
every pod that are gone by themselves: looking so often cost it an eighth of its time.
"""

import gc
from typing import Final

_YOUNG: Final = 20_000
"""So many more objects made than gone, before the new ones are gone through."""
_ROUNDS: Final = 20


def settle() -> None:
    """What is there now, stays: it is not looked at again, and what is new less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _ROUNDS, _ROUNDS)
