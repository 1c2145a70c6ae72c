"""How long code of a user's may take before it is interrupted.

A plugin that loops for ever would stop the scheduler for every pod. So each call into one has a
time; when that is over, an exception is raised in the plugin, which ends that call alone. One timer
of the process serves all calls: it is set when a call begins and none is running, and looks at the
call that it finds when it fires. A call costs two looks at the clock, and a timer is set at most
once in the time that a call may take.

Contract: the exception is raised in the user's own code, or in what that calls of others, never in
the middle of Podium's, whose state must stay whole. Only the main thread has a limit, for signals
are handled there. What catches every exception, or waits in code that is not Python, cannot be
ended; the log then names it.
"""

import atexit
import logging
import signal
import sysconfig
import threading
from collections.abc import Callable
from time import monotonic, sleep
from types import FrameType
from typing import Any, Final, TypeVar

from podium.scheduler.framework.faults import TookTooLong, place_of

DEFAULT_LIMIT_S: Final = 5.0
LOADING_FACTOR: Final = 12
"""Importing and building a plugin happens once, and may read files and large libraries."""
OPTION: Final = "--plugin-timeout"
_MIN_LIMIT_S: Final = 0.01
_AGAIN_S: Final = 0.01
"""Until the next try, where the one before found Podium's own code at work or was caught."""
_DEBUGGERS: Final = frozenset({"bdb", "pdb", "ipdb", "pudb", "pydevd", "debugpy"})
_LIBRARIES: Final = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})
_LOG: Final = logging.getLogger("podium.user_code")
_MAIN: Final = threading.main_thread().ident

R = TypeVar("R")


class Interrupted(BaseException):
    """Raised in a user's code. No `Exception`, so that handlers of errors let it pass."""


class _Call:
    """One call that is under way; `module` is where its code lives, `within` the call that it was
    made in."""

    __slots__ = ("begun", "deadline", "limit_s", "module", "subject", "told", "what", "within")

    def __init__(
        self, subject: str, what: str, module: str, limit_s: float, within: "_Call | None"
    ) -> None:
        self.subject = subject
        self.what = what
        self.module = module
        self.limit_s = limit_s
        self.within = within
        self.begun = monotonic()
        self.deadline = self.begun + limit_s
        self.told = False

    def end(self) -> None:
        """The time of this call does not count for the one that it was made in."""
        if self.within is not None:
            self.within.deadline += monotonic() - self.begun


class _Timer:
    """The limit of this process, the call under way, and the timer that looks at it."""

    def __init__(self) -> None:
        self.limit_s = DEFAULT_LIMIT_S
        self.call: _Call | None = None
        self.ended = 0
        self._fires_at = 0.0
        self._watchdog: threading.Thread | None = None

    def require(self, now: float) -> None:
        """It fires at some time from now on; from then on it keeps itself going."""
        if self._fires_at > now:
            return
        if signal.getsignal(signal.SIGALRM) != self._fire:
            signal.signal(signal.SIGALRM, self._fire)
            # Python lets go of its handlers before it ends, and an alarm then ends the process.
            atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)
        self._set(now, self.limit_s)
        if self._watchdog is None:
            self._watchdog = threading.Thread(target=self._watch, name="plugin-time", daemon=True)
            self._watchdog.start()

    def _set(self, now: float, seconds: float) -> None:
        self._fires_at = now + seconds
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def _fire(self, _: int, frame: FrameType | None) -> None:
        call, now = self.call, monotonic()
        if call is None:
            self._fires_at = 0.0
        elif now < call.deadline:
            self._set(now, max(call.deadline - now, _MIN_LIMIT_S))
        elif _is_debugged(frame):
            call.deadline = now + call.limit_s
            self._set(now, call.limit_s)
        else:
            self._set(now, _AGAIN_S)
            if _is_of(call.module, frame):
                raise Interrupted

    def _watch(self) -> None:
        """Beside the main thread, which may not get to handle its signals."""
        while True:
            sleep(self.limit_s or DEFAULT_LIMIT_S)
            call, now = self.call, monotonic()
            if call is None or call.told or now < call.deadline + call.limit_s:
                continue
            call.told = True
            _LOG.error(
                "%s: %s has taken %.0f s where it may take %g s, and cannot be interrupted: "
                "everything waits for it. It catches every exception, or waits in code that is not "
                "Python",
                *(call.subject, call.what, now - call.begun, call.limit_s),
            )


_TIMER: Final = _Timer()


def limit_calls(seconds: float) -> None:
    """From now on calls into users' code may take so long; 0 for as long as they like."""
    _TIMER.limit_s = max(seconds, _MIN_LIMIT_S) if seconds > 0 else 0.0


def count_ended_calls() -> int:
    """How many calls of this process were ended so far."""
    return _TIMER.ended


def call_limited(
    subject: str,
    what: str,
    module: str,
    function: Callable[..., R],
    args: tuple[Any, ...] = (),
    named: dict[str, Any] | None = None,
    factor: int = 1,
) -> R:
    """What a function of `subject`'s answers; raises TookTooLong when it does not in time.

    A call that the subject makes to itself is a part of the one that is under way.
    """
    timer = _TIMER
    within = timer.call
    if (
        not timer.limit_s
        or threading.get_ident() != _MAIN
        or (within is not None and within.subject == subject)
    ):
        return function(*args, **(named or {}))
    call = _Call(subject, what, module, timer.limit_s * factor, within)
    timer.require(call.begun)
    timer.call = call
    try:
        return function(*args, **(named or {}))
    except Interrupted as late:
        timer.ended += 1
        place = place_of(late)
    finally:
        call.end()
        timer.call = within
    # Raised out here, so that it does not hold the frames of the call that was interrupted.
    where = f" ({place})" if place else ""
    raise TookTooLong(
        f"{what} of {subject} took longer than {call.limit_s:g}s{where}:"
        f" make it quicker, or allow it more with {OPTION}"
    )


def _is_debugged(frame: FrameType | None) -> bool:
    """Whether somebody sits before a debugger, who may take as long as he likes."""
    while frame is not None:
        if _root(frame.f_globals.get("__name__")) in _DEBUGGERS:
            return True
        frame = frame.f_back
    return False


def _is_of(module: str, frame: FrameType | None) -> bool:
    """Whether the code at work was called by the user's rather than by Podium's."""
    root = _root(module)
    while frame is not None:
        name = _root(frame.f_globals.get("__name__"))
        if name == "podium":
            return False
        if name == root or not _is_library(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False


def _is_library(filename: str) -> bool:
    return filename.startswith(("<", *_LIBRARIES))


def _root(module: object) -> str:
    return str(module).partition(".")[0]
