"""What the engine asks of extenders, and what they answer, as values.

An extender lives outside, so nothing at this level may call it. A cycle that needs one yields
calls and is resumed with their answers, in the same order; the driver decides how to fetch them.
Calls that are yielded together may be carried out together. Names and reasons are checked here
and above, the wire is not known.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.config.types import Extender


@dataclass(frozen=True, slots=True)
class Victims:
    """Pods of one node that would have to go, most important first."""

    pods: tuple[Pod, ...]
    violations: int


@dataclass(frozen=True, slots=True)
class FilterCall:
    """Which of these nodes may the pod run on? `returned` holds those that an earlier extender
    gave back in full and that now stand for what the cluster knows."""

    extender: Extender
    pod: Pod
    nodes: tuple[str, ...]
    returned: Mapping[str, Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PrioritizeCall:
    """How good is each of these nodes for the pod?"""

    extender: Extender
    pod: Pod
    nodes: tuple[str, ...]
    returned: Mapping[str, Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PreemptCall:
    """Which of these nodes may be cleared, and of which pods?"""

    extender: Extender
    pod: Pod
    victims: Mapping[str, Victims]


@dataclass(frozen=True, slots=True)
class BindCall:
    """Bind the pod in the scheduler's place."""

    extender: Extender
    pod: Pod
    node_name: str


ExtenderCall = FilterCall | PrioritizeCall | PreemptCall | BindCall


@dataclass(frozen=True, slots=True)
class FilterAnswer:
    """As decoded: None where the answer had null or nothing; not yet checked against the call."""

    node_names: tuple[str, ...] | None = None
    nodes: tuple[Node, ...] | None = None
    failed: Mapping[str, str] = field(default_factory=dict)
    unresolvable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PrioritizeAnswer:
    """Hosts with scores as they came: hosts may be missing, repeated or unknown."""

    scores: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class MetaVictims:
    uids: tuple[str, ...]
    violations: int


@dataclass(frozen=True, slots=True)
class PreemptAnswer:
    victims: Mapping[str, MetaVictims]


@dataclass(frozen=True, slots=True)
class BindAnswer:
    """The extender says that it has bound the pod."""


@dataclass(frozen=True, slots=True)
class CallFailed:
    """No usable answer: the text is what users read, `Error` of the answer included."""

    problem: str


ExtenderAnswer = FilterAnswer | PrioritizeAnswer | PreemptAnswer | BindAnswer | CallFailed
