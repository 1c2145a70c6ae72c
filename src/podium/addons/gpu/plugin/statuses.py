"""What a refusal says: the phrase of its reason, and whether evictions could help."""

from typing import Final

from podium.addons.gpu.cards.card_table import REASONS
from podium.addons.gpu.cards.reasons import Reason
from podium.plugin import Status, unresolvable, unschedulable

FITS: Final = 0
HOPELESS: Final = len(REASONS)
"""Added to the number of a reason where the pod would not fit without any pod on the node."""

STATUSES: Final[tuple[Status, ...]] = (
    *(unschedulable(reason.phrase) for reason in REASONS),
    *(unresolvable(reason.phrase) for reason in REASONS),
)
"""A number above 0 stands for the status before it: `STATUSES[number - 1]`."""


def number_of(reason: Reason, *, hopeless: bool) -> int:
    return REASONS.index(reason) + 1 + (HOPELESS if hopeless else 0)
