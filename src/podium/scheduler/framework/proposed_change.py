"""A change that would make a pod fit, as the plugin that refuses it can think of one.

A plugin names its own by `propose_changes`, or by `propose_for` where it has to look at single
nodes. Each is tried before anybody is told of it, so that a plugin may be generous.
"""

import enum
from typing import Final, NamedTuple

from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

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
