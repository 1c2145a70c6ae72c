"""Writes of dialects on pods: two in one, as a patch, and what a pod is after one."""

from collections.abc import Mapping

from msgspec.structs import replace

from podium.addons.gpu.dialects.dialect import PodWrite
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.pod import Pod


def merge_writes(first: PodWrite, second: PodWrite) -> PodWrite:
    """Both at once; where they differ, the second counts."""
    return PodWrite({**first.annotations, **second.annotations}, {**first.labels, **second.labels})


def merge_patch_of(
    write: PodWrite, metadata: ObjectMeta, *, any_version: bool = False
) -> JsonObject:
    """A JSON merge patch that is refused if the object is another one, or in another version."""
    patched: JsonObject = {}
    if metadata.uid:
        patched["uid"] = metadata.uid
    if metadata.resource_version and not any_version:
        patched["resourceVersion"] = metadata.resource_version
    if write.annotations:
        patched["annotations"] = dict(write.annotations)
    if write.labels:
        patched["labels"] = dict(write.labels)
    return {"metadata": patched}


def written_pod(pod: Pod, write: PodWrite) -> Pod:
    """The pod as it is after the write."""
    metadata = replace(
        pod.metadata,
        annotations=_changed(pod.metadata.annotations, write.annotations),
        labels=_changed(pod.metadata.labels, write.labels),
    )
    return replace(pod, metadata=metadata)


def has_write(pod: Pod, write: PodWrite) -> bool:
    """Whether everything that the write sets or removes is so on the pod."""
    annotations, labels = pod.metadata.annotations or {}, pod.metadata.labels or {}
    return all(annotations.get(key) == value for key, value in write.annotations.items()) and all(
        labels.get(key) == value for key, value in write.labels.items()
    )


def _changed(present: Mapping[str, str] | None, write: Mapping[str, str | None]) -> dict[str, str]:
    merged = {**(present or {}), **write}
    return {key: value for key, value in merged.items() if value is not None}
