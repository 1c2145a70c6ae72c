"""Log lines in the form of Kubernetes components, so that what parses theirs parses Podium's.

Text is klog's: `E1115 12:00:00.000000    1234 run.py:72] "command failed" err="..."`, one letter
for the severity, and quoted messages with keys and values, or plain text where upstream has that.
JSON is what `--logging-format=json` gives. Errors and warnings go to standard error, and so does
everything else unless the streams are to be split.

A record begins a line and further lines of it begin with a tab, whatever pods, servers and
extenders are called or say (`podium.golang.quoting`).
"""

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

from podium.golang.quoting import escape_unprintable, go_quote
from podium.golang.yaml_writer import escape_in_json
from podium.scheduler.config.flags.option_checks import JSON
from podium.scheduler.config.flags.options import LogFlags
from podium.scheduler.framework.log import ObjectRef

_LETTERS: Final = {logging.INFO: "I", logging.WARNING: "W", logging.ERROR: "E"}
_DEBUG_FROM: Final = 4
"""The verbosity at which what only helps to find bugs is told."""


class KubeLog:
    """What there is to say while a scheduler starts and runs."""

    def __init__(self, logs: LogFlags | None = None) -> None:
        """The log as flags ask for it; without them as klog starts out."""
        in_json = logs is not None and logs.logging_format == JSON
        self.verbosity = 0 if logs is None else logs.v
        self._logger = logging.Logger("podium", logging.INFO)
        self._on_verbosity: Callable[[int], None] = lambda _: None
        formatter = _JsonLine() if in_json else _TextLine()
        split = logs is not None and (
            logs.log_json_split_stream if in_json else logs.log_text_split_stream
        )
        if split:
            lowest = logging.ERROR if in_json else logging.WARNING
            information = logging.StreamHandler(sys.stdout)
            information.addFilter(lambda record: record.levelno < lowest)
            self._add(information, formatter)
            rest = logging.StreamHandler(sys.stderr)
            rest.setLevel(lowest)
            self._add(rest, formatter)
        else:
            self._add(logging.StreamHandler(sys.stderr), formatter)

    @contextmanager
    def taking_over(self, name: str) -> Iterator[None]:
        """Lines of another logger come out here for as long as the context."""
        other = logging.getLogger(name)
        before = (other.level, other.propagate)
        other.setLevel(logging.DEBUG if self.verbosity >= _DEBUG_FROM else logging.INFO)
        other.propagate = False
        for handler in self._logger.handlers:
            other.addHandler(handler)
        try:
            yield
        finally:
            for handler in self._logger.handlers:
                other.removeHandler(handler)
            other.level, other.propagate = before

    def set_verbosity(self, verbosity: int) -> None:
        """Tell more or less from now on."""
        self.verbosity = verbosity
        self._on_verbosity(verbosity)

    def on_verbosity(self, listener: Callable[[int], None]) -> None:
        """Have somebody told of the verbosity, now and whenever it changes; whoever was told
        before is not any more."""
        self._on_verbosity = listener
        listener(self.verbosity)

    def info(self, message: str, *, v: int = 0, **fields: Any) -> None:
        """A message with keys and values, if the verbosity is at least `v`."""
        if v <= self.verbosity:
            self._say(logging.INFO, message, fields, v)

    def error(self, message: str, **fields: Any) -> None:
        self._say(logging.ERROR, message, fields, 0)

    def note(self, text: str, *, v: int = 0) -> None:
        """Plain text, if the verbosity is at least `v`."""
        if v <= self.verbosity:
            self._say(logging.INFO, text, None, v)

    def lines(self, text: Sequence[str], *, v: int = 0) -> None:
        """Plain text of several lines, if the verbosity is at least `v`; each must begin in a way
        in which no record does."""
        if v <= self.verbosity:
            extra = {"fields": None, "v": 0, "further": text[1:]}
            self._logger.info("%s", text[0], extra=extra, stacklevel=2)

    def warn(self, text: str) -> None:
        self._say(logging.WARNING, text, None, 0)

    def _add(self, handler: logging.Handler, formatter: logging.Formatter) -> None:
        handler.setFormatter(formatter)
        self._logger.addHandler(handler)

    def _say(self, level: int, text: str, fields: dict[str, Any] | None, v: int) -> None:
        extra = {"fields": fields, "v": v}
        self._logger.log(level, "%s", text, extra=extra, stacklevel=3)


def log_at(verbosity: int) -> KubeLog:
    """A log in text, at a verbosity."""
    log = KubeLog()
    log.set_verbosity(verbosity)
    return log


class _TextLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).astimezone()
        where = f"{record.filename}:{record.lineno}"
        header = (
            f"{_LETTERS.get(record.levelno, 'I')}{time:%m%d %H:%M:%S.%f} {os.getpid():7d} {where}] "
        )
        fields: dict[str, Any] | None = getattr(record, "fields", None)
        text = record.getMessage()
        if fields is None:
            told = self.formatException(record.exc_info).split("\n") if record.exc_info else ()
            further: Sequence[str] = getattr(record, "further", ())
            lines = (header + escape_unprintable(text), *map(escape_unprintable, further))
            return "\n".join((*lines, *map(_indent_further_line, told)))
        pairs = (f" {key}={_value(value)}" for key, value in fields.items())
        return header + go_quote(text) + "".join(pairs)


class _JsonLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = dict(getattr(record, "fields", None) or {})
        line: dict[str, Any] = {"ts": round(record.created * 1000, 3)}
        if "logger" in fields:
            line["logger"] = fields.pop("logger")
        line["caller"] = f"{record.module}.py:{record.lineno}"
        line["msg"] = "\n".join((record.getMessage(), *getattr(record, "further", ())))
        if record.levelno < logging.ERROR:
            line["v"] = getattr(record, "v", 0)
        elif "err" in fields:
            fields["err"] = fields.pop("err")  # upstream: the error itself comes last here
        line.update((key, _in_json(value)) for key, value in fields.items())
        if record.exc_info:
            line["stacktrace"] = self.formatException(record.exc_info)
        return _compact_json(line)


def _in_json(value: Any) -> Any:
    if isinstance(value, ObjectRef):
        return {key: text for key, text in value._asdict().items() if text}
    return value


def _value(value: Any) -> str:
    if isinstance(value, ObjectRef):
        return go_quote(str(value))
    if not isinstance(value, str):
        return _compact_json(value)
    if "\n" not in value:
        return go_quote(value)
    lines = value.removesuffix("\n").split("\n")
    return "\n".join(("<", *map(_indent_further_line, lines), " >"))


def _indent_further_line(line: str) -> str:
    """A further line of a record, which cannot pass for one of its own."""
    return f"\t{escape_unprintable(line)}"


def _compact_json(value: Any) -> str:
    return escape_in_json(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
