"""Letting go of claims and volumes that are to be deleted, once nobody uses them.

The server puts a finalizer on each; a claim keeps it while a pod on a node uses it, a volume while
it is bound (`pkg/controller/volume/{pvc,pv}protection`). A pod that waits for a node holds nothing:
no kubelet starts a pod whose claim is about to go.
"""

from collections.abc import Iterable
from typing import Final

from podium.kubernetes.controllers.controller import NOTHING, Plan, Wake, without_finalizer
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim
from podium.kubernetes.resources.resource_types import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from podium.kubernetes.rules.timestamps import Moment

CLAIM_FINALIZER: Final = "kubernetes.io/pvc-protection"
VOLUME_FINALIZER: Final = "kubernetes.io/pv-protection"
_CLAIM: Final = "claim"
_VOLUME: Final = "volume"


def decide_claim(claim: PersistentVolumeClaim, users: Iterable[Pod]) -> Plan:
    held = CLAIM_FINALIZER in (claim.metadata.finalizers or ())
    if not claim.metadata.is_terminating or not held:
        return NOTHING
    if any(_holds(pod, claim.name) for pod in users):
        return NOTHING
    return Plan([without_finalizer(PERSISTENT_VOLUME_CLAIMS, claim, CLAIM_FINALIZER)])


def _holds(pod: Pod, claim_name: str) -> bool:
    """upstream: a pod that has ended holds its claims until it is deleted."""
    if not pod.spec.node_name:
        return False
    if not _is_shut_down(pod):
        return True
    sources = (volume.persistent_volume_claim for volume in pod.spec.volumes or ())
    return any(source is not None and source.claim_name == claim_name for source in sources)


def _is_shut_down(pod: Pod) -> bool:
    """Whether the kubelet is done with it; then it holds the claims of ephemeral volumes no more,
    which may be what its finalizers wait for."""
    metadata = pod.metadata
    return metadata.is_terminating and metadata.deletion_grace_period_seconds == 0


def decide_volume(volume: PersistentVolume) -> Plan:
    held = VOLUME_FINALIZER in (volume.metadata.finalizers or ())
    if not volume.metadata.is_terminating or not held or volume.status.phase == "Bound":
        return NOTHING
    return Plan([without_finalizer(PERSISTENT_VOLUMES, volume, VOLUME_FINALIZER)])


class VolumeProtection:
    """Keys are (`claim`, namespace, name) and (`volume`, "", name)."""

    name = "volumeprotection"

    def __init__(self, stores: Stores) -> None:
        self._claims, self._volumes, self._pods = (
            stores.claims,
            stores.volumes,
            stores.pods,
        )

    def watch(self, wake: Wake) -> None:
        def claim_changed(
            _: PersistentVolumeClaim | None, new: PersistentVolumeClaim | None
        ) -> None:
            if new is not None and new.metadata.is_terminating:
                wake((_CLAIM, *new.metadata.key))

        def volume_changed(_: PersistentVolume | None, new: PersistentVolume | None) -> None:
            if new is not None and new.metadata.is_terminating:
                wake((_VOLUME, *new.metadata.key))

        def pod_changed(old: Pod | None, new: Pod | None) -> None:
            if old is None:
                return
            if new is None or new.metadata.uid != old.metadata.uid or _is_shut_down(new):
                for name in old.claim_names:
                    wake((_CLAIM, old.namespace, name))

        self._claims.listen(claim_changed)
        self._volumes.listen(volume_changed)
        self._pods.listen(pod_changed)

    def plan(self, key: tuple[str, str, str], moment: Moment) -> Plan:
        del moment
        kind, namespace, name = key
        if kind == _VOLUME:
            volume = self._volumes.get("", name)
            return NOTHING if volume is None else decide_volume(volume)
        claim = self._claims.get(namespace, name)
        if claim is None:
            return NOTHING
        return decide_claim(claim, self._pods.using_claim.of((namespace, name)))
