"""The small parts of writing: turns, tries, patches, objects as they came."""

import asyncio
from random import Random

import msgspec
import pytest
from support.live.virtual_loop import run_virtually, sleep_virtually

from podium.client import LoopClock, Unreachable
from podium.client.api_errors import AlreadyExists, ApiError, ApiStatus, Conflict, NotFound
from podium.client.extenders.objects import TypedObjects
from podium.kubernetes.kinds.pod import PodCondition
from podium.live.feed import RawObjects
from podium.live.pod_writes import (
    KeyedLock,
    disruption_patch,
    failure_patch,
    nomination_patch,
    with_retries,
)
from podium.testing import make_node, make_pod

NOW = "2027-01-15T08:00:00Z"
BEFORE = "2027-01-01T00:00:00Z"


def test_turns_are_taken_in_order_by_key_and_leave_nothing_behind() -> None:
    told: list[str] = []

    async def work(lock: KeyedLock, key: str, name: str, seconds: float) -> None:
        async with lock.hold(key):
            told.append(f"{name} begins")
            await sleep_virtually(seconds)
            told.append(f"{name} ends")

    async def main() -> None:
        lock = KeyedLock()
        given_up = asyncio.ensure_future(work(lock, "a", "third", 1))
        others = [work(lock, "a", "first", 2), work(lock, "a", "second", 1)]
        tasks = [asyncio.ensure_future(each) for each in others]
        tasks.append(asyncio.ensure_future(work(lock, "b", "other", 1)))
        given_up.cancel()
        await asyncio.wait(tasks)
        assert len(lock) == 0

    run_virtually(main())
    assert told == [
        "first begins",
        "other begins",
        "other ends",
        "first ends",
        "second begins",
        "second ends",
    ]


def _error(kind: type[ApiError], code: int, reason: str) -> ApiError:
    return kind(ApiStatus(code=code, reason=reason, message=reason))


@pytest.mark.parametrize(
    ("problem", "tries"),
    [
        (_error(ApiError, 500, "InternalError"), 4),
        (_error(ApiError, 503, "ServiceUnavailable"), 4),
        (_error(Conflict, 409, "Conflict"), 4),
        (Unreachable("no", refused=True), 4),
        (Unreachable("reset", in_time=False), 1),
        (_error(AlreadyExists, 409, "AlreadyExists"), 1),
        (_error(NotFound, 404, "NotFound"), 1),
    ],
)
def test_only_what_may_pass_by_itself_is_tried_again(problem: Exception, tries: int) -> None:
    count = 0

    async def write() -> None:
        nonlocal count
        count += 1
        raise problem

    async def main() -> float:
        with pytest.raises(type(problem)):
            await with_retries(write, LoopClock(), Random(1))
        return asyncio.get_running_loop().time()

    took_s = run_virtually(main())
    assert count == tries
    if tries == 4:
        assert 0.31 <= took_s <= 0.341


def test_a_failure_keeps_the_time_of_a_condition_that_stays_false() -> None:
    held = PodCondition(type="PodScheduled", status="False", last_transition_time=BEFORE)
    pod = make_pod("a", metadata={"uid": "u", "generation": 3}, status={"conditions": (held,)})
    patch = failure_patch(pod, "Unschedulable", "no room", "", NOW)
    assert patch == {
        "metadata": {"uid": "u"},
        "status": {
            "conditions": [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "Unschedulable",
                    "message": "no room",
                    "lastProbeTime": None,
                    "lastTransitionTime": BEFORE,
                    "observedGeneration": 3,
                }
            ]
        },
    }
    fresh = failure_patch(make_pod("b"), "SchedulerError", "broke", "n1", NOW)["status"]
    assert fresh["conditions"][0]["lastTransitionTime"] == NOW
    assert fresh["nominatedNodeName"] == "n1"


def test_a_condition_tells_its_generation_with_the_gate_or_if_it_did_before() -> None:
    def told(*held: PodCondition) -> bool:
        pod = make_pod("a", metadata={"generation": 3}, status={"conditions": held})
        patches = (
            failure_patch(pod, "r", "m", None, NOW, generations=False),
            disruption_patch(pod, "m", NOW, generations=False),
        )
        return any("observedGeneration" in p["status"]["conditions"][0] for p in patches)

    assert not told()
    assert not told(PodCondition(type="PodScheduled", status="False"))
    assert told(PodCondition(type="PodScheduled", status="False", observed_generation=2))
    assert told(PodCondition(type="DisruptionTarget", status="True", observed_generation=2))


def test_a_nomination_is_cleared_by_null() -> None:
    pod = make_pod("a", status={"nominatedNodeName": "n1"})
    assert nomination_patch(pod, "")["status"] == {"nominatedNodeName": None}
    assert failure_patch(pod, "r", "m", "", NOW)["status"]["nominatedNodeName"] is None
    assert "nominatedNodeName" not in failure_patch(pod, "r", "m", "n1", NOW)["status"]


def test_a_victim_is_marked_and_a_claim_named() -> None:
    (condition,) = disruption_patch(make_pod("a"), "make way", NOW)["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("DisruptionTarget", "True")
    assert (condition["reason"], condition["message"]) == ("PreemptionByScheduler", "make way")


def test_extenders_get_objects_as_they_came_without_what_is_not_theirs() -> None:
    raw = RawObjects(TypedObjects(make_node))
    node, pod = make_node("n1"), make_pod("a", metadata={"resourceVersion": "7"})
    written = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "a", "managedFields": [{}], "resourceVersion": "7"},
        "spec": {"hostname": "unread"},
    }
    raw.put(node, msgspec.Raw(b'{"kind":"Node","metadata":{"name":"n1"},"spec":{"podCIDR":"x"}}'))
    raw.put(pod, msgspec.Raw(msgspec.json.encode(written)))

    assert msgspec.json.decode(raw.node("n1")) == {
        "metadata": {"name": "n1"},
        "spec": {"podCIDR": "x"},
    }
    assert msgspec.json.decode(raw.pod(pod)) == {
        "metadata": {"name": "a", "resourceVersion": "7"},
        "spec": {"hostname": "unread"},
    }
    newer = make_pod("a", metadata={"resourceVersion": "8"})
    assert b"unread" not in raw.pod(newer)
    raw.remove(node)
    raw.remove(pod)
    assert len(raw) == 0
    with pytest.raises(KeyError):
        raw.node("n1")


def test_a_pod_that_has_a_node_is_not_kept() -> None:
    raw = RawObjects(TypedObjects(make_node))
    raw.put(make_pod("a"), msgspec.Raw(b"{}"))
    raw.put(make_pod("a", node="n1"), msgspec.Raw(b"{}"))
    assert len(raw) == 0
