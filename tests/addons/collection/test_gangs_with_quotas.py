"""Gangs of namespaces with quotas: what others have borrowed is taken back for a whole gang."""

from typing import Any

import msgspec
from support.addons.collection.gang_cluster import GangCluster, group, member, node

from podium.addons.collection.capacity_scheduling import CapacityScheduling
from podium.addons.collection.coscheduling.plugin import Coscheduling
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.scheduler_plugins import ElasticQuota
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.requests import Preempt
from podium.testing import FakeCluster, make_pod


class QuotaGangs(GangCluster):
    """Both plugins, and evictions that are carried out at once."""

    def __init__(self, *objects: Any) -> None:
        FakeCluster.__init__(
            self,
            *objects,
            plugins=[Coscheduling, CapacityScheduling],
            disabled=["DefaultPreemption"],
        )
        self.tried: list[str] = []
        self.gone: list[str] = []

    def settle(self) -> dict[str, str]:
        while True:
            there = super().settle()
            asked, self.preemptions = self.preemptions, []
            if not asked:
                return there
            for request in asked:
                for eviction in request.evict:
                    self._evict(request, eviction.victim)
                self.engine.preemptions.finish_preemption(request.preemptor, None)

    def _evict(self, request: Preempt, victim: PodInfo) -> None:
        self.engine.preemptions.confirm_eviction(request.preemptor, victim, request.node_name)
        if victim.key not in self.gone:
            self.gone.append(victim.key)
            self.delete(victim.key)

    def members(self) -> list[str]:
        """Those of the gang that are bound."""
        pods = self.engine.state.pods
        return [
            f"m{n}"
            for n in range(8)
            if (found := pods.get(f"default/m{n}")) is not None and found.spec.node_name
        ]


def quota(namespace: str, **spec: Any) -> ElasticQuota:
    raw = {"metadata": {"name": "quota", "namespace": namespace}, "spec": spec}
    return msgspec.convert(raw, ElasticQuota)


def borrower(name: str, on: str) -> Pod:
    return make_pod(
        name, namespace="lender", node=on, requests={"cpu": "1"}, status={"phase": "Running"}
    )


def of_team(number: int) -> Pod:
    return member(f"m{number}")


def full_cluster() -> QuotaGangs:
    """Two nodes of four cpus, full of pods of a namespace that is guaranteed half of them."""
    borrowers = [borrower(f"b{n}", "a" if n < 4 else "b") for n in range(8)]
    return QuotaGangs(
        node("a", 4),
        node("b", 4),
        quota("default", min={"cpu": "4"}),
        quota("lender", min={"cpu": "4"}),
        group("g", 4),
        *borrowers,
    )


def test_a_gang_within_its_guarantee_takes_back_from_several_borrowers() -> None:
    cluster = full_cluster()
    cluster.put(*map(of_team, range(4)))
    for _ in range(20):
        cluster.pass_time(5)
    assert cluster.members() == ["m0", "m1", "m2", "m3"]
    assert len(cluster.gone) == 4


def test_a_gang_beyond_its_guarantee_takes_nothing_back() -> None:
    cluster = full_cluster()
    cluster.put(group("g", 6), *map(of_team, range(6)))
    for _ in range(20):
        cluster.pass_time(5)
    assert cluster.members() == []
    assert cluster.gone == []
