"""Whether a command has printed what a page shows, but for what is different in each run."""

import re
from collections.abc import Iterable

LEFT_OUT = "..."
"""A line of a page that stands for any lines, or none."""

_SUFFIX = "[bcdfghjklmnpqrstvwxz2456789]{5}"
_AGE = r"(?:\d+d)?(?:\d+h)?(?:\d{1,2}m)?(?:\d+s)?"
_DIFFERENT_EACH_TIME = [
    (re.compile(pattern), name)
    for pattern, name in (
        (r"^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [\w.]+:\d+\]", "LOGGED"),
        (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)", "TIME"),
        (r"(?<![\w:])\d\d:\d\d:\d\d(?![\w:])", "TIME"),
        (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UID"),
        (rf"-[0-9a-f]{{8,10}}-{_SUFFIX}\b", "-HASH-SUFFIX"),
        (rf"-{_SUFFIX}\b", "-SUFFIX"),
        (r"\b127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
        (r"\b10\.64\.\d+\.\d+\b", "ADDRESS"),
        (r"\bat revision \d+", "at revision NUMBER"),
        (r'(" (?:force )?deleted) from \S+ namespace$', r"\1"),
        (r" \(x\d+ over \w+\)", ""),
        (rf"(?<!\S)(?=\d){_AGE}(?!\S)", "AGE"),
        (r"[ \t]+", " "),
    )
]


def normalised(lines: Iterable[str]) -> list[str]:
    """Without ages, uids, random names, ports, addresses, times and the width of columns."""
    return [_normalised(line) for line in lines]


def _normalised(line: str) -> str:
    for pattern, name in _DIFFERENT_EACH_TIME:
        line = pattern.sub(name, line)
    return line.rstrip()


def is_shown(shown: Iterable[str], printed: Iterable[str]) -> bool:
    """Whether the lines printed are those of the page."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == LEFT_OUT else re.escape(line) + r"\n" for line in normalised(shown)
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in normalised(printed))) is not None
