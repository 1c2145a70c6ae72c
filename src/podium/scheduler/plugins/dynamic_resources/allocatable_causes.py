"""Claims that take of a node's own resources: why a node lacks them, or may not serve the claims.

Only where devices stand for resources of their node (DRANodeAllocatableResources); how much a pod
would take of which node is what the filter worked out.
"""

from collections.abc import Iterator

import numpy as np

from podium.scheduler.cluster.growth import Mask
from podium.scheduler.framework.explanations.finding import Finding, amount_text, join_words
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.framework.status import Status
from podium.scheduler.plugins.dynamic_resources import DynamicResources
from podium.scheduler.plugins.dynamic_resources.attempt_state import ClaimsState
from podium.scheduler.plugins.dynamic_resources.node_allocatable import (
    INSUFFICIENT,
    NOT_COVERED,
    NOT_REFERENCED,
    USED_BY_ANOTHER,
    USED_BY_SEVERAL,
    Footprint,
)

_WORDS = (
    (
        NOT_REFERENCED,
        "resource-claim-unreferenced",
        "ResourceClaim {} takes resources of its node, so a container of the pod has to refer to it"
        " in resources.claims",
    ),
    (
        NOT_COVERED,
        "pod-level-request-too-small",
        "the {} that the pod as a whole requests is less than its containers and ResourceClaims"
        " take together",
    ),
    (
        USED_BY_ANOTHER,
        "resource-claim-in-use",
        "ResourceClaim {} takes resources of its node and is another pod's already",
    ),
    (
        USED_BY_SEVERAL,
        "resource-claim-in-use",
        "ResourceClaim {} takes resources of its node and is several pods' already",
    ),
)
"""(the filter's text, code, what it means); what is named in the text is named in the words."""


def find_claimed_resources(view: AttemptView, among: Mask) -> list[Finding]:
    found: list[Finding] = []
    for status, nodes in view.examination.statuses(DynamicResources.name):
        mask = nodes & among
        if mask.any():
            found.extend(_findings(view, status, mask))
    return found


def _findings(view: AttemptView, status: Status, mask: Mask) -> Iterator[Finding]:
    for text, code, words in _WORDS:
        subject = _find_name(text, status.reasons[0])
        if subject:
            clause = words.format(subject)
            yield Finding(code, subject, mask, clause, clause)
            return
    short = [name for reason in status.reasons if (name := _find_name(INSUFFICIENT, reason))]
    if short:
        yield _shortage(view, short, mask)


def _find_name(text: str, reason: str) -> str:
    """What a reason names that was made from a text; empty if it was not."""
    before, _, after = text.partition("{}")
    if not (reason.startswith(before) and reason.endswith(after)):
        return ""
    return reason[len(before) : len(reason) - len(after)]


def _shortage(view: AttemptView, short: list[str], mask: Mask) -> Finding:
    best = min(view.positions(mask), key=lambda position: _count_missing(view, short[0], position))
    told = join_words(f"{_amount(view, name, best)} {name}" for name in short)
    free = join_words(
        f"{amount_text(name, _room(view, name, best)[0])} of"
        f" {amount_text(name, _room(view, name, best)[1])} {name}"
        for name in short
    )
    clause = (
        f"with what its ResourceClaims take of the node, the pod needs {told}; the best candidate"
        f" ({view.names[best]}) has {free} free"
    )
    return Finding(
        "insufficient-resource-for-claims",
        ",".join(short),
        mask,
        clause,
        f"lacks {join_words(short)} for its ResourceClaims",
        facts={"resources": {name: _demand(view, name, best) for name in short}},
    )


def _count_missing(view: AttemptView, resource: str, position: int) -> int:
    return _demand(view, resource, position) - _room(view, resource, position)[0]


def _amount(view: AttemptView, resource: str, position: int) -> str:
    return amount_text(resource, _demand(view, resource, position))


def _demand(view: AttemptView, resource: str, position: int) -> int:
    """What the pod needs of a node, its claims included."""
    state = view.examination.cycle.states.get(DynamicResources.name)
    footprints = state.footprints if isinstance(state, ClaimsState) else {}
    footprint = footprints.get(int(view.rows[position]))
    return footprint.demand.get(resource, 0) if isinstance(footprint, Footprint) else 0


def _room(view: AttemptView, resource: str, position: int) -> tuple[int, int]:
    """(free, allocatable) of a node."""
    row, column = int(view.rows[position]), view.table.resources.find(resource)
    if column < 0:
        return 0, 0
    allocatable = int(view.table.allocatable[column, row])
    requested: np.int64 = view.cluster.usage.requested_of(column)[row]
    return allocatable - int(requested), allocatable
