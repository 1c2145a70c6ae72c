"""Impersonation: a request that is carried out as somebody else, as its headers ask.

Everything that the headers name is authorised: the user, each group, the uid and each extra value.
There are several ways to be allowed, tried in order. The constrained ones grant it only for some
requests (`impersonate-on:user-info:list` on pods) and never masters; the last is the old one, which
grants it for all. The way by the node of a service account's token is not among them: no user of
this server is a service account.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple
from urllib.parse import unquote

from podium.apiserver.access.authorisation import Grants, require
from podium.apiserver.access.users import (
    ANONYMOUS,
    AUTHENTICATED,
    MASTERS,
    NODES,
    SERVICE_ACCOUNTS,
    UNAUTHENTICATED,
    AuthorizationAttributes,
    User,
    forbidden_status_error,
    node_of,
    service_account_of,
)
from podium.golang.quoting import go_quote
from podium.kubernetes import status_errors
from podium.kubernetes.rules import field_errors
from podium.kubernetes.status_errors import StatusError
from podium.kubernetes.validation.names import subdomain_problems

_PREFIX: Final = b"impersonate-"
_EXTRA: Final = b"impersonate-extra-"
_AUTHENTICATION: Final = "authentication.k8s.io"
_NO_ESCAPE: Final = re.compile("%(?![0-9A-Fa-f]{2})")
_MANY: Final = 4
"""From so many groups or extra values on, a grant for all of them is looked for first."""


def wanted_user(headers: Mapping[bytes, Sequence[bytes]]) -> User | None:
    """Whom the headers of a request name, None if they name nobody."""
    for name in headers:
        if name.startswith(_PREFIX):
            return _read_impersonated_user(headers)
    return None


def _read_impersonated_user(headers: Mapping[bytes, Sequence[bytes]]) -> User | None:
    extra: dict[str, list[str]] = {}
    for name in sorted(headers):
        if name.startswith(_EXTRA):
            key = _unescape_key(_text(name.removeprefix(_EXTRA)))
            extra.setdefault(key, []).extend(map(_text, headers[name]))
    wanted = User(
        _first(headers, b"impersonate-user"),
        _first(headers, b"impersonate-uid"),
        tuple(map(_text, headers.get(b"impersonate-group", ()))),
        extra,
    )
    if wanted.name:
        return wanted
    if wanted.uid or wanted.groups or wanted.extra:
        raise status_errors.bad_request(
            f"requested {_in_go_syntax(wanted)} without impersonating a user name"
        )
    return None


def _first(headers: Mapping[bytes, Sequence[bytes]], name: bytes) -> str:
    values = headers.get(name)
    return _text(values[0]) if values else ""


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _unescape_key(key: str) -> str:
    """A key as it was before it was fit for a header; one that was not escaped well stays."""
    return key if _NO_ESCAPE.search(key) else unquote(key)


def _in_go_syntax(user: User) -> str:
    extra = ", ".join(f"{go_quote(key)}:{_strings(user.extra[key])}" for key in sorted(user.extra))
    return (
        f"&user.DefaultInfo{{Name:{go_quote(user.name)}, UID:{go_quote(user.uid)},"
        f" Groups:{_strings(user.groups)},"
        f" Extra:map[string][]string{f'{{{extra}}}' if extra else '(nil)'}}}"
    )


def _strings(values: Sequence[str]) -> str:
    return f"[]string{{{', '.join(map(go_quote, values))}}}" if values else "[]string(nil)"


class _Way(NamedTuple):
    """One way to be allowed to impersonate."""

    applies: Callable[[User], bool]
    mode: str = ""
    """Empty for the old way, which asks nothing about the request."""

    @property
    def verb(self) -> str:
        return f"impersonate:{self.mode}" if self.mode else "impersonate"


def _is_bare(wanted: User) -> bool:
    return not (wanted.uid or wanted.groups or wanted.extra)


_WAYS: Final = (
    _Way(lambda wanted: _is_bare(wanted) and node_of(wanted.name) is not None, "arbitrary-node"),
    _Way(
        lambda wanted: _is_bare(wanted) and service_account_of(wanted.name) is not None,
        "serviceaccount",
    ),
    _Way(
        lambda wanted: node_of(wanted.name) is None and service_account_of(wanted.name) is None,
        "user-info",
    ),
    _Way(lambda _: True),
)


class Impersonation:
    """Decides who may act as whom."""

    def __init__(self, grants: Grants) -> None:
        self._grants = grants
        self._last_way: dict[str, _Way] = {}
        """By who asked; these are the users that can authenticate, and so they are few."""

    def impersonate(self, user: User, wanted: User, attempt: AuthorizationAttributes) -> User:
        """Whom the request of a user is carried out as; 403 if the user may not do that.

        upstream: the way that worked last is tried first, and its refusal is the one that is told.
        """
        last = self._last_way.get(user.name)
        ways = _WAYS if last is None else (last, *(each for each in _WAYS if each is not last))
        refusal: StatusError | None = None
        for way in ways:
            if not way.applies(wanted):
                continue
            try:
                found = self._by(way, user, wanted, attempt)
            except StatusError as problem:
                refusal = refusal or problem
                continue
            self._last_way[user.name] = way
            return found
        assert refusal is not None, "the old way is always tried"
        raise refusal

    def _by(self, way: _Way, user: User, wanted: User, attempt: AuthorizationAttributes) -> User:
        if way.mode:
            self._require(user, replace(attempt, verb=f"impersonate-on:{way.mode}:{attempt.verb}"))
        groups = self._require_name(way, user, wanted)
        if wanted.uid:
            self._require(
                user, AuthorizationAttributes(way.verb, _AUTHENTICATION, "uids", name=wanted.uid)
            )
        self._require_groups(way, user, wanted.groups)
        self._require_extra(way, user, wanted.extra)
        if wanted.name == ANONYMOUS.name:
            groups = _with(groups, UNAUTHENTICATED)
        elif UNAUTHENTICATED not in groups:
            groups = _with(groups, AUTHENTICATED)
        return replace(wanted, groups=groups)

    def _require(self, user: User, attempt: AuthorizationAttributes) -> None:
        require(user, attempt, self._grants)

    def _require_name(self, way: _Way, user: User, wanted: User) -> tuple[str, ...]:
        """Authorise the name; gives the groups, those that the name implies if none are asked."""
        groups = wanted.groups
        attempt = AuthorizationAttributes(
            way.verb, _AUTHENTICATION if way.mode else "", "users", name=wanted.name
        )
        node = node_of(wanted.name) if way.mode else None
        account = service_account_of(wanted.name)
        if node is not None:
            attempt = replace(attempt, resource="nodes", name=node)
            groups = (NODES,)
        elif account is not None:
            namespace, name = account
            attempt = replace(attempt, resource="serviceaccounts", namespace=namespace, name=name)
            groups = groups or (SERVICE_ACCOUNTS, f"{SERVICE_ACCOUNTS}:{namespace}")
        self._require(user, attempt)
        return groups

    def _require_groups(self, way: _Way, user: User, groups: Sequence[str]) -> None:
        attempt = AuthorizationAttributes(way.verb, _AUTHENTICATION if way.mode else "", "groups")
        if way.mode:
            if "" in groups:
                why = "impersonating the empty string group is not allowed"
                raise forbidden_status_error(user, attempt, why)
            if MASTERS in groups:
                why = "impersonating the system:masters group is not allowed"
                raise forbidden_status_error(user, replace(attempt, name=MASTERS), why)
            if len(groups) >= _MANY and self._allows(user, replace(attempt, name="*")):
                return
        for group in groups:
            self._require(user, replace(attempt, name=group))

    def _require_extra(self, way: _Way, user: User, extra: Mapping[str, Sequence[str]]) -> None:
        attempt = AuthorizationAttributes(way.verb, _AUTHENTICATION, "userextras")
        if way.mode:
            for why in _extra_problems(extra):
                raise forbidden_status_error(user, attempt, why)
            many = len(extra) >= _MANY or sum(map(len, extra.values())) >= _MANY
            if many and self._allows(user, replace(attempt, subresource="*", name="*")):
                return
        for key, values in extra.items():
            for value in values:
                self._require(user, replace(attempt, subresource=key, name=value))

    def _allows(self, user: User, attempt: AuthorizationAttributes) -> bool:
        try:
            self._require(user, attempt)
        except StatusError:
            return False
        return True


def _with(groups: tuple[str, ...], group: str) -> tuple[str, ...]:
    return groups if group in groups else (*groups, group)


def _extra_problems(extra: Mapping[str, Sequence[str]]) -> list[str]:
    """Why the constrained ways allow nobody such extra values."""
    problems: list[str] = []
    for key, values in extra.items():
        if not key:
            problems.append("impersonating the empty string key in extra is not allowed")
        elif not _is_domain_prefixed(key):
            told = field_errors.invalid(
                "extra.key", key, 'must be a domain-prefixed path (such as "acme.io/foo")'
            )
            problems.append(f"impersonating an invalid key in extra is not allowed: {told}")
        if "" in values:
            problems.append("impersonating the empty string value in extra is not allowed")
    return problems


def _is_domain_prefixed(key: str) -> bool:
    domain, _, path = key.partition("/")
    return bool(path) and not subdomain_problems(domain)
