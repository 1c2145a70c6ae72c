"""Reviews: questions about tokens and permissions, answered and not stored."""

from collections.abc import Callable, Mapping
from typing import Final

from podium.apiserver.access import authorisation
from podium.apiserver.access.authorisation import AuthorizationVerdict, Grants, told_lost
from podium.apiserver.access.tokens import InvalidToken, Tokens
from podium.apiserver.access.users import AuthorizationAttributes, User
from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.rules import field_errors
from podium.kubernetes.rules.field_errors import FieldError


class Reviews:
    """Answers reviews; each is given as the object of the request and completed."""

    def __init__(self, tokens: Tokens, grants: Grants) -> None:
        self._tokens = tokens
        self._grants = grants
        self._answers: Final[Mapping[str, Callable[[JsonObject, User], JsonObject]]] = {
            "TokenReview": self._token,
            "SelfSubjectReview": _self,
            "SubjectAccessReview": self._access,
            "LocalSubjectAccessReview": self._access,
            "SelfSubjectAccessReview": self._own_access,
            "SelfSubjectRulesReview": self._own_rules,
        }

    def answers(self, kind: str) -> bool:
        return kind in self._answers

    def answer(self, review: JsonObject, user: User, now: str) -> JsonObject:
        status = self._answers[review["kind"]](review, user)
        review["status"] = status
        if review["kind"] == "SelfSubjectReview":
            review["metadata"] = {"creationTimestamp": now}
            review.pop("spec", None)
        return review

    def _token(self, review: JsonObject, _: User) -> JsonObject:
        spec = review.get("spec") or {}
        token = spec.get("token")
        if not token:
            raise status_errors.bad_request("token is required for TokenReview in authentication")
        try:
            user, audiences = self._tokens.review(token, spec.get("audiences") or ())
        except InvalidToken as problem:
            return {"user": {}, "error": str(problem)}
        return {"authenticated": True, "user": _user_info(user), "audiences": audiences}

    def _access(self, review: JsonObject, _: User) -> JsonObject:
        spec = review.get("spec") or {}
        problems = _attribute_problems(spec)
        if not spec.get("user") and not spec.get("groups"):
            problems.append(
                field_errors.invalid(
                    "spec.user", "", "at least one of user or group must be specified"
                )
            )
        if review["kind"] == "LocalSubjectAccessReview":
            problems += _namespace_problems(review, spec)
        _refuse(problems)
        user = User(
            spec.get("user", ""),
            spec.get("uid", ""),
            tuple(spec.get("groups") or ()),
            spec.get("extra") or {},
        )
        return _write_verdict(self._judge(user, spec))

    def _own_access(self, review: JsonObject, user: User) -> JsonObject:
        spec = review.get("spec") or {}
        _refuse(_attribute_problems(spec))
        return _write_verdict(self._judge(user, spec))

    def _own_rules(self, review: JsonObject, user: User) -> JsonObject:
        """What roles grant in a namespace; to masters that is one role among others."""
        namespace = (review.get("spec") or {}).get("namespace") or ""
        resources: list[JsonObject] = []
        paths: list[JsonObject] = []
        lost: list[tuple[str, str]] = []
        for grant in self._grants.of(user, namespace):
            if grant.lost is not None:
                lost.append(grant.lost)
            for rule in grant.rules:
                (paths if rule.get("nonResourceURLs") else resources).append(rule)
        status = {"resourceRules": resources, "nonResourceRules": paths, "incomplete": False}
        return {**status, "evaluationError": told_lost(lost)} if lost else status

    def _judge(self, user: User, spec: JsonObject) -> AuthorizationVerdict:
        other = spec.get("nonResourceAttributes")
        if other is not None:
            attempt = AuthorizationAttributes(other.get("verb", ""), path=other.get("path", ""))
        else:
            wanted = spec["resourceAttributes"]
            fields = ("verb", "group", "resource", "subresource", "namespace", "name")
            attempt = AuthorizationAttributes(*(wanted.get(field, "") for field in fields))
        return authorisation.judge(user, attempt, self._grants)


def _user_info(user: User) -> JsonObject:
    shown: JsonObject = {"username": user.name}
    if user.uid:
        shown["uid"] = user.uid
    if user.groups:
        shown["groups"] = list(user.groups)
    if user.extra:
        shown["extra"] = {key: list(user.extra[key]) for key in sorted(user.extra)}
    return shown


def _self(_: JsonObject, user: User) -> JsonObject:
    return {"userInfo": _user_info(user)}


def _attribute_problems(spec: JsonObject) -> list[FieldError]:
    resource, other = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if (resource is None) != (other is None):
        return []
    path = "spec.resourceAttributes" if resource is None else "spec.nonResourceAttributes"
    words = (
        "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        if resource is None
        else "cannot be specified in combination with resourceAttributes"
    )
    return [field_errors.invalid(path, None if resource is None else other, words)]


def _namespace_problems(review: JsonObject, spec: JsonObject) -> list[FieldError]:
    wanted = (spec.get("resourceAttributes") or {}).get("namespace", "")
    if wanted == review["metadata"].get("namespace", ""):
        return []
    path = "spec.resourceAttributes.namespace"
    return [field_errors.invalid(path, wanted, "must match metadata.namespace")]


def _refuse(problems: list[FieldError]) -> None:
    if problems:
        # upstream: the kind is left out of these errors.
        raise status_errors.invalid("authorization.k8s.io", "", "", problems)


def _write_verdict(verdict: AuthorizationVerdict) -> JsonObject:
    shown: JsonObject = {"allowed": verdict.allowed}
    if verdict.reason:
        shown["reason"] = verdict.reason
    return shown
