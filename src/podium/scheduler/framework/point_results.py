"""What points answer with that want to say more than a status can.

Each refuses what it cannot hold where it is made, which is where a plugin's author has to look.
"""

from dataclasses import dataclass
from math import inf

from msgspec import Struct

from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.status import Code, Status, check_reasons


@dataclass(frozen=True, slots=True)
class PostFilterResult:
    """What a PostFilter plugin achieved.

    `nominated_node` None leaves the pod's nomination as it is, an empty string clears it. `plugin`
    is set by the framework.
    """

    code: Code
    reasons: tuple[str, ...] = ()
    nominated_node: str | None = None
    victims: tuple[PodInfo, ...] = ()
    plugin: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.code, Code):
            raise TypeError(f"a PostFilterResult has a Code, not {self.code!r:.60}")
        check_reasons(self.reasons)
        if not (self.nominated_node is None or isinstance(self.nominated_node, str)):
            raise TypeError(f"a node is nominated by name, not {self.nominated_node!r:.60}")
        if not all(isinstance(victim, PodInfo) for victim in self.victims):
            raise TypeError(f"victims are PodInfos, not {self.victims!r:.60}")

    @property
    def message(self) -> str:
        return ", ".join(self.reasons)


@dataclass(frozen=True, slots=True)
class PermitResult:
    """Whether a pod may go on to its node. With Code.WAIT it is held for `timeout_s` at most."""

    status: Status
    timeout_s: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.status, Status):
            raise TypeError(f"a PermitResult has a Status, not {self.status!r:.60}")
        if not isinstance(self.timeout_s, int | float) or not 0 <= self.timeout_s < inf:
            raise TypeError(f"a timeout is a number of seconds, not {self.timeout_s!r:.60}")


class PreFlight(Struct, frozen=True):
    """Whether PreBind has work for this pod, and may do it beside its neighbours."""

    status: Status | None = None
    parallel: bool = False

    def __post_init__(self) -> None:
        if not (self.status is None or isinstance(self.status, Status)):
            raise TypeError(f"a PreFlight has a Status, not {self.status!r:.60}")
