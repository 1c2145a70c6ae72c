"""Claims that keep a pod off every node: missing, going, unbound, somebody else's.

What is wrong is worked out from the objects, in the order in which plugins would meet it.
"""

from collections.abc import Iterator

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.framework.explanations.finding import sentence
from podium.scheduler.framework.plugin import RefusalCause
from podium.scheduler.plugins.volume_binding.pod_volumes import is_fully_bound
from podium.scheduler.plugins.volumes.pod_claims import (
    PodVolumeClaim,
    claims_of,
    class_of_claim,
    controls,
    find_claim,
)

_LOST = "Lost"
_NOT_YET = frozenset({"volume-claim-unbound", "storage-class-missing"})


def explain_claim_problem(catalog: Catalog, pod: Pod) -> RefusalCause | None:
    """The first claim of the pod that no node could serve.

    Claims that are not there come before claims that have no volume yet, as they do for plugins.
    """
    problems = list(_problems(catalog, pod))
    return next((p for p in problems if p.code not in _NOT_YET), next(iter(problems), None))


Bound = tuple[PersistentVolumeClaim, PersistentVolume]


def bound_volumes(catalog: Catalog, pod: Pod) -> Iterator[Bound]:
    """The pod's claims that have a volume, with it."""
    for used in claims_of(pod):
        claim = find_claim(catalog, pod, used.name)
        if claim is None or not claim.spec.volume_name:
            continue
        volume = catalog.get(PersistentVolume, claim.spec.volume_name)
        if volume is not None:
            yield claim, volume


def claim_name(claim: PersistentVolumeClaim) -> str:
    return f"PersistentVolumeClaim {claim.metadata.namespace}/{claim.metadata.name}"


def _problems(catalog: Catalog, pod: Pod) -> Iterator[RefusalCause]:
    for used in claims_of(pod):
        key = f"{pod.metadata.namespace}/{used.name}"
        claim = find_claim(catalog, pod, used.name)
        if claim is None:
            yield _describe_missing(used, key)
            continue
        named = claim_name(claim)
        if claim.metadata.deletion_timestamp is not None:
            yield _cause("volume-claim-deleting", key, f"{named} is being deleted")
        elif used.ephemeral and not controls(pod, claim):
            text = (
                f"{named} has the name of this pod's ephemeral volume and was not made for this pod"
            )
            yield _cause("volume-claim-not-owned", key, text)
        else:
            yield from _volume_problems(catalog, claim, key)


def _volume_problems(
    catalog: Catalog, claim: PersistentVolumeClaim, key: str
) -> Iterator[RefusalCause]:
    named, name = claim_name(claim), claim.spec.volume_name
    if name:
        volume = catalog.get(PersistentVolume, name)
        if volume is None or claim.status.phase == _LOST:
            text = f"{named} is bound to PersistentVolume {name}, which does not exist"
            yield _cause("volume-missing", key, text)
        elif not is_fully_bound(claim):
            text = f"{named} names PersistentVolume {name} and is not bound to it yet"
            yield _cause("volume-claim-unbound", key, text)
        return
    class_name = class_of_claim(claim)
    storage_class = catalog.get(StorageClass, class_name) if class_name else None
    if class_name and storage_class is None:
        text = f"StorageClass {class_name}, which {named} asks for, does not exist"
        yield _cause("storage-class-missing", class_name, text)
    elif not class_name:
        text = f"{named} is not bound to a volume and has no StorageClass that would make one"
        yield _cause("volume-claim-unbound", key, text)
    elif storage_class is not None and storage_class.volume_binding_mode != "WaitForFirstConsumer":
        text = (
            f"{named} is not bound: StorageClass {class_name} binds at once, and"
            f" {storage_class.provisioner} has not made a volume"
        )
        yield _cause("volume-claim-unbound", key, text)


def _describe_missing(used: PodVolumeClaim, key: str) -> RefusalCause:
    text = f"PersistentVolumeClaim {key} does not exist"
    if used.ephemeral:
        text += "; the ephemeral volume controller has to make it"
    return _cause("volume-claim-missing", key, text)


def _cause(code: str, subject: str, text: str) -> RefusalCause:
    return RefusalCause(code, subject, sentence([text]), {"object": subject}, keeps_message=True)
