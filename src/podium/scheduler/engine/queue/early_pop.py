"""Who may be tried before its backoff is over, when nobody else waits.

Everybody may but members of pod groups and pods of which a plugin said so. As no event brings
members back, they are here after every attempt, and upstream tries a group that does not fit over
and over without a pause; a gang whose members wake each other by giving up would do the same.
"""

from collections.abc import Callable

from podium.scheduler.engine.queue.heap import KeyedHeap
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.sort_keys import SortKey


def pop_early(
    backing_off: KeyedHeap[QueuedPod],
    waits_it_out: Callable[[QueuedPod], bool],
    order: Callable[[QueuedPod], SortKey],
) -> QueuedPod | None:
    """Take the first out who need not wait its backoff out."""
    first = backing_off.peek()
    if first is None or not waits_it_out(first):
        return backing_off.pop()
    others = (queued for queued in backing_off if not waits_it_out(queued))
    found = min(others, key=order, default=None)
    return backing_off.remove(found.info.key) if found is not None else None
