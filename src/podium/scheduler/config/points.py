"""The extension points of a profile.

Which points there are, and in which order a profile is put together, is data of the release. That
order is visible: of several mistakes in one profile, the one at the earliest point is the one
reported. The values are the names used in configuration files, so a point can be written as a
plain string wherever that reads better.
"""

from enum import StrEnum
from functools import cache

from podium.kubernetes.releases.release import Release


class ExtensionPoint(StrEnum):
    """A step of scheduling at which plugins run."""

    PRE_FILTER = "preFilter"
    FILTER = "filter"
    POST_FILTER = "postFilter"
    RESERVE = "reserve"
    PRE_SCORE = "preScore"
    SCORE = "score"
    PRE_BIND = "preBind"
    BIND = "bind"
    POST_BIND = "postBind"
    PERMIT = "permit"
    PRE_ENQUEUE = "preEnqueue"
    QUEUE_SORT = "queueSort"
    PLACEMENT_GENERATE = "placementGenerate"
    PLACEMENT_SCORE = "placementScore"

    @property
    def plugin_type(self) -> str:
        """What upstream calls a plugin of this point, as error texts have it."""
        return f"{self.value[0].upper()}{self.value[1:]}Plugin"

    @property
    def is_weighted(self) -> bool:
        """Whether a plugin's weight means anything here."""
        return self in (ExtensionPoint.SCORE, ExtensionPoint.PLACEMENT_SCORE)


@cache
def points_of(known: Release) -> tuple[ExtensionPoint, ...]:
    """The points of a release, in the order in which its profiles are put together."""
    return tuple(map(ExtensionPoint, known.extension_points))
