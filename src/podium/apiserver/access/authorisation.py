"""Authorisation: masters may do everything, everybody else what roles grant.

Nothing is built in beyond masters: what anybody may look at, and what the scheduler may do, are
roles that every cluster has from its first moment (`default_roles.py`).
"""

from typing import NamedTuple

from podium.apiserver.access.attempts import Attempt, forbidden
from podium.apiserver.access.grants import Grants, told_lost
from podium.apiserver.access.rules import grants as rule_grants
from podium.apiserver.access.users import User


class Verdict(NamedTuple):
    allowed: bool
    reason: str = ""


def judge(user: User, attempt: Attempt, grants: Grants) -> Verdict:
    """Whether a user may do something, and by what."""
    if user.may_do_everything:
        return Verdict(True)
    lost: list[tuple[str, str]] = []
    for grant in grants.of(user, attempt.namespace):
        if grant.lost is not None:
            lost.append(grant.lost)
        elif any(rule_grants(rule, attempt) for rule in grant.rules):
            return Verdict(True, f"RBAC: allowed by {grant.source}")
    return Verdict(False, f"RBAC: {told_lost(lost)}" if lost else "")


def require(user: User, attempt: Attempt, grants: Grants) -> None:
    """Refuse what a user may not do."""
    allowed, why = judge(user, attempt, grants)
    if not allowed:
        raise forbidden(user, attempt, why)
