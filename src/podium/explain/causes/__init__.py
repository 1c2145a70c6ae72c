"""Causes of refusals: one file a family of reasons, one table from plugins to them.

`find_causes` is for an attempt, `find_waiting_cause` for a pod that was never tried.
"""

from podium.explain.causes.search import describe_nodes, find_causes, find_filter_causes
from podium.explain.causes.waiting import find_waiting_cause

__all__ = ["describe_nodes", "find_causes", "find_filter_causes", "find_waiting_cause"]
