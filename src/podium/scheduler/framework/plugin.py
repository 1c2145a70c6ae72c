"""What every plugin is and has, and the values by which it explains its refusals.

A plugin may say more than its status does by `explain_refusal`; what a filter holds against single
nodes it says by `explain_rejections`.

A plugin names changes that would make the pod fit by `propose_changes`, or by `propose_for` where
it has to look at single nodes. Each is tried before anybody is told of it, so that a plugin may be
generous.
"""

import enum
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, TypeAlias

import msgspec

from podium.golang.json_values import JsonValue
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.events import Registration, WatchedKind
from podium.scheduler.framework.handle import PluginMetric
from podium.scheduler.framework.sources import ValueSource
from podium.scheduler.framework.status import Status

if TYPE_CHECKING:
    from podium.scheduler.framework.explanations.situation import Situation
    from podium.scheduler.framework.handle import Handle


class RefusalCause(NamedTuple):
    """`code` tells causes apart for programs, `subject` is what it is about (`default/training`),
    `sentence` says it in words, `facts` are its numbers by JSON name.

    `keeps_message` is set where the status has a text that people know and search for. That stays
    the reason then that `podium why` gives; the cause is told where a pod is turned away before any
    node was looked at."""

    code: str
    subject: str
    sentence: str
    facts: Mapping[str, JsonValue] = MappingProxyType({})
    keeps_message: bool = False


BY_HAND: Final = "by/hand"
"""The provisioner of a volume that somebody has to make."""


class ChangeKind(enum.Enum):
    """What a change does to those whom it concerns, by which proposals are ranked: the pod alone
    first, then objects."""

    CORRECT_NAME = "correct name"
    GIVE_EXISTING_VALUE = "give existing value"
    DROP_REQUIREMENT = "drop requirement"
    LOWER_REQUEST = "lower request"
    CREATE_OBJECT = "create object"
    REPLACE_OBJECT = "replace object"


class ProposedChange(NamedTuple):
    """`code` is a stable word for programs (`leave-pod-group`), `sentence` an order to people
    without a full stop. `kind` may also be a place on the scale of `explanations/disturbance.py`.
    `pod` is the pod as it would be, if it is another; `objects` and `nodes` are those that would be
    new or different."""

    code: str
    sentence: str
    kind: ChangeKind | int
    pod: Pod | None = None
    objects: tuple[KubeObject, ...] = ()
    nodes: tuple[Node, ...] = ()


MAX_CHANGES_OF_A_STATUS: Final = 6
"""How many changes are tried that a plugin proposes for one status."""

Arguments: TypeAlias = Any  # type: ignore[explicit-any]  # of the type that the plugin's Args is


class Plugin:
    """What every plugin has: a name, arguments, a handle on the framework.

    A plugin with a Struct named `Args` gets its arguments as one (`registry.py`).
    """

    name: ClassVar[str]
    Args: ClassVar[type[msgspec.Struct] | None] = None
    writes: ClassVar[tuple[str, ...]] = ()
    """Methods of an extension point of which a plugin has to write one at least."""
    watched_kinds: ClassVar[tuple[WatchedKind, ...]] = ()
    """Kinds that it reads beside those that every scheduler watches."""
    informed_of: ClassVar[tuple[type[KubeStruct], ...]] = ()
    """Kinds of whose objects it is told by `on_add`, `on_update` and `on_delete`: nodes, pods, and
    every other kind that is watched."""
    stays_whatever_watched: ClassVar[bool] = False
    """Set where what it promises of templates (`pre_filter_stays`, `of_objects` and so on) does not
    depend on objects of its watched kinds: then a change of one leaves what is remembered."""

    refusals_stand: ClassVar[bool] = False
    """Set where a pod that it refuses at PreFilter or Filter, on a node or everywhere, stays
    refused there while pods only come: room shrinks, labels and taints stay. Placements are then
    looked for on the other nodes alone."""

    builds_on: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Points at which it reads what it worked out at another one, and that one; named as in
    configurations. The other point is passed even where a configuration has it off."""

    def __init__(self, args: Arguments, handle: "Handle") -> None:
        self.args = args
        self.handle = handle

    def events(self) -> Sequence[Registration] | None:
        """Events that may make a pod schedulable that this plugin rejected.

        None stands for "any event may"; an empty sequence for "none does".
        """
        return None

    def on_add(self, obj: KubeStruct) -> None:
        """An object of a kind that it is informed of is there; those that were there before it as
        well."""

    def on_update(self, old: KubeStruct, new: KubeStruct) -> None:
        """An object has changed."""

    def on_delete(self, obj: KubeStruct) -> None:
        """An object is gone; a pod also when it has ended."""

    def sources(self) -> Sequence[ValueSource]:
        """Data from outside that the driver is to keep up to date; see `sources.py`."""
        return ()

    def metrics(self) -> Sequence[PluginMetric]:
        """Numbers of its own that a live scheduler shows on `/metrics`; see `metrics.py`."""
        return ()

    def count_refusal(self, point: str, status: Status, nodes: int) -> None:
        """It refused a pod at `preFilter`, `filter` or `reserve` (Permit is part of it), on so many
        nodes for this reason: told after each attempt of a live scheduler, to be counted in a
        metric."""

    def forgetting(self) -> AbstractContextManager[None]:
        """The plugin as if nothing had happened lately, for those who ask what would be if: what it
        remembers of attempts for some time only is over, and what it hears meanwhile is forgotten
        afterwards. One that remembers nothing of attempts need not do anything."""
        return nullcontext()

    def explain_refusal(self, pod: PodInfo, status: Status) -> RefusalCause | None:  # noqa: ARG002
        """What is behind its refusal of a pod, for a person who asks; None if the status says it
        all. The cluster may have moved on since."""
        return None

    def explain_group(self, group: PodGroup) -> RefusalCause | None:  # noqa: ARG002
        """Why a pod that fits gets no node because of the group that it is placed with, where this
        plugin is the reason for that."""
        return None

    def propose_changes(self, pod: PodInfo, status: Status) -> Iterable[ProposedChange]:  # noqa: ARG002
        """Changes that may make it accept a pod that it refuses, as a whole or on a node, for a
        person who asks. Each of them is tried before it is told."""
        return ()

    def propose_for(self, situation: "Situation") -> Iterable[ProposedChange]:
        """The same with all that speaks against the pod in view, for one that has to look at single
        nodes; in general what it proposes for its status."""
        for status in situation.statuses_of(self.name):
            yield from islice(self.propose_changes(situation.info, status), MAX_CHANGES_OF_A_STATUS)
