"""DefaultPreemption: pods of lower priority that give way."""

from podium.scheduler.plugins.default_preemption.plugin import DefaultPreemption

__all__ = ["DefaultPreemption"]
