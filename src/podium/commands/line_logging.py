"""Log records of commands that log as Python programs do: a record is a line, whatever is in it.

The log of `podium run` has the form of Kubernetes components
(`podium.commands.processes.kube_log`).
"""

import logging
import sys
from typing import Final

from podium.commands.printing import indent_lines
from podium.golang.quoting import escape_unprintable

_FORMAT: Final = "%(asctime)s %(levelname)s %(message)s"


class LineFormatter(logging.Formatter):
    """A record is one line, and tracebacks below it are indented."""

    def format(self, record: logging.LogRecord) -> str:
        record.message = escape_unprintable(record.getMessage())
        if self.usesTime():
            record.asctime = self.formatTime(record, self.datefmt)
        lines = [self.formatMessage(record)]
        if record.exc_info:
            told = self.formatException(record.exc_info)
            lines += map(escape_unprintable, indent_lines(told))
        return "\n".join(lines)


def start_logging(level: int) -> None:
    """Records of every logger on standard error, from a level on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter(_FORMAT))
    logging.basicConfig(level=level, handlers=[handler])


def silence_web_server() -> None:
    """Keep what uvicorn has to say of clients and of stopping to itself; only an exception that
    nobody caught is for people."""
    logging.getLogger("uvicorn.error").addFilter(_has_traceback)


def _has_traceback(record: logging.LogRecord) -> bool:
    return bool(record.exc_info)


def guard_last_resort() -> None:
    """Where no logging was started Python prints warnings itself, and those are lines as well."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(LineFormatter())
