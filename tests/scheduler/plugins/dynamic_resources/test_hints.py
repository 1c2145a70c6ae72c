"""Which events wake a pod that waits for devices."""

from support.scheduler.plugins.device_builders import (
    DeviceWorld,
    allocated,
    claiming_pod,
    exactly,
    make_claim,
)

from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.framework.events import Action, Resource
from podium.testing import make_pod


def wakes(
    world: DeviceWorld, pod: Pod, old: ResourceClaim | None, new: ResourceClaim | None
) -> bool:
    (hint,) = [
        registration.hint
        for registration in world.plugin.events()
        if registration.resource is Resource.RESOURCE_CLAIM
    ]
    assert hint is not None
    return hint(world.cluster.infos.of(pod), old, new)


POD = claiming_pod("pod", "own")
OWN = make_claim("own", exactly("r"))
FOREIGN = make_claim("foreign", exactly("r"))
HELD = make_claim("foreign", exactly("r"), status=allocated("r=p/d"))


def test_a_pod_that_still_lacks_a_claim_is_not_woken_by_others() -> None:
    world = DeviceWorld()
    assert not wakes(world, POD, HELD, FOREIGN)


def test_devices_that_become_free_wake_everybody() -> None:
    world = DeviceWorld(OWN)
    assert wakes(world, POD, HELD, FOREIGN)
    assert not wakes(world, POD, FOREIGN, HELD)


def test_changes_of_its_own_claim_wake_a_pod() -> None:
    world = DeviceWorld(OWN)
    changed = make_claim("own", exactly("r"), status=allocated("r=p/d"))
    assert wakes(world, POD, None, OWN)
    assert wakes(world, POD, OWN, changed)
    assert not wakes(world, POD, OWN, make_claim("own", exactly("r"), labels={"a": "b"}))


def test_a_claim_made_from_a_template_wakes_its_pod() -> None:
    world = DeviceWorld()
    (registration,) = [r for r in world.plugin.events() if r.resource is Resource.POD]
    assert registration.action == Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM
    hint = registration.hint
    assert hint is not None
    template = [{"name": "x", "resourceClaimTemplateName": "t"}]
    waiting = make_pod("pod", resourceClaims=template)
    info = world.cluster.infos.of(waiting)
    told = make_pod(
        "pod",
        resourceClaims=template,
        status={"resourceClaimStatuses": [{"name": "x"}]},
    )
    assert hint(info, waiting, told)
    assert not hint(info, waiting, waiting)
    assert not hint(info, waiting, make_pod("another"))


def test_nodes_classes_and_slices_always_wake() -> None:
    always = {r.resource: r.action for r in DeviceWorld().plugin.events() if r.hint is None}
    assert always == {
        Resource.NODE: Action.ADD | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_ALLOCATABLE,
        Resource.DEVICE_CLASS: Action.ADD | Action.UPDATE,
        Resource.RESOURCE_SLICE: Action.ADD | Action.UPDATE,
    }
