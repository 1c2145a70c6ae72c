"""What GPUShare's PreFilter leaves for its other points."""

from msgspec import Struct

from podium.addons.gpu.cards.quota import QuotaLeft
from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.plugin.quotas import Allowed


class PodState(Struct, frozen=True):
    """What PreFilter found: the request and its number, what quotas leave, and the row on which the
    pod itself is counted by a decision of an earlier attempt, or -1."""

    request: PodRequest
    number: int
    left: QuotaLeft | None
    allowed: Allowed | None
    own_row: int
