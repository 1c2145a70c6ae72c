"""Raw scores of any size brought into a node score's range, as the collection's plugins do it.

Products that no int64 holds are worked out exactly here; upstream they wrap around.
"""

from typing import Final

import numpy as np

from podium.golang.arithmetic import INT64_MAX
from podium.plugin import Ints

MAX_SCORE: Final = 100


def stretch_scores(scores: Ints, lowest_score: int = 0) -> Ints:
    """The lowest becomes `lowest_score`, the highest 100, the rest lies between in proportion.
    Equal ones all count as the lowest.

    >>> stretch_scores(np.array([-16, -8, -32])).tolist()
    [66, 100, 0]
    """
    if not scores.size:
        return scores
    lowest, highest = int(scores.min()), int(scores.max())
    if lowest == highest:
        return np.full_like(scores, lowest_score)
    span, wanted = highest - lowest, MAX_SCORE - lowest_score
    if span * wanted > INT64_MAX:
        exact = [(score - lowest) * wanted // span + lowest_score for score in scores.tolist()]
        return np.array(exact, dtype=np.int64)
    return (scores - lowest) * wanted // span + lowest_score
