"""Templates of pods and claims, read as what they will become.

Controllers pass templates on as they are written (`kubernetes.controllers.workloads`). What is
wrong in a file's templates is reported before pods are made of them, with the path from the top of
the object.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from podium.golang.errors import ObjectError, raise_first
from podium.golang.field_paths import ROOT, Path
from podium.kubernetes.controllers.workloads import PodTemplate
from podium.kubernetes.kinds.meta import KubeStruct, ObjectMeta
from podium.kubernetes.kinds.pod import PodSpec
from podium.kubernetes.kinds.shapes import shape_of
from podium.kubernetes.kinds.storage import PersistentVolumeClaim


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
    wrong: list[ObjectError] = []
    for struct, written, path in _templates(workload):
        shape = shape_of(struct)
        try:
            shape.check(msgspec.convert(shape.settle(written, path), struct), path)
        except ObjectError as problem:
            wrong += (problem, *problem.others)
    raise_first(wrong)


def find_unknown_in_templates(workload: Mapping[str, Any], wrong: list[ObjectError]) -> None:
    """Tell of fields that do not exist."""
    for struct, written, path in _templates(workload):
        shape_of(struct).find_unknown(written, path, wrong)


def _templates(workload: Mapping[str, Any]) -> Iterator[tuple[type[KubeStruct], Any, Path]]:
    spec, path = workload.get("spec"), (ROOT, "spec")
    if not isinstance(spec, Mapping):
        return
    if spec.get("template") is not None:
        yield ReadPodTemplate, spec["template"], (path, "template")
    path = (path, "volumeClaimTemplates")
    claims = spec.get("volumeClaimTemplates")
    for index, template in enumerate(claims if isinstance(claims, list) else ()):
        yield PersistentVolumeClaim, _without_type(template or {}), (path, index)


def _without_type(template: Any) -> Any:
    """What a claim template says it is does not matter to anybody."""
    if not isinstance(template, Mapping):
        return template
    return {name: value for name, value in template.items() if name not in ("apiVersion", "kind")}
