"""Who may bind a pod to a node, by the lock on the node."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.addons.gpu.dialect_objects import NOW, node, pod

from podium.addons.gpu.dialects import DIALECTS, find_dialect
from podium.addons.gpu.dialects.node_lock import (
    LockGranted,
    LockHeld,
    LockHolder,
    NodeLockRule,
    acquire_lock,
    may_release_lock,
    read_lock,
)


def rule_of(name: str) -> NodeLockRule:
    rule = find_dialect(name).lock
    assert rule is not None
    return rule


HAMI, TYDIC = rule_of("hami"), rule_of("gpu-scheduler")
MINE = pod(name="mine")


def take(rule: NodeLockRule, value: str, *, owner_exists: bool = True) -> LockGranted | LockHeld:
    locked = node({}, {rule.key: value} if value else {})
    return acquire_lock(rule, locked, MINE, NOW, lambda _namespace, _name: owner_exists)


def test_two_dialects_have_locks() -> None:
    locks = {name: find_dialect(name).lock for name in DIALECTS}
    keys = {name: lock.key for name, lock in locks.items() if lock is not None}
    assert keys == {"gpu-scheduler": "tydic.io/node-lock", "hami": "hami.io/mutex.lock"}
    assert {lock.expires_s for lock in locks.values() if lock is not None} == {300.0}


@pytest.mark.parametrize(
    ("rule", "value"),
    [(TYDIC, "1800000000000000000"), (HAMI, "2027-01-15T08:00:00Z,ns,mine")],
)
def test_a_free_lock_is_taken(rule: NodeLockRule, value: str) -> None:
    assert take(rule, "") == LockGranted(value)
    locked = node({}, {rule.key: value})
    holder = read_lock(rule, locked)
    assert holder is not None
    assert holder.locked_at == NOW


@pytest.mark.parametrize(
    ("rule", "value", "holder"),
    [
        (TYDIC, "1799999700000000000", LockHolder(NOW - 300)),
        (HAMI, "2027-01-15T07:56:00Z,ns,other", LockHolder(NOW - 240, "ns", "other")),
        (HAMI, "2027-01-15T07:56:00Z,elsewhere,mine", LockHolder(NOW - 240, "elsewhere", "mine")),
        (HAMI, "2027-01-15T08:56:00+01:00", LockHolder(NOW - 240)),
    ],
)
def test_another_pods_lock_holds_for_five_minutes(
    rule: NodeLockRule, value: str, holder: LockHolder
) -> None:
    assert take(rule, value) == LockHeld(holder, "node n1 has been locked within 5 minutes")


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        (TYDIC, "1799999699000000000"),
        (HAMI, "2027-01-15T07:54:59Z,ns,other"),
        (HAMI, "2027-01-15T09:00:00Z,ns,other"),  # a clock that is wrong by an hour
    ],
)
def test_an_old_lock_is_taken_over(rule: NodeLockRule, value: str) -> None:
    assert isinstance(take(rule, value), LockGranted)


def test_the_owner_has_it_already() -> None:
    assert take(HAMI, "2027-01-15T07:59:00Z,ns,mine") == LockGranted(None)


def test_the_lock_of_a_pod_that_is_gone_is_free() -> None:
    assert take(HAMI, "2027-01-15T07:59:00Z,ns,gone", owner_exists=False) == LockGranted(
        "2027-01-15T08:00:00Z,ns,mine"
    )


@pytest.mark.parametrize("rule", [TYDIC, HAMI])
@given(value=st.text())
def test_a_lock_that_nobody_can_read_does_not_lock_for_ever(rule: NodeLockRule, value: str) -> None:
    assert isinstance(take(rule, value), LockGranted | LockHeld)
    if read_lock(rule, node({}, {rule.key: value})) is None:
        assert isinstance(take(rule, value), LockGranted)


@pytest.mark.parametrize(
    ("rule", "value", "may"),
    [
        (HAMI, "", False),
        (HAMI, "2027-01-15T07:59:00Z,ns,mine", True),
        (HAMI, "2027-01-15T07:59:00Z,ns,other", False),
        (HAMI, "2027-01-15T07:59:00Z", True),
        (HAMI, "?", True),
        (TYDIC, "1799999990000000000", True),
        (TYDIC, "", False),
    ],
)
def test_only_the_owner_releases(rule: NodeLockRule, value: str, may: bool) -> None:
    assert may_release_lock(rule, node({}, {rule.key: value} if value else {}), MINE) is may
