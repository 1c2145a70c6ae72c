"""What a user may do, as CEL values: `authorizer.group('').resource('pods').check('get')`.

Who answers is given with the values: this module builds questions and reads decisions. Selectors
of fields and labels are part of a question for those who look at them; roles do not.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from podium.kubernetes.cel.errors import CelError
from podium.kubernetes.cel.library import Functions
from podium.kubernetes.cel.types import Type, object_type
from podium.kubernetes.cel.values import Opaque

AUTHORIZATION = Functions()
_define = AUTHORIZATION.define
_ROOT: Final = "kubernetes.authorization."
AUTHORIZER: Final[Type] = object_type(f"{_ROOT}Authorizer")
RESOURCE_CHECK: Final[Type] = object_type(f"{_ROOT}ResourceCheck")
_CHECK_COST: Final = 1000
"""upstream: 350,000, of a budget that is as much larger."""


class Question(NamedTuple):
    """Of the user who asks, or of a service account."""

    verb: str = ""
    account: tuple[str, str] | None = None
    path: str | None = None
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""


Judge = Callable[[Question], tuple[bool, str]]
"""Whether it is allowed, and why."""


@dataclass(frozen=True, slots=True, eq=False)
class _Asked(Opaque):
    judge: Judge
    question: Question

    def same(self, other: Any) -> bool:
        return bool(self.question == other.question)

    def narrow_question(self, kind: "type[_Asked]", **more: Any) -> "_Asked":
        return kind(self.judge, self.question._replace(**more))


class Authorizer(_Asked):
    __slots__ = ()
    TYPE_NAME = f"{_ROOT}Authorizer"

    def __getitem__(self, field: str) -> "ResourceCheck":
        """`authorizer.requestResource`: what the request itself is about."""
        if field != "requestResource":
            raise KeyError(field)
        return ResourceCheck(self.judge, self.question)


class PathCheck(_Asked):
    __slots__ = ()
    TYPE_NAME = f"{_ROOT}PathCheck"


class GroupCheck(_Asked):
    __slots__ = ()
    TYPE_NAME = f"{_ROOT}GroupCheck"


class ResourceCheck(_Asked):
    __slots__ = ()
    TYPE_NAME = f"{_ROOT}ResourceCheck"


@dataclass(frozen=True, slots=True, eq=False)
class AuthorizerDecision(Opaque):
    TYPE_NAME = f"{_ROOT}Decision"
    allowed: bool
    reason: str

    def same(self, other: Any) -> bool:
        return bool((self.allowed, self.reason) == (other.allowed, other.reason))


def _check_cost(*_: object) -> int:
    return _CHECK_COST


@_define(f"({_ROOT}Authorizer).path(string) -> {_ROOT}PathCheck")
def _path(authorizer: Authorizer, path: str) -> _Asked:
    if not path:
        raise CelError("path must not be empty")
    return PathCheck(authorizer.judge, Question(account=authorizer.question.account, path=path))


@_define(f"({_ROOT}Authorizer).group(string) -> {_ROOT}GroupCheck")
def _group(authorizer: Authorizer, group: str) -> _Asked:
    return GroupCheck(authorizer.judge, Question(account=authorizer.question.account, group=group))


@_define(f"({_ROOT}Authorizer).serviceAccount(string, string) -> {_ROOT}Authorizer")
def _service_account(authorizer: Authorizer, namespace: str, name: str) -> _Asked:
    return replace(authorizer, question=Question(account=(namespace, name)))


@_define(f"({_ROOT}GroupCheck).resource(string) -> {_ROOT}ResourceCheck")
def _resource(group: GroupCheck, resource: str) -> _Asked:
    if not resource:
        raise CelError("resource must not be empty")
    return group.narrow_question(ResourceCheck, resource=resource)


@_define(f"({_ROOT}ResourceCheck).subresource(string) -> {_ROOT}ResourceCheck")
def _subresource(check: ResourceCheck, subresource: str) -> _Asked:
    return check.narrow_question(ResourceCheck, subresource=subresource)


@_define(f"({_ROOT}ResourceCheck).namespace(string) -> {_ROOT}ResourceCheck")
def _namespace(check: ResourceCheck, namespace: str) -> _Asked:
    return check.narrow_question(ResourceCheck, namespace=namespace)


@_define(f"({_ROOT}ResourceCheck).name(string) -> {_ROOT}ResourceCheck")
def _name(check: ResourceCheck, name: str) -> _Asked:
    return check.narrow_question(ResourceCheck, name=name)


@_define(
    f"({_ROOT}ResourceCheck).fieldSelector(string) -> {_ROOT}ResourceCheck",
    f"({_ROOT}ResourceCheck).labelSelector(string) -> {_ROOT}ResourceCheck",
)
def _selector(check: ResourceCheck, _: str) -> _Asked:
    return check


@_define(
    f"({_ROOT}PathCheck).check(string) -> {_ROOT}Decision",
    f"({_ROOT}ResourceCheck).check(string) -> {_ROOT}Decision",
    cost=_check_cost,
)
def _check(check: _Asked, verb: str) -> AuthorizerDecision:
    return AuthorizerDecision(*check.judge(check.question._replace(verb=verb)))


@_define(f"({_ROOT}Decision).allowed() -> bool")
def _allowed(decision: AuthorizerDecision) -> bool:
    return decision.allowed


@_define(f"({_ROOT}Decision).reason() -> string")
def _reason(decision: AuthorizerDecision) -> str:
    return decision.reason


@_define(f"({_ROOT}Decision).errored() -> bool")
def _errored(_: AuthorizerDecision) -> bool:
    return False


@_define(f"({_ROOT}Decision).error() -> string")
def _error(_: AuthorizerDecision) -> str:
    return ""
