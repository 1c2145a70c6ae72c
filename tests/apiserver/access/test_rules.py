"""Whether rules cover rules."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.apiserver.access.authorisation import (
    MAX_PARTS,
    describe_rule,
    find_uncovered_rules,
    rule_grants,
)
from podium.apiserver.access.users import AuthorizationAttributes


def rule(verbs: str, groups: str, resources: str, *names: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "verbs": verbs.split(),
        "apiGroups": [group.removeprefix("core") for group in groups.split()],
        "resources": resources.split(),
    }
    return {**found, "resourceNames": list(names)} if names else found


def paths(verbs: str, *urls: str) -> dict[str, Any]:
    return {"verbs": verbs.split(), "nonResourceURLs": list(urls)}


@pytest.mark.parametrize(
    ("held", "wanted", "lacking"),
    [
        ([rule("*", "*", "*")], [rule("get list", "core apps", "pods a/b", "x")], []),
        ([rule("*", "*", "*")], [paths("get", "/metrics")], [paths("get", "/metrics")]),
        ([paths("get", "/a/*")], [paths("get", "/a/b", "/a/*", "/a")], [paths("get", "/a")]),
        ([paths("get", "*")], [paths("get", "/a", "*")], []),
        ([rule("get", "core", "pods")], [rule("*", "core", "pods")], [rule("*", "core", "pods")]),
        (
            [rule("get", "core", "pods"), rule("list", "core", "pods")],
            [rule("get list watch", "core", "pods")],
            [rule("watch", "core", "pods")],
        ),
        ([rule("get", "core", "*/status")], [rule("get", "core", "pods/status */status")], []),
        ([rule("get", "core", "pods")], [rule("get", "core", "pods/status")],
         [rule("get", "core", "pods/status")]),
        ([rule("get", "core", "pods")], [rule("get", "core", "pods", "a")], []),
        ([rule("get", "core", "pods", "a")], [rule("get", "core", "pods", "a", "b")],
         [rule("get", "core", "pods", "b")]),
        ([rule("get", "core", "pods", "a")], [rule("get", "core", "pods")],
         [rule("get", "core", "pods")]),
        ([rule("get", "core", "pods", "")], [rule("get", "core", "pods")],
         [rule("get", "core", "pods")]),
        ([rule("get", "core", "pods", "*")], [rule("get", "core", "pods", "a")],
         [rule("get", "core", "pods", "a")]),
    ],
)  # fmt: skip
def test_what_is_not_held_is_missing(held: Any, wanted: Any, lacking: Any) -> None:
    assert find_uncovered_rules(held, wanted) == lacking


def test_rules_are_described_in_one_line() -> None:
    shown = describe_rule(rule("get list", "core apps", "pods", "a"))

    assert shown == (
        '{APIGroups:["" "apps"], Resources:["pods"], ResourceNames:["a"], Verbs:["get" "list"]}'
    )


def test_a_rule_that_multiplies_beyond_measure_is_missing_as_a_whole() -> None:
    many = " ".join(f"x{number}" for number in range(1000))
    huge = rule(many, many, many)

    assert MAX_PARTS < 1000**3
    assert find_uncovered_rules([rule("get", "core", "pods")], [huge]) == [huge]
    assert find_uncovered_rules([rule("*", "*", "*")], [huge]) == []


_WORDS = st.lists(st.sampled_from(["a", "b", "*"]), min_size=1, max_size=2, unique=True)
_RULES = st.lists(
    st.builds(
        lambda verbs, groups, resources, names: {
            "verbs": verbs, "apiGroups": groups, "resources": resources, "resourceNames": names,
        },
        _WORDS,
        _WORDS,
        st.lists(st.sampled_from(["p", "p/s", "*/s", "*"]), min_size=1, max_size=2, unique=True),
        st.lists(st.sampled_from(["n", "m"]), max_size=2, unique=True),
    ),
    max_size=3,
)  # fmt: skip


@given(
    held=_RULES,
    wanted=_RULES,
    attempt=st.builds(
        AuthorizationAttributes,
        verb=st.sampled_from(["a", "b", "c"]),
        group=st.sampled_from(["a", "b", "c"]),
        resource=st.sampled_from(["p", "q"]),
        subresource=st.sampled_from(["", "s"]),
        name=st.sampled_from(["", "n", "m"]),
    ),
)
def test_who_covers_rules_may_do_whatever_they_grant(
    held: Any, wanted: Any, attempt: AuthorizationAttributes
) -> None:
    if any(rule_grants(each, attempt) for each in wanted) and not find_uncovered_rules(
        held, wanted
    ):
        assert any(rule_grants(each, attempt) for each in held)
