"""Deciding: the scheduling cycle, the binding cycle, choices among equals, decision records."""

from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.scheduler import Attempt, Engine, UnknownProfileError

__all__ = ["Attempt", "Decision", "Engine", "UnknownProfileError"]
