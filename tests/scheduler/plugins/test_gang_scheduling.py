"""GangScheduling: members wait for each other before the queue and at Permit."""

from support.scheduler.engine.group_driver import make_group, member

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.events import Action, ClusterEvent, Resource
from podium.scheduler.framework.points import PermitResult
from podium.scheduler.framework.queued import WaitingPod
from podium.scheduler.framework.status import error, unresolvable
from podium.scheduler.plugins.gang_scheduling import TOO_FEW_PLACED, GangScheduling
from podium.testing import make_cluster, make_handle, make_node, make_pod

GATES = {"GenericWorkload": True, "GangScheduling": True}


class Bench:
    def __init__(self, *groups: PodGroup, pods: tuple[Pod, ...] = ()) -> None:
        self.cluster = make_cluster([make_node("a"), make_node("b")])
        self.cluster.pod_groups.enabled = True
        self.handle = make_handle(self.cluster, **GATES)
        self.plugin = GangScheduling(None, self.handle)
        for group in groups:
            self.cluster.catalog.put(group)
        for pod in pods:
            self.cluster.pod_groups.put(self.info(pod))

    def info(self, pod: Pod) -> PodInfo:
        return self.cluster.infos.of(pod)

    def assume(self, pod: Pod, *, wait: bool = False) -> Cycle:
        info = self.info(pod)
        self.cluster.assume(info, "a")
        if wait:
            self.handle.waiting.add(WaitingPod(info, "a", {"GangScheduling": 300.0}, 0.0))
        return Cycle(info, self.cluster)


def test_a_pod_without_a_group_is_none_of_its_business() -> None:
    bench = Bench()
    pod = make_pod("p")
    assert bench.plugin.pre_enqueue(bench.info(pod)) is None
    assert bench.plugin.permit(Cycle(bench.info(pod), bench.cluster), "a") is None


def test_a_pod_waits_for_its_group_to_appear() -> None:
    bench = Bench(pods=(member("p"),))
    assert bench.plugin.pre_enqueue(bench.info(member("p"))) == unresolvable(
        """waiting for pods's pod group "g" to appear in scheduling queue"""
    )


def test_a_pod_waits_for_enough_members_to_appear() -> None:
    bench = Bench(make_group(min_count=2), pods=(member("p"),))
    assert bench.plugin.pre_enqueue(bench.info(member("p"))) == unresolvable(
        "waiting for minCount pods from a gang to appear in scheduling queue"
    )
    bench.cluster.pod_groups.put(bench.info(member("q")))
    assert bench.plugin.pre_enqueue(bench.info(member("p"))) is None


def test_members_on_nodes_count_as_known() -> None:
    bench = Bench(make_group(min_count=2), pods=(member("p"),))
    bench.cluster.add_pod(member("q", node="b"))
    assert bench.plugin.pre_enqueue(bench.info(member("p"))) is None


def test_a_basic_group_waits_for_nobody() -> None:
    bench = Bench(make_group(), pods=(member("p"),))
    assert bench.plugin.pre_enqueue(bench.info(member("p"))) is None
    assert bench.plugin.permit(bench.assume(member("p")), "a") is None


def test_too_few_placed_members_wait_five_minutes_and_bring_the_others_forward() -> None:
    bench = Bench(make_group(min_count=2), pods=(member("p"), member("q")))
    cycle = bench.assume(member("p"))
    assert bench.plugin.permit(cycle, "a") == PermitResult(TOO_FEW_PLACED, 300.0)
    assert TOO_FEW_PLACED.message == "waiting for minCount pods from a gang to be scheduled"
    assert list(cycle.to_activate) == ["default/q"]


def test_the_member_that_completes_the_gang_lets_the_others_go() -> None:
    bench = Bench(make_group(min_count=2), pods=(member("p"), member("q")))
    bench.assume(member("p"), wait=True)
    waiting = bench.handle.waiting.get("uid-default-p")
    assert waiting is not None
    assert waiting.outcome is None
    assert bench.plugin.permit(bench.assume(member("q")), "a") is None
    assert waiting.outcome is not None


def test_members_that_are_bound_count_towards_the_gang() -> None:
    bench = Bench(make_group(min_count=2), pods=(member("p"),))
    bench.cluster.add_pod(member("q", node="b"))
    assert bench.plugin.permit(bench.assume(member("p")), "a") is None


def test_a_group_that_is_gone_at_permit_is_an_error() -> None:
    bench = Bench(pods=(member("p"),))
    assert bench.plugin.permit(bench.assume(member("p")), "a") == PermitResult(
        error('failed to get podGroup default/g: podgroup.scheduling.k8s.io "g" not found')
    )


def woken(pod: Pod, event: ClusterEvent, new: object) -> bool:
    bench = Bench()
    return any(
        registration.concerns(event)
        and (registration.hint is None or registration.hint(bench.info(pod), None, new))
        for registration in bench.plugin.events()
    )


def test_a_new_member_wakes_its_group_alone() -> None:
    event = ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.ADD)
    assert woken(member("p"), event, member("q"))
    assert woken(
        member("p"), ClusterEvent(Resource.ASSIGNED_POD, Action.ADD), member("q", node="a")
    )
    assert not woken(member("p"), event, member("q", "other"))
    assert not woken(member("p"), event, member("q", namespace="elsewhere"))
    assert not woken(member("p"), event, make_pod("q"))
    assert not woken(make_pod("p"), event, make_pod("q"))
    assert not woken(member("p"), ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE), member("q"))


def test_a_new_group_wakes_its_own_members() -> None:
    event = ClusterEvent(Resource.POD_GROUP, Action.ADD)
    assert woken(member("p"), event, make_group())
    assert not woken(member("p"), event, make_group("other"))
    assert not woken(member("p", namespace="elsewhere"), event, make_group())
    assert not woken(make_pod("p"), event, make_group())
    assert not woken(member("p"), ClusterEvent(Resource.POD_GROUP, Action.UPDATE), make_group())
