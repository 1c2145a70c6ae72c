"""GangScheduling: pods of a group that start together or not at all."""

from podium.scheduler.plugins.gang_scheduling.plugin import GangScheduling

__all__ = ["GangScheduling"]
