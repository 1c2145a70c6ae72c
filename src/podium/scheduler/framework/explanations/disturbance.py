"""How much a change disturbs: one scale for all of them, so that proposals can be ranked.

What concerns the waiting pod alone comes before what concerns a node, that before what contradicts
something that was requested and exists, that before what concerns pods that run, and that before
what costs money. Within such a class the change that takes less away
from what somebody asked for comes first. Several changes disturb as much as their sum.
"""

from typing import Final

# the pod alone
CORRECT_NAME: Final = 10
REMOVE_GATE: Final = 12
CHANGE_SCHEDULER: Final = 14
TOLERATE: Final = 20
RELAX_SPREAD: Final = 24
GIVE_EXISTING_VALUE: Final = 26
RELAX_AFFINITY: Final = 28
DROP_REQUIREMENT: Final = 30
DROP_HOST_PORT: Final = 32
LOWER_REQUEST: Final = 34
"""And up to as much again, by the share of the request that is given up."""

# nodes and other objects
CREATE_OBJECT: Final = 40
REPLACE_OBJECT: Final = 44
UNCORDON: Final = 50
LABEL_NODE: Final = 52
REMOVE_TAINT: Final = 56

# what contradicts a wish that could be met
CHANGE_VALUE: Final = 64
DROP_MET_REQUIREMENT: Final = 66
LABEL_LIKE_OTHERS: Final = 68
SCALE_DOWN: Final = 70

# pods that run
MOVE_PODS: Final = 80
EVICT_PODS: Final = 100
RAISE_PRIORITY: Final = 120
PER_POD: Final = 4
CHANGE_DEVICE_CLASS: Final = 140
"""Of a class that exists: other devices than were requested."""
TOLERATE_CONDITION: Final = 150
"""A toleration for a node that is not well: the pod would fit and hardly run."""

# machines
ADD_NODE: Final = 200
ADD_LARGER_NODE: Final = 240

GOOD_ENOUGH: Final = REMOVE_TAINT
"""With a proposal that disturbs no more than this nobody looks for combinations."""
