"""The same life with volumes and devices: claims are bound, allocated, given back and lost.

To the rules of `living_cluster.py` come objects of storage and of devices, the controllers that
serve them, bindings that stop between two calls to the API server, writes that fail, and the writes
that plugins leave to the driver. At rest, pods with claims too are where a fresh engine would have
them, or wait for the same reasons.
"""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from msgspec.structs import replace
from support.scheduler.engine.living_cluster import FEW_LIVES, LONG, LivingCluster, live, some_names
from support.scheduler.engine.pod_shapes import HOST, NODE_NAMES, ZONE
from support.scheduler.engine.small_world import GOING, SmallWorld
from support.scheduler.engine.storage_controllers import ControlledWorld
from support.scheduler.engine.storage_shapes import NAMES, claiming_pods, objects
from support.scheduler.engine.storage_world import metadata_of

from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import PersistentVolumeClaim
from podium.scheduler.plugins.volume_binding.pod_volumes import selected_node
from podium.testing import make_node

KINDS = sorted(NAMES)
TROUBLE = ["", "", "", "refused", "conflict", "timeout"]


class LivingStorage(LivingCluster):
    steps = 0
    world: ControlledWorld

    def _new_world(self) -> SmallWorld:
        self.made = 0
        self.lost: set[str] = set()
        return ControlledWorld(self.engine, self.clock)

    def _new_pod(self, data: st.DataObject, name: str, uid: str, node: str) -> Pod:
        return data.draw(claiming_pods(name, uid, node=node))

    # objects

    @initialize(data=st.data(), missing=st.sets(st.sampled_from(KINDS), max_size=3))
    def storage_is_there(self, data: st.DataObject, missing: set[str]) -> None:
        for number, name in enumerate(NODE_NAMES[:3]):
            self.world.put_node(make_node(name, labels={HOST: name, ZONE: "ab"[number % 2]}))
        for kind in KINDS:
            for key in NAMES[kind] if kind not in missing else ():
                self._make(data, kind, key)
        self._done()

    @rule(data=st.data(), kind=st.sampled_from(KINDS), heard=st.booleans())
    def object_comes_changes_or_goes(self, data: st.DataObject, kind: str, heard: bool) -> None:
        key = data.draw(st.sampled_from(NAMES[kind]))
        obj = self.world.objects.get(key)
        if obj is None:
            self._make(data, kind, key)
        else:
            self._change_object(data, kind, key)
        self._done(heard)

    def _change_object(self, data: st.DataObject, kind: str, key: str) -> None:
        obj = self.world.objects[key]
        metadata = metadata_of(obj)
        fixed = kind in ("claim", "device claim", "volume")
        match data.draw(st.sampled_from(["touch", "go", *([] if fixed else ["become another"])])):
            case "touch":
                touched = replace(metadata, labels={"touched": str(self.made)})
                self.world.store(replace(obj, metadata=touched))
            case "go" if fixed and kind != "volume":
                self._delete_claim(key)
            case "go":
                self._note_lost(metadata.name)
                self.world.remove(obj)
            case _:
                self._make(data, kind, key)

    @rule(data=st.data(), names=some_names)
    def claiming_pods_are_tried(self, data: st.DataObject, names: set[str]) -> None:
        for name in sorted(names):
            if f"default/{name}" not in self.world.pods:
                self._create(data, name)
        self.world.deliver()
        self._schedule_all()
        self._done(heard=False)

    def _make(self, data: st.DataObject, kind: str, key: str) -> None:
        self.made += 1
        self.world.store(data.draw(objects(kind, key, self.made)))

    def _note_lost(self, volume_name: str) -> None:
        """Claims whose volume is deleted under them keep its name for ever; a new volume of that
        name is another one and may have another claim."""
        for claim in self.world.all(PersistentVolumeClaim):
            if claim.spec.volume_name == volume_name:
                self.lost.add(claim.metadata.uid)

    def _delete_claim(self, key: str) -> None:
        """Claims that are protected go when nobody uses them."""
        obj = self.world.objects[key]
        metadata = metadata_of(obj)
        if isinstance(obj, ResourceClaim) and not metadata.finalizers:
            self.world.remove(obj)
        elif metadata.deletion_timestamp is None:
            self.world.store(replace(obj, metadata=replace(metadata, deletion_timestamp=GOING)))

    # those who write

    @rule(data=st.data(), everything=st.booleans(), heard=st.booleans())
    def controllers_act(self, data: st.DataObject, everything: bool, heard: bool) -> None:
        tasks = self.world.due()
        if everything:
            self.world.act()
        elif tasks:
            data.draw(st.sampled_from(tasks))()
        self._done(heard)

    @rule(data=st.data())
    def provisioner_gives_up(self, data: st.DataObject) -> None:
        claims = [
            claim
            for claim in self.world.all(PersistentVolumeClaim)
            if selected_node(claim) and not claim.spec.volume_name
        ]
        if claims:
            self.world.refuse_node(data.draw(st.sampled_from(claims)))
        self._done()

    @precondition(lambda self: self.world.bindings)
    @rule(data=st.data(), trouble=st.sampled_from(TROUBLE), heard=st.booleans())
    def binding_goes_on(self, data: st.DataObject, trouble: str, heard: bool) -> None:
        index = data.draw(st.integers(0, len(self.world.bindings) - 1))
        self.world.trouble = trouble
        for _ in range(data.draw(st.integers(1, 5))):
            if self.world.step_binding(index):
                break
        self.world.trouble = ""
        self._done(heard)

    @precondition(lambda self: self.world.writes)
    @rule(data=st.data(), fails=st.booleans(), heard=st.booleans())
    def write_is_carried_out(self, data: st.DataObject, fails: bool, heard: bool) -> None:
        index = data.draw(st.integers(0, len(self.world.writes) - 1))
        self.world.finish_write(index, fails=fails)
        self._done(heard)

    # what must always be so

    @invariant()
    def nothing_wrong_was_written(self) -> None:
        assert not self.world.wrong

    @invariant()
    def no_device_has_two_owners(self) -> None:
        assert not self.world.devices_held_twice()

    @invariant()
    def no_volume_has_two_claims(self) -> None:
        names = [
            claim.spec.volume_name
            for claim in self.world.all(PersistentVolumeClaim)
            if claim.spec.volume_name and claim.metadata.uid not in self.lost
        ]
        assert len(names) == len(set(names))

    # the end

    def _settle(self) -> bool:
        world = self.world
        world.trouble = ""
        world.act()
        before = dict(world.objects)
        moved = super()._settle()
        while world.writes:
            world.finish_write(0)
        world.act()
        world.deliver()
        return moved or world.objects != before


def test_claims_and_their_pods_survive_a_few_lives() -> None:
    live(LivingStorage, lives=FEW_LIVES, long_lives=FEW_LIVES)


@pytest.mark.slow
def test_claims_and_their_pods_survive_whatever_comes() -> None:
    steps = live(LivingStorage, lives=25, long_lives=300)
    assert not LONG or steps >= 25_000
