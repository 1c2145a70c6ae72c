"""Remembering answers about texts without keeping the texts of strangers.

`lru_cache` bounds how many answers are kept, not how large their questions are: thousands of texts
of megabytes each would stay in memory for good. Long texts are therefore worked out every time.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar

_Answer = TypeVar("_Answer")
_MAX_CHARACTERS: Final = 512


def cache_short_texts(
    maxsize: int,
) -> Callable[[Callable[[str], _Answer]], Callable[[str], _Answer]]:
    """Like `lru_cache` for a function of one text; long texts are never kept."""

    def remember(function: Callable[[str], _Answer]) -> Callable[[str], _Answer]:
        cached = lru_cache(maxsize=maxsize)(function)

        @wraps(function)
        def answer(text: str) -> _Answer:
            return cached(text) if len(text) <= _MAX_CHARACTERS else function(text)

        return answer

    return remember
