"""SchedulingGates: pods that wait until somebody removes their gates."""

from podium.scheduler.plugins.scheduling_gates.plugin import SchedulingGates

__all__ = ["SchedulingGates"]
