"""Which taints a toleration covers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.kinds.node import Taint
from podium.kubernetes.kinds.pod import Toleration
from podium.kubernetes.rules.tolerations import (
    PREFER_NO_SCHEDULE,
    TolerationIndex,
    find_untolerated_taint,
    is_tolerated,
    tolerates,
)


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        (Toleration(key="k", operator="Equal", value="v", effect="NoSchedule"), True),
        (Toleration(key="k", value="v"), True),
        (Toleration(key="k", value="w"), False),
        (Toleration(key="k", operator="Exists"), True),
        (Toleration(key="k", operator="Exists", value="w"), True),
        (Toleration(operator="Exists"), True),
        (Toleration(value="v"), True),
        (Toleration(), False),
        (Toleration(key="other", operator="Exists"), False),
        (Toleration(key="k", operator="Exists", effect="NoExecute"), False),
        (Toleration(key="k", operator="exists"), False),
        (Toleration(key="k", operator="Exists", toleration_seconds=0), True),
    ],
)
def test_effect_key_and_operator_decide(toleration: Toleration, expected: bool) -> None:
    assert tolerates(toleration, "k", "v", "NoSchedule", comparison=False) is expected


@pytest.mark.parametrize(
    ("operator", "taint", "bound", "expected"),
    [
        ("Lt", "5", "10", True),
        ("Lt", "10", "10", False),
        ("Gt", "11", "10", True),
        ("Gt", "-5", "-6", True),
        ("Gt", "0", "-1", True),
        ("Gt", "+5", "1", False),
        ("Gt", "05", "1", False),
        ("Gt", "5", "01", False),
        ("Gt", "5", "-0", False),
        ("Gt", "abc", "1", False),
        ("Lt", "1", "9223372036854775808", False),
        ("Lt", "1", "9223372036854775807", True),
        ("Gt", "", "1", False),
    ],
)
def test_comparisons_need_their_gate_and_canonical_integers(
    operator: str, taint: str, bound: str, expected: bool
) -> None:
    toleration = Toleration(key="k", operator=operator, value=bound)
    assert tolerates(toleration, "k", taint, "NoSchedule", comparison=True) is expected
    assert not tolerates(toleration, "k", taint, "NoSchedule", comparison=False)


def test_the_first_taint_nobody_tolerates_is_found() -> None:
    taints = (
        Taint(key="soft", effect=PREFER_NO_SCHEDULE),
        Taint(key="a", effect="NoSchedule"),
        Taint(key="b", value="v", effect="NoExecute"),
    )
    allows_a, allows_b = Toleration(key="a", operator="Exists"), Toleration(key="b", value="v")
    assert find_untolerated_taint(taints, None, comparison=False) == taints[1]
    assert find_untolerated_taint(taints, (allows_a,), comparison=False) == taints[2]
    assert find_untolerated_taint(taints, (allows_a, allows_b), comparison=False) is None
    assert find_untolerated_taint(taints, (), {PREFER_NO_SCHEDULE}, comparison=False) == taints[0]
    assert find_untolerated_taint(None, (), comparison=False) is None


def test_the_gate_reaches_the_taints_of_a_node() -> None:
    taints = (Taint(key="sla", value="950", effect="NoExecute"),)
    demanding = (Toleration(key="sla", operator="Gt", value="900"),)
    assert find_untolerated_taint(taints, demanding, comparison=False) == taints[0]
    assert find_untolerated_taint(taints, demanding, comparison=True) is None


def test_no_toleration_tolerates_nothing() -> None:
    taint, given = ("k", "", "NoSchedule"), (Toleration(key="x"), Toleration(operator="Exists"))
    assert not is_tolerated(None, *taint, comparison=False)
    assert is_tolerated(given, *taint, comparison=False)


def test_tolerations_can_be_cache_keys() -> None:
    assert hash((Toleration(key="a"),)) == hash((Toleration(key="a"),))


EFFECTS = ("", "NoSchedule", "NoExecute")
VALUES = ("", "v", "5", "10", "-3", "05", "99999999999999999999")
tolerations = st.builds(
    Toleration,
    key=st.sampled_from(("", "k", "m")),
    operator=st.sampled_from(("", "Equal", "Exists", "Lt", "Gt", "exists")),
    value=st.sampled_from(VALUES),
    effect=st.sampled_from(EFFECTS),
)


@given(
    given=st.lists(tolerations, max_size=6),
    key=st.sampled_from(("", "k", "m", "other")),
    value=st.sampled_from((*VALUES, "7")),
    effect=st.sampled_from(EFFECTS[1:]),
    comparison=st.booleans(),
)
def test_an_index_of_tolerations_answers_as_they_do_one_by_one(
    given: list[Toleration], key: str, value: str, effect: str, comparison: bool
) -> None:
    index = TolerationIndex(given, comparison=comparison)
    expected = is_tolerated(given, key, value, effect, comparison=comparison)
    assert index.tolerates(key, value, effect) is expected
