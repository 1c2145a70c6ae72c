"""The GPU extender: shares of cards for schedulers that ask over HTTP.

    cluster_view    what is known of the cluster, quotas and the time
    gpu_extender    filter, prioritize, bind, preempt; the older wiring; which nodes a pod fits
    preemption      whom to evict
    deciding        a decision on its way: writes, bindings, locks on nodes
    application     all of it behind HTTP, kept true, with what people look at

The rules of allocation are `podium.addons.gpu`'s. Contract: everything runs in one event loop, and
between looking at the ledger and reserving in it nobody else has a turn.
"""

from typing import Final

PREEMPTION_THRESHOLD_PERCENT: Final = 50
"""Victims are taken from nodes only that have so much of their cores or memory in use."""
