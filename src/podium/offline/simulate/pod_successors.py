"""What comes after a pod that has lost its node: the one that its controller makes in its place.

It has the name of the one before it, another UID, and claims of its own where a controller makes
them with the pod. Pods of nobody are gone, and those of daemon sets and kubelets go with their node
(`podium.kubernetes.rules.nodes`).
"""

from collections.abc import Iterable

from msgspec.structs import replace

from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod import Pod, PodStatus
from podium.kubernetes.kinds.storage import PersistentVolumeClaim
from podium.kubernetes.kinds.volumes import ephemeral_claim_name
from podium.kubernetes.rules.nodes import is_bound_to_node, is_daemon
from podium.offline.simulate.admission import uid_for
from podium.offline.simulate.pod_claims import PodClaimMaker
from podium.scheduler.engine import Engine


def is_made_again(pod: Pod) -> bool:
    """Whether somebody makes another pod in its place, for whichever node."""
    return not (pod.metadata.controller is None or is_daemon(pod) or is_bound_to_node(pod))


class PodSuccessors:
    """Makes pods again, in one engine's cluster."""

    def __init__(self, engine: Engine, objects: Iterable[KubeObject]) -> None:
        """Of `objects`, what claims are made from counts."""
        self._engine = engine
        self._objects = objects
        self._claims: PodClaimMaker | None = None
        self._made = 0

    def make(self, pod: Pod) -> Pod:
        """The pod in place of another; claims that are made with it are in the cluster."""
        self._made += 1
        uid = uid_for("Pod", pod.metadata.namespace, f"{pod.metadata.name}#{self._made}")
        metadata = replace(pod.metadata, uid=uid)
        again = replace(
            pod, metadata=metadata, spec=replace(pod.spec, node_name=""), status=PodStatus()
        )
        if again.spec.volumes or again.spec.resource_claims:
            self._claims = self._claims or PodClaimMaker(self._objects, self._engine.gates)
            again, made = self._claims.make(again)
            for obj in made:
                self._engine.intake.object_put(obj)
        return again

    def drop_ephemeral_claims(self, pod: Pod) -> None:
        """Claims of volumes that go with the pod."""
        catalog = self._engine.cluster.catalog
        for volume in pod.spec.volumes or ():
            if volume.ephemeral is not None:
                name = ephemeral_claim_name(pod.name, volume.name)
                claim = catalog.get(PersistentVolumeClaim, name, pod.metadata.namespace)
                if claim is not None:
                    self._engine.intake.object_deleted(claim)
