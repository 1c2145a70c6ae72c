"""Scheduling pods that belong together as one: gather, try on paper, submit, tell the group."""

from podium.scheduler.engine.pod_groups.group_cycle import PodGroups

__all__ = ["PodGroups"]
