"""The scheduling queue: who is tried next, who waits for time, who waits for an event."""

from podium.scheduler.engine.queue.queue import SchedulingQueue

__all__ = ["SchedulingQueue"]
