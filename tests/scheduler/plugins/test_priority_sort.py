"""PrioritySort: the order of the queue."""

from podium.scheduler.framework.points import QueueSortPlugin
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.plugins.priority_sort import PrioritySort
from podium.testing import make_cluster, make_handle, make_pod

CLUSTER = make_cluster()
PLUGIN = PrioritySort(None, make_handle(CLUSTER))


def queued(name: str, timestamp: float, priority: int | None = None) -> QueuedPod:
    return QueuedPod(CLUSTER.infos.of(make_pod(name, priority=priority)), timestamp)


def order(*pods: QueuedPod) -> list[str]:
    return [pod.info.pod.metadata.name for pod in sorted(pods, key=PLUGIN.sort_key)]


def test_higher_priority_comes_first_however_late() -> None:
    assert order(queued("early", 1.0, 5), queued("late", 9.0, 10)) == ["late", "early"]


def test_equal_priorities_go_by_time_in_the_queue() -> None:
    assert order(queued("late", 2.0, 5), queued("early", 1.0, 5)) == ["early", "late"]


def test_no_priority_is_priority_zero() -> None:
    pods = (queued("none", 2.0), queued("zero", 1.0, 0), queued("below", 0.0, -1))
    assert order(*pods) == ["zero", "none", "below"]


def test_an_order_may_be_said_by_comparing_two_pods() -> None:
    class ByLess(QueueSortPlugin):
        name = "ByLess"

        def less(self, one: QueuedPod, other: QueuedPod) -> bool:
            return PLUGIN.less(one, other)

    by_less = ByLess(None, make_handle(CLUSTER))
    pods = [queued("b", 2.0, 5), queued("c", 3.0, 9), queued("a", 1.0, 5), queued("d", 1.0, 5)]

    assert sorted(pods, key=by_less.sort_key) == sorted(pods, key=PLUGIN.sort_key)
    assert by_less.sort_key(pods[2]) == by_less.sort_key(pods[3])
    assert by_less.sort_key(pods[1]) < by_less.sort_key(pods[0])
