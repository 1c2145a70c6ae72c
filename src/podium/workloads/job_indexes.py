"""Indexes of an indexed job: which are done, and how that is written down.

>>> written({0, 2, 3, 4, 7})
'0,2-4,7'
>>> sorted(read('0,2-4,7'))
[0, 2, 3, 4, 7]
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import count, islice

from podium.workloads.jobs import COMPLETION_INDEX
from podium.workloads.pods import Pod


def index_of(pod: Pod) -> int | None:
    text = pod.metadata.annotation(COMPLETION_INDEX)
    return int(text) if text.isdecimal() else None


def indexes_of(pods: Iterable[Pod]) -> set[int]:
    return {index for pod in pods if (index := index_of(pod)) is not None}


def read(text: str) -> set[int]:
    """What cannot be read is passed over: the pods will say it again."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        if first.isdecimal() and (not last or last.isdecimal()):
            found.update(range(int(first), int(last or first) + 1))
    return found


def written(indexes: Collection[int]) -> str:
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


def free(taken: Collection[int], completions: int, wanted: int) -> list[int]:
    """The first indexes that are neither done nor being worked on."""
    below = (index for index in count() if index not in taken)
    return [index for index in islice(below, max(wanted, 0)) if index < completions]
