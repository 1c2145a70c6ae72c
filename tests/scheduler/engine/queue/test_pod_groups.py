"""Members of pod groups in the queue: popped out of turn, back by backoff alone."""

from typing import Any

from support.scheduler.engine.queues import NODE_ADDED, NODES, QueueUnderTest, info

from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.queued import QueuedPod


def grouped(name: str, **fields: Any) -> PodInfo:
    return info(name, schedulingGroup={"podGroupName": "g"}, **fields)


class GroupQueue(QueueUnderTest):
    def __init__(self, **more: Any) -> None:
        super().__init__([("P", NODES)], **more)
        self._pod_groups = True


def pop(queue: QueueUnderTest) -> QueuedPod:
    queued = queue.pop()
    assert queued is not None
    return queued


def test_a_pod_is_popped_out_of_turn() -> None:
    queue = GroupQueue()
    first, second = info("p", priority=9), info("q")
    queue.add(first)
    queue.add(second)
    popped = queue.pop_specific(second)
    assert popped is not None
    assert (popped.info, popped.attempts, queue.cycle) == (second, 1, 1)
    assert queue.in_flight(second.uid)
    assert pop(queue).info is first


def test_a_pod_that_is_not_queued_is_not_popped() -> None:
    queue = GroupQueue()
    queue.add(info("p"))
    pop(queue)
    assert queue.pop_specific(info("p")) is None
    assert queue.pop_specific(info("q")) is None


def test_backoff_is_no_hindrance() -> None:
    queue = GroupQueue()
    for name, rejectors in (("p", ("P",)), ("q", ())):
        queue.add(grouped(name))
        queue.fail(pop(queue), *rejectors)
    assert queue.pop() is None
    assert queue.pop_specific(grouped("p")) is not None
    assert queue.pop_specific(grouped("q")) is not None


def test_a_sleeping_pod_is_woken_unless_it_is_held_back() -> None:
    queue = GroupQueue()
    queue.add(info("p"))
    queue.fail(pop(queue), "P")
    queue.doorman.held["p"] = "Gate"
    assert queue.pop_specific(info("p")) is None
    del queue.doorman.held["p"]
    assert queue.pop_specific(info("p")) is not None


def test_a_pod_that_is_being_tried_already_is_not_tried_twice() -> None:
    queue = GroupQueue()
    queue.add(info("p"))
    pop(queue)
    queue.add(info("p"))
    assert queue.pop_specific(info("p")) is None


def test_a_failed_member_backs_off_whatever_rejected_it() -> None:
    queue = GroupQueue()
    queue.add(grouped("p"))
    queue.add(info("alone"))
    queue.fail(pop(queue), "P")
    queue.fail(pop(queue), "P")
    parts = queue.parts()
    assert [q.info.key for q in parts.backoff] == ["default/p"]
    assert [q.info.key for q in parts.unschedulable] == ["default/alone"]


def test_events_during_the_attempt_do_not_shorten_it() -> None:
    queue = GroupQueue()
    queue.add(grouped("p"))
    queued = pop(queue)
    queue.move_on_event(NODE_ADDED, None, None)
    queue.fail(queued, "P")
    assert [q.info.key for q in queue.parts().backoff] == ["default/p"]


def test_members_are_not_popped_early_but_others_are() -> None:
    queue = GroupQueue()
    queue.add(grouped("p", priority=9))
    queue.add(info("alone"))
    queue.fail(pop(queue), "P")
    queued = pop(queue)
    queue.move_on_event(NODE_ADDED, None, None)
    queue.fail(queued, "P")
    assert len(queue.parts().backoff) == 2
    assert pop(queue).info.key == "default/alone"
    assert queue.pop() is None
    queue.clock.advance(2)
    queue.flush_backoff()
    assert pop(queue).info.key == "default/p"


def test_without_groups_a_member_is_a_pod_like_others() -> None:
    queue = QueueUnderTest([("P", NODES)])
    queue.add(grouped("p"))
    queued = pop(queue)
    queued.rejectors = {"P"}
    queue.put_back(queued)
    assert [q.info.key for q in queue.parts().unschedulable] == ["default/p"]
