"""Indexes of an indexed job: which pod is for which, and which are free."""

from collections.abc import Collection, Iterable
from itertools import count, islice

from podium.kubernetes.controllers.jobs import COMPLETION_INDEX
from podium.kubernetes.controllers.pods import Pod


def index_of(pod: Pod) -> int | None:
    text = pod.metadata.annotation(COMPLETION_INDEX)
    return int(text) if text.isdecimal() else None


def indexes_of(pods: Iterable[Pod]) -> set[int]:
    return {index for pod in pods if (index := index_of(pod)) is not None}


def free(taken: Collection[int], completions: int, wanted: int) -> list[int]:
    """The first indexes that are neither done nor being worked on."""
    below = (index for index in count() if index not in taken)
    return [index for index in islice(below, max(wanted, 0)) if index < completions]
