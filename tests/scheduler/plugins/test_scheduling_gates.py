"""SchedulingGates: pods that wait to be ready for scheduling."""

from podium.scheduler.framework.events import Action, ClusterEvent, Resource
from podium.scheduler.framework.status import unresolvable
from podium.scheduler.plugins.scheduling_gates import SchedulingGates
from podium.testing import make_cluster, make_handle, make_pod

CLUSTER = make_cluster()
PLUGIN = SchedulingGates(None, make_handle(CLUSTER))


def test_a_pod_without_gates_may_be_queued() -> None:
    assert PLUGIN.pre_enqueue(CLUSTER.infos.of(make_pod("free"))) is None
    assert PLUGIN.pre_enqueue(CLUSTER.infos.of(make_pod("free", schedulingGates=[]))) is None


def test_gates_hold_a_pod_back_and_are_named_in_order() -> None:
    pod = make_pod("gated", schedulingGates=[{"name": "b.io/two"}, {"name": "a.io/one"}])
    answer = PLUGIN.pre_enqueue(CLUSTER.infos.of(pod))
    assert answer == unresolvable("waiting for scheduling gates: [b.io/two a.io/one]")


def test_only_the_end_of_its_own_gates_requeues_a_pod() -> None:
    (registration,) = PLUGIN.events()
    gone = ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
    assert registration.concerns(gone)
    assert not registration.concerns(ClusterEvent(Resource.NODE, Action.ADD))
    assert registration.hint is not None
    waiting = CLUSTER.infos.of(make_pod("gated", schedulingGates=[{"name": "a"}]))
    assert registration.hint(waiting, waiting.pod, make_pod("gated"))
    assert not registration.hint(waiting, None, make_pod("other"))
