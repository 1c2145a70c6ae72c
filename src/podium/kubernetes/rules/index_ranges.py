"""Indexes of an indexed job as text.

>>> written_indexes({0, 2, 3, 4, 7})
'0,2-4,7'
>>> sorted(read_indexes('0,2-4,7'))
[0, 2, 3, 4, 7]
"""

import sys
from collections.abc import Collection, Iterator


def read_indexes(text: str, below: int = sys.maxsize) -> set[int]:
    """What cannot be read is passed over, and so is what is not below the limit."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        if first.isdecimal() and (not last or last.isdecimal()):
            found.update(range(int(first), min(int(last or first) + 1, below)))
    return found


def written_indexes(indexes: Collection[int]) -> str:
    parts: list[str] = []
    for first, last in _runs(sorted(indexes)):
        if first == last:
            parts.append(str(first))
        else:
            parts.append(f"{first}-{last}" if last > first + 1 else f"{first},{last}")
    return ",".join(parts)


def _runs(indexes: list[int]) -> Iterator[tuple[int, int]]:
    start = 0
    for place, index in enumerate(indexes):
        following = indexes[place + 1] if place + 1 < len(indexes) else None
        if following != index + 1:
            yield indexes[start], index
            start = place + 1
