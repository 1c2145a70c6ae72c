"""A configuration file as it was written: its values, and what only the text can tell.

The first character decides: a file that starts with `{` is JSON and nothing else, all others are
YAML. Besides the values, three things of the text are kept for the messages: the text itself, the
keys that occur twice, and the line of every field.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.json_text import SHORT, read_json_text
from podium.scheduler.config.yaml_text import LinesOf, read_yaml_text

LARGEST_BYTES: Final = 2 * 1024 * 1024
_STEP: Final = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


@dataclass(frozen=True, slots=True)
class WrittenFile:
    value: Any
    text: str | None = None
    repeated_keys: tuple[str, ...] = ()
    lines: LinesOf = field(default_factory=dict)

    def _first_line(self, value: Any, line: int | None) -> int | None:
        """Where an entry of a list begins, if it is a map."""
        keys = value if isinstance(value, dict) else ()
        return min((self.lines.get((id(value), key), 0) for key in keys), default=0) or line

    def line_of(self, path: str) -> int | None:
        """The line of a field such as `profiles[0].schedulerName`, or of what is nearest above."""
        if not self.lines and self.text is not None:
            return _line_of_json(self.text, path)
        value, line = self.value, None
        for step in _STEP.finditer(path):
            index, key = step[1], step[2]
            if index is not None and isinstance(value, list) and int(index) < len(value):
                value = value[int(index)]
                line = self._first_line(value, line)
            elif key is not None and isinstance(value, dict) and key in value:
                line = self.lines.get((id(value), key), line)
                value = value[key]
            else:
                break
        return line


@lru_cache(maxsize=1)
def _json_as_yaml(text: str) -> WrittenFile | None:
    """A JSON text once more, with lines: nearly all JSON is YAML too."""
    try:
        found = read_yaml_text(text.encode())
    except ConfigurationError:
        return None
    return WrittenFile(found.value, None, (), found.lines)


def _line_of_json(text: str, path: str) -> int | None:
    if not text.lstrip().startswith("{"):
        return None
    twin = _json_as_yaml(text)
    return None if twin is None else twin.line_of(path)


def read_written(data: bytes) -> WrittenFile:
    """Raises ConfigurationError."""
    if len(data) > LARGEST_BYTES:
        raise ConfigurationError(f"larger than {LARGEST_BYTES // 1024 // 1024} MiB", remedy=SHORT)
    text = data.decode(errors="replace")
    if text.lstrip().startswith("{"):
        # Bytes that are no UTF-8 are shown as they are where they are out of place.
        value = read_json_text(data.decode(errors="surrogateescape"))
        return WrittenFile(value, text)
    found = read_yaml_text(data)
    return WrittenFile(
        {} if found.value is None else found.value, text, found.repeated, found.lines
    )
