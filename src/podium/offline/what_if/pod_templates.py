"""The pods that a question about capacity is about, and more of the same.

A template is a pod from a file that nobody has placed yet; pods of one workload are one template.
Copies differ in name and UID only, and each has claims of its own where a controller would make
some: for ephemeral volumes, for devices, for the volumes of a stateful set.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from podium.golang.errors import InputError
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod import Pod, as_pending
from podium.kubernetes.kinds.storage import PersistentVolumeClaim
from podium.kubernetes.kinds.volumes import Volume
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.nodes import is_daemon
from podium.offline.simulate.admission import assign_uid, is_stored
from podium.offline.simulate.pod_claims import PodClaimMaker
from podium.offline.simulate.scenario import Scenario


@dataclass(frozen=True, slots=True)
class TemplatePod:
    """`workload` is what the pod belongs to, `kind/name`, "" for a pod of its own."""

    pod: Pod
    workload: str = ""

    @property
    def key(self) -> str:
        return f"{self.pod.metadata.namespace}/{self.pod.metadata.name}"

    @property
    def name(self) -> str:
        """What people call it."""
        namespace = self.pod.metadata.namespace
        return f"{namespace}/{self.workload}" if self.workload else self.key


def split_templates(scenario: Scenario) -> tuple[list[TemplatePod], list[Pod], list[str]]:
    """Templates, pods that a cluster has pending, and notes on pods that are neither.

    What a server has stored belongs to the cluster; pods without a node that it has not are what
    the question is about. A daemon set has as many pods as nodes, and so is not asked about."""
    pending = [pod for pod in scenario.pending if is_stored(pod)]
    written = [pod for pod in scenario.pending if not is_stored(pod)]
    daemons = [pod for pod in written if is_daemon(pod)]
    templates = templates_of([pod for pod in written if not is_daemon(pod)])
    notes = []
    if daemons:
        pods = "1 pod" if len(daemons) == 1 else f"{len(daemons)} pods"
        notes.append(f"placed first, since a DaemonSet has one on each node: {pods}")
    return templates, [*pending, *daemons], notes


def templates_of(pods: Iterable[Pod]) -> list[TemplatePod]:
    """One template for each workload and for each pod without one, in order."""
    found: dict[tuple[str, str], TemplatePod] = {}
    for pod in pods:
        workload = workload_of(pod)
        key = (pod.metadata.namespace, workload or pod.metadata.name)
        found.setdefault(key, TemplatePod(as_pending(pod), workload))
    return list(found.values())


def workload_of(pod: Pod) -> str:
    """`deployment/web`, `job/sweep`; "" for a pod that no controller has made."""
    owner = pod.metadata.controller
    if owner is None:
        return ""
    digest = (pod.metadata.labels or {}).get("pod-template-hash", "")
    if owner.kind == "ReplicaSet" and digest and owner.name.endswith(f"-{digest}"):
        return f"deployment/{owner.name.removesuffix(f'-{digest}')}"
    return f"{owner.kind.lower()}/{owner.name}"


def require_templates(templates: Sequence[TemplatePod]) -> None:
    """Raises InputError where there is nothing to ask about."""
    if not templates:
        raise InputError(
            "no pod to ask about",
            remedy="give a manifest with -f, or name a pod of the cluster with --of",
        )


class Copies:
    """Copies of a template, numbered, with what has to be in the cluster for each."""

    def __init__(
        self, template: TemplatePod, objects: Iterable[KubeObject], gates: FeatureGates
    ) -> None:
        there = list(objects)
        self._pod = template.pod
        self._claims = PodClaimMaker(there, gates)
        self._own = _claims_of_ordinal(template.pod, there)

    def make(self, number: int) -> tuple[Pod, list[KubeObject]]:
        pod, name = self._pod, f"{self._pod.metadata.name}-copy-{number}"
        metadata = replace(pod.metadata, name=name, uid="", resource_version="")
        spec = replace(pod.spec, node_name="")
        copy = assign_uid(Pod(metadata=metadata, spec=spec))
        if not (pod.spec.volumes or pod.spec.resource_claims):
            return copy, []
        copy, own = self._with_own_claims(copy)
        return self._claims.make(copy, own)

    def _with_own_claims(self, copy: Pod) -> tuple[Pod, list[KubeObject]]:
        if not self._own:
            return copy, []
        volumes: list[Volume] = []
        claims: list[KubeObject] = []
        for volume in copy.spec.volumes or ():
            claim = self._own.get(volume.name)
            source = volume.persistent_volume_claim
            if claim is None or source is None:
                volumes.append(volume)
                continue
            name = f"{volume.name}-{copy.metadata.name}"
            claims.append(_unbind_claim(claim, name))
            volumes.append(
                replace(volume, persistent_volume_claim=replace(source, claim_name=name))
            )
        spec = replace(copy.spec, volumes=tuple(volumes))
        return replace(copy, spec=spec), claims


def _owner_kind(pod: Pod) -> str:
    owner = pod.metadata.controller
    return owner.kind if owner is not None else ""


def _claims_of_ordinal(pod: Pod, objects: Iterable[KubeObject]) -> dict[str, PersistentVolumeClaim]:
    """Volume -> the claim that a stateful set has made for this pod alone."""
    if _owner_kind(pod) != "StatefulSet":
        return {}
    claims = {
        obj.metadata.name: obj
        for obj in objects
        if isinstance(obj, PersistentVolumeClaim)
        and obj.metadata.namespace == pod.metadata.namespace
    }
    found = {}
    for volume in pod.spec.volumes or ():
        source = volume.persistent_volume_claim
        if source is not None and source.claim_name == f"{volume.name}-{pod.metadata.name}":
            claim = claims.get(source.claim_name)
            if claim is not None:
                found[volume.name] = claim
    return found


def _unbind_claim(claim: PersistentVolumeClaim, name: str) -> PersistentVolumeClaim:
    """The claim as its controller makes the next one: with no volume yet."""
    metadata = replace(claim.metadata, name=name, uid="", resource_version="", annotations=None)
    spec = replace(claim.spec, volume_name="")
    return assign_uid(PersistentVolumeClaim(metadata=metadata, spec=spec))
