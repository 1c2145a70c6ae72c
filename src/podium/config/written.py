"""A configuration file as it was written: its values, and what only the text can tell.

The first character decides: a file that starts with `{` is JSON and nothing else, all others are
YAML. Besides the values, three things of the text are kept for the messages: the text itself, the
keys that occur twice, and the line of every field.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Final

from podium.config.errors import ConfigurationError
from podium.config.json_text import read_json_text
from podium.config.yaml_text import LinesOf, read_yaml_text

LARGEST_BYTES: Final = 16 * 1024 * 1024
_STEP: Final = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


@dataclass(frozen=True, slots=True)
class WrittenFile:
    value: Any
    text: str | None = None
    repeated_keys: tuple[str, ...] = ()
    lines: LinesOf = field(default_factory=dict)

    def line_of(self, path: str) -> int | None:
        """The line of a field such as `profiles[0].schedulerName`, or of what is nearest above."""
        value, line = self.value, None
        for step in _STEP.finditer(path):
            index, key = step[1], step[2]
            if index is not None and isinstance(value, list) and int(index) < len(value):
                value = value[int(index)]
            elif key is not None and isinstance(value, dict) and key in value:
                line = self.lines.get((id(value), key), line)
                value = value[key]
            else:
                break
        return line


def read_written(data: bytes) -> WrittenFile:
    """Raises ConfigurationError."""
    if len(data) > LARGEST_BYTES:
        raise ConfigurationError(
            f"larger than {LARGEST_BYTES // 1024 // 1024} MiB", remedy="a configuration is short"
        )
    text = data.decode(errors="replace")
    if text.lstrip().startswith("{"):
        return WrittenFile(read_json_text(text), text)
    found = read_yaml_text(data)
    return WrittenFile(
        {} if found.value is None else found.value, text, found.repeated, found.lines
    )
