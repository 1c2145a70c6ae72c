"""The GPU extender: shares of cards for schedulers that ask over HTTP.

    cluster_view        what is known of the cluster, and the time
    watching            keeps the view true
    feasibility         which nodes a pod fits, and why not the others
    gpu_extender        filter, prioritize, bind, preempt
    predicates          the older wiring: decided and written while filtering
    decision_writing    decisions and bindings as API writes, and how they are taken back
    node_locking        locks on nodes, for dialects that have them
    housekeeping        what time brings: doubts cleared up, leftovers removed
    quotas, resource_quotas     what a namespace may use
    inspection, card_metrics    what people look at
    application         all of it behind HTTP

The rules of allocation are `podium.addons.gpu`'s. Contract: everything runs in one event loop, and
between looking at the ledger and reserving in it nobody else has a turn.
"""

from typing import Final

PREEMPTION_THRESHOLD_PERCENT: Final = 50
"""Victims are taken from nodes only that have so much of their cores or memory in use."""
