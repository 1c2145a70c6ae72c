"""Templates of pods and claims, read as what they will become.

Controllers pass templates on as they are written (`podium.workloads.kinds`). A file is told what is
wrong in its templates before pods are made of them, with the path from the top of the object.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from podium.api.field_paths import ROOT, Path
from podium.api.meta import KubeStruct, ObjectMeta
from podium.api.pod import PodSpec
from podium.api.shapes import shape_of
from podium.api.storage import PersistentVolumeClaim
from podium.workloads.kinds import PodTemplate


class ReadPodTemplate(KubeStruct, frozen=True):
    """A template with the fields that scheduling reads."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


def read_template(template: PodTemplate) -> ReadPodTemplate:
    """Of a workload whose templates were checked."""
    settled = shape_of(ReadPodTemplate).settle(msgspec.to_builtins(template))
    return msgspec.convert(settled, ReadPodTemplate)


def check_templates(workload: Mapping[str, Any]) -> None:
    """Raises ObjectError for values that are not of their type or do not fit it."""
    for struct, written, path in _templates(workload):
        shape = shape_of(struct)
        shape.check(msgspec.convert(shape.settle(written, path), struct), path)


def refuse_unknown_in_templates(workload: Mapping[str, Any]) -> None:
    """Raises ObjectError for a field that does not exist. The types must have been checked."""
    for struct, written, path in _templates(workload):
        shape_of(struct).refuse_unknown(written, path)


def _templates(workload: Mapping[str, Any]) -> Iterator[tuple[type[KubeStruct], Any, Path]]:
    spec, path = workload.get("spec") or {}, (ROOT, "spec")
    if spec.get("template") is not None:
        yield ReadPodTemplate, spec["template"], (path, "template")
    path = (path, "volumeClaimTemplates")
    for index, template in enumerate(spec.get("volumeClaimTemplates") or ()):
        yield PersistentVolumeClaim, template or {}, (path, index)
