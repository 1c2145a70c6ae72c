"""Who hears what a scheduler does: events for people, figures for dashboards, lines on a screen."""

import logging
from typing import Final, Protocol

from podium.engine import Attempt
from podium.engine.binding import Binding
from podium.engine.requests import Event
from podium.framework.status import Status

_LOG: Final = logging.getLogger("podium.live")


class Listener(Protocol):
    def attempted(self, attempt: Attempt, seconds: float) -> None:
        """An attempt has ended, after so much time of the scheduling loop."""

    def happened(self, event: Event) -> None:
        """There is an event that people are to read."""

    def bound(self, binding: Binding, problem: Status | None) -> None:
        """A binding cycle has ended; None: well."""


class Audience:
    """Several listeners. One that breaks is that listener's trouble: scheduling goes on."""

    def __init__(self, *listeners: Listener) -> None:
        self._listeners = listeners

    def attempted(self, attempt: Attempt, seconds: float) -> None:
        for each in self._listeners:
            try:
                each.attempted(attempt, seconds)
            except Exception:
                _broke(each)

    def happened(self, event: Event) -> None:
        for each in self._listeners:
            try:
                each.happened(event)
            except Exception:
                _broke(each)

    def bound(self, binding: Binding, problem: Status | None) -> None:
        for each in self._listeners:
            try:
                each.bound(binding, problem)
            except Exception:
                _broke(each)


def _broke(listener: Listener) -> None:
    _LOG.exception("%s, which listens to the scheduler, broke", type(listener).__name__)
