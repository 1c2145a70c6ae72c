"""Templates of pods and claims, read as what they will become.

Controllers pass templates on as they are written (`kubernetes.controllers.workloads`). What is
wrong in a file's templates is reported before pods are made of them, with the path from the top of
the object.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from podium.golang.errors import ObjectError
from podium.golang.mistakes import ROOT, Path
from podium.kubernetes.controllers.workloads import PodTemplate
from podium.kubernetes.kinds.meta import KubeStruct, ObjectMeta
from podium.kubernetes.kinds.pod import PodSpec
from podium.kubernetes.kinds.reading import read_raw
from podium.kubernetes.kinds.storage import PersistentVolumeClaim


class ReadPodTemplate(KubeStruct, frozen=True):
    """A template with the fields that scheduling reads."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


def read_template(template: PodTemplate) -> ReadPodTemplate:
    """Of a workload whose templates were checked."""
    found = read_raw(msgspec.to_builtins(template), ReadPodTemplate)
    return msgspec.convert(found.settled, ReadPodTemplate)


def find_wrong_in_templates(
    workload: Mapping[str, Any],
) -> tuple[list[ObjectError], list[ObjectError]]:
    """What is not of its type or does not fit it, and what fields do not exist."""
    wrong: list[ObjectError] = []
    unknown: list[ObjectError] = []
    for struct, written, path in _templates(workload):
        found = read_raw(written, struct, path)
        wrong += found.wrong
        unknown += found.unknown
    return wrong, unknown


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
