"""Which rights of some roles are used: every attempt that is judged by their rules."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import pytest

from podium.apiserver.access import authorisation
from podium.apiserver.access.authorisation import rule_grants
from podium.apiserver.access.users import AuthorizationAttributes
from podium.golang.json_values import JsonObject

Right = tuple[str, str, str, str]
"""Verb, group, resource with subresource, name or "" for every name."""


def rights_of(rules: list[JsonObject]) -> set[Right]:
    return {
        right
        for rule in rules
        for right in product(
            rule["verbs"], rule["apiGroups"], rule["resources"], rule.get("resourceNames", [""])
        )
    }


class RecordedRights:
    """Attempts by those who hold the rules, and whether any role allowed them."""

    def __init__(self, rules: list[JsonObject]) -> None:
        self._rules = rules
        self._allowed: dict[AuthorizationAttributes, bool] = {}
        self._by_rules: set[AuthorizationAttributes] = set()

    def judge(self, rule: JsonObject, attempt: AuthorizationAttributes) -> bool:
        allowed = rule_grants(rule, attempt)
        self._allowed[attempt] = self._allowed.get(attempt, False) or allowed
        if rule in self._rules:
            self._by_rules.add(attempt)
        return allowed

    @property
    def refused(self) -> set[AuthorizationAttributes]:
        return {attempt for attempt in list(self._by_rules) if not self._allowed[attempt]}

    @property
    def unused(self) -> set[Right]:
        return {right for right in rights_of(self._rules) if not self._is_used(*right)}

    def _is_used(self, verb: str, group: str, resource: str, name: str) -> bool:
        return any(
            (attempt.verb, attempt.group, attempt.full_resource) == (verb, group, resource)
            and name in ("", attempt.name)
            for attempt in list(self._by_rules)
        )


@contextmanager
def recorded_rights(
    monkeypatch: pytest.MonkeyPatch, *roles: dict[str, Any]
) -> Iterator[RecordedRights]:
    record = RecordedRights([rule for role in roles for rule in role["rules"]])
    with monkeypatch.context() as patched:
        patched.setattr(authorisation, "rule_grants", record.judge)
        yield record
