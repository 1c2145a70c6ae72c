"""What may not be asked of the log.

Contract: upstream's field errors, one after the other. They are printed bare, because there is no
log yet when they are found.

Source: `staging/src/k8s.io/component-base/logs/api/v1/options.go`.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from podium.kubernetes.rules.quantity import value as quantity_value
from podium.scheduler.config.errors import FieldProblem, forbidden, invalid
from podium.scheduler.config.flags.options import Logs

TEXT: Final = "text"
JSON: Final = "json"
_JSON_GATE: Final = "LoggingBetaOptions"
_GATE: Final = "LoggingAlphaOptions"


def logging_problems(logs: Logs, gates: Mapping[str, bool]) -> list[FieldProblem]:
    return list(_problems(logs, gates))


def _problems(logs: Logs, gates: Mapping[str, bool]) -> Iterator[FieldProblem]:
    frequency = logs.log_flush_frequency
    if frequency.nanoseconds <= 0:
        yield invalid("flushFrequency", str(frequency), "Must be greater than zero")
    if logs.logging_format not in (TEXT, JSON):
        yield invalid("format", logs.logging_format, "Unsupported log format")
    elif logs.logging_format == JSON and not gates[_JSON_GATE]:
        yield forbidden("format", f"Log format {JSON} is disabled, see {_JSON_GATE} feature")
    if logs.vmodule and logs.logging_format not in (TEXT, ""):
        yield forbidden("vmodule", "Only supported for text log format")
    if gates[_GATE]:
        return
    for form, split_stream, buffer_size in (
        (TEXT, logs.log_text_split_stream, logs.log_text_info_buffer_size),
        (JSON, logs.log_json_split_stream, logs.log_json_info_buffer_size),
    ):
        if split_stream:
            yield forbidden(f"options.{form}.splitStream", f"Feature {_GATE} is disabled")
        if quantity_value(buffer_size):
            yield forbidden(f"options.{form}.infoBufferSize", f"Feature {_GATE} is disabled")
