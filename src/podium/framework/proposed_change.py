"""A change that would make a pod fit, as the plugin that refuses it can think of one.

Explanations think of changes for in-tree plugins by themselves; any other plugin may name its own
by `propose_changes`. Each is tried before anybody is told of it, so that a plugin may be generous.
"""

import enum
from typing import NamedTuple

from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod import Pod


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
    without a full stop. `pod` is the pod as it would be, if it is another; `objects` are those that
    would be new or different."""

    code: str
    sentence: str
    kind: ChangeKind
    pod: Pod | None = None
    objects: tuple[KubeObject, ...] = ()
