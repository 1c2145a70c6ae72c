"""What a controller is: what wakes it, and what it plans for one key at a time.

Whoever runs controllers gives them stores, wakes them when the stores change, and carries their
plans out: the simulated cluster through an API server, the simulator in memory.
"""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from podium.kubernetes.controllers.actions import Plan
from podium.kubernetes.rules.timestamps import Moment

Wake = Callable[[Any], None]
"""Given a key, makes its controller look at it."""


class Controller(Protocol):
    """Decides for one key at a time, from what the stores say."""

    name: str

    def watch(self, wake: Wake) -> None:
        """Listen to the stores that matter; called once."""

    def plan(self, key: Any, moment: Moment) -> Plan: ...


@runtime_checkable
class FailureReporter(Protocol):
    """A controller that reports in Events and in the status of its objects what was refused."""

    def plan_after_failure(self, key: Any, problem: Exception, moment: Moment) -> Plan:
        """What to write after a refusal. Contract: a refusal that lasts changes the status once,
        whatever its text; the write wakes the controller, which would be refused again at once."""
