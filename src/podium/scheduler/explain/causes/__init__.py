"""Causes of refusals: one file a family of reasons, one table from plugins to them.

`find_filter_causes` asks why no node passes, while the cluster is as the search saw it;
`find_causes` says why an attempt failed, `find_waiting_cause` why a pod is not tried at all.
"""

from podium.scheduler.explain.causes.refusals import find_waiting_cause
from podium.scheduler.explain.causes.search import (
    describe_nodes,
    find_broken_filter,
    find_causes,
    find_filter_causes,
)

__all__ = [
    "describe_nodes",
    "find_broken_filter",
    "find_causes",
    "find_filter_causes",
    "find_waiting_cause",
]
