"""Which annotations are written into a trace: those that a scheduler or one of its plugins reads.

Annotations hold anything, `kubectl.kubernetes.io/last-applied-configuration` a whole manifest with
its environment. So keys are named one by one, and no prefix passes.

Those of `DECISIONS` are written by a scheduler that has chosen a node or a card; whoever decides
anew takes them off first.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from podium.kubernetes.controllers.pod_templates import POD_CLAIM
from podium.kubernetes.controllers.provisioning import PROVISIONED_BY
from podium.kubernetes.kinds.storage import BIND_COMPLETED, BOUND_BY_CONTROLLER, SELECTED_NODE
from podium.kubernetes.rules.nodes import CONFIG_MIRROR
from podium.kubernetes.rules.storage_classes import CLASS_ANNOTATION, DEFAULT_CLASS_MARKS
from podium.scheduler.plugins.dynamic_resources.claim_state import EXTENDED_RESOURCE_ANNOTATION
from podium.scheduler.plugins.legacy_scorers import ANNOTATION as PREFER_AVOID_PODS
from podium.scheduler.plugins.volumes.attach_limits import MIGRATED_PLUGINS
from podium.user_code.shipped import ENTRY_POINTS, load_entry_point
from podium.user_code.shipped import RECORDED_ANNOTATIONS as RECORDED_ANNOTATIONS_OF_ADDONS

_VOLUMES: Final = (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    CLASS_ANNOTATION,
    *DEFAULT_CLASS_MARKS,
    PROVISIONED_BY,
    MIGRATED_PLUGINS,
)
_OFFERED: Final[tuple[Mapping[str, Iterable[str]], ...]] = tuple(
    load_entry_point(RECORDED_ANNOTATIONS_OF_ADDONS, name)
    for name in ENTRY_POINTS[RECORDED_ANNOTATIONS_OF_ADDONS]
)
"""What plugins that ship with Podium read of nodes and pods ("read") and write ("decided")."""

DECISIONS: Final[frozenset[str]] = frozenset(
    key for offered in _OFFERED for key in offered.get("decided", ())
)
RECORDED_ANNOTATIONS: Final = DECISIONS.union(
    _VOLUMES,
    (PREFER_AVOID_PODS, CONFIG_MIRROR, POD_CLAIM, EXTENDED_RESOURCE_ANNOTATION),
    *(offered.get("read", ()) for offered in _OFFERED),
)


def select_annotations(written: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in written.items() if key in RECORDED_ANNOTATIONS}
