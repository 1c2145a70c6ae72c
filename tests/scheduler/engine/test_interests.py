"""What the plugins of a profile are told."""

from collections.abc import Sequence

import numpy as np
from support.scheduler.framework.fake_plugins import Arrival, Binder, configuration_of

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.growth import Ints, Rows, indices
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.engine.interests import interests_of
from podium.scheduler.engine.queue.queueing_hints import Interests
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.events import Action, ClusterEvent, Registration, Resource
from podium.scheduler.framework.points import Plugin, PreEnqueuePlugin, ReservePlugin, ScorePlugin
from podium.scheduler.framework.profile import build_profiles
from podium.scheduler.framework.queued import WaitingPods
from podium.scheduler.framework.registry import PluginRegistry
from podium.testing import FakeCluster

PROFILE = "default-scheduler"


class Gate(PreEnqueuePlugin):
    name = "Gate"

    def pre_enqueue(self, pod: PodInfo) -> None:
        return None


def gate(*registered: Registration) -> type[Plugin]:
    class Picky(Gate):
        def events(self) -> Sequence[Registration]:
            return registered

    return Picky


def interests(*plugins: type[Plugin], extenders: bool = False) -> Interests:
    given = [*plugins, Arrival, Binder]
    profiles = build_profiles(
        configuration_of(given),
        PluginRegistry(given),
        Cluster(ALL_REQUESTS),
        FeatureGates(),
        WaitingPods(),
    )
    return interests_of(profiles.values(), extenders=extenders)


def heard(known: Interests) -> set[str]:
    """Resources of which any change is told; pod groups are a matter of their own."""
    return {
        resource.value
        for resource in Resource
        if resource not in (Resource.ANY, Resource.POD_GROUP)
        and known.anyone(ClusterEvent(resource, Action.UPDATE))
    }


def test_a_plugin_that_declares_nothing_is_told_nearly_everything() -> None:
    assert heard(interests(Gate)) == {
        "Pod",
        "AssignedPod",
        "UnschedulablePod",
        "Node",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "storage.k8s.io/CSINode",
        "storage.k8s.io/CSIDriver",
        "storage.k8s.io/CSIStorageCapacity",
        "storage.k8s.io/StorageClass",
        "resource.k8s.io/ResourceClaim",
        "resource.k8s.io/DeviceClass",
    }


def test_extenders_are_told_what_such_a_plugin_is_told() -> None:
    assert heard(interests(extenders=True)) == heard(interests(Gate))
    assert heard(interests()) == set()


def test_a_plugin_that_declares_an_empty_list_is_told_nothing() -> None:
    assert heard(interests(gate())) == set()


def test_a_plugin_that_cannot_reject_is_told_nothing() -> None:
    class Scorer(ScorePlugin):
        name = "Scorer"

        def score(self, cycle: Cycle, rows: Rows) -> Ints:
            return np.zeros(len(indices(rows)), dtype=np.int64)

    assert heard(interests(Scorer)) == set()


def test_reserve_plugins_can_reject() -> None:
    class Holder(ReservePlugin):
        name = "Holder"

        def reserve(self, cycle: Cycle, node_name: str) -> None:
            return None

    assert "Node" in heard(interests(Holder))


def test_who_waits_for_new_nodes_is_woken_by_every_taint_change() -> None:
    taint = ClusterEvent(Resource.NODE, Action.UPDATE_NODE_TAINT)
    label = ClusterEvent(Resource.NODE, Action.UPDATE_NODE_LABEL)
    adds = interests(gate(Registration(Resource.NODE, Action.ADD, lambda *_: False)))
    assert adds.anyone(taint)
    assert not adds.anyone(label)
    assert [i.registration.hint for i in adds.find_matching(PROFILE, taint)] == [None]
    labels = interests(gate(Registration(Resource.NODE, Action.UPDATE_NODE_LABEL)))
    assert not labels.anyone(taint)


def test_who_looks_at_taints_himself_is_asked_himself() -> None:
    def hint(*_: object) -> bool:
        return False

    both = Action.ADD | Action.UPDATE_NODE_TAINT
    known = interests(gate(Registration(Resource.NODE, both, hint)))
    taint = ClusterEvent(Resource.NODE, Action.UPDATE_NODE_TAINT)
    assert [i.registration.hint for i in known.find_matching(PROFILE, taint)] == [hint]


def test_the_default_profile_asks_the_plugins_that_registered_the_event() -> None:
    """Who is asked when a node is added or a pod is gone."""
    engine = FakeCluster().engine
    known = interests_of(engine.profiles.values())

    def asked(resource: Resource, action: Action) -> set[str]:
        return {i.plugin for i in known.find_matching(PROFILE, ClusterEvent(resource, action))}

    assert asked(Resource.NODE, Action.ADD) == {
        "NodeUnschedulable",
        "NodeName",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "VolumeBinding",
        "VolumeZone",
        "PodTopologySpread",
        "InterPodAffinity",
        "DynamicResources",
        "NodeDeclaredFeatures",
    }
    assert asked(Resource.ASSIGNED_POD, Action.DELETE) == {
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "NodeVolumeLimits",
        "PodTopologySpread",
        "InterPodAffinity",
        "DefaultPreemption",
    }
    assert asked(Resource.NODE, Action.DELETE) == {"PodTopologySpread"}
    assert asked(Resource.NODE, Action.UPDATE_NODE_CONDITION) == set()
    assert asked(Resource.ASSIGNED_POD, Action.UPDATE) == {"NodeDeclaredFeatures"}
    assert asked(Resource.UNSCHEDULABLE_POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED) >= {
        "SchedulingGates"
    }
