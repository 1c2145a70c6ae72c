"""PrioritySort: the order of the queue."""

from builders import make_cluster, make_handle, make_pod

from podium.framework.queued import QueuedPod
from podium.plugins.priority_sort import PrioritySort

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
