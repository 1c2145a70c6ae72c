"""The pod of one ordinal of a stateful set, and the claims that are made with it.

Name, labels, host name and claims follow from the ordinal, so a pod that comes back is the same
(`pkg/controller/statefulset/stateful_set_utils.go`).
"""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.objects import Kind
from podium.kubernetes.controllers.pod_templates import REVISION_HASH, pod_from_template
from podium.kubernetes.controllers.workloads import PodTemplate, StatefulSet

STATEFUL_SET: Final = Kind("apps/v1", "StatefulSet")
_POD_NAME: Final = "statefulset.kubernetes.io/pod-name"
_POD_INDEX: Final = "apps.kubernetes.io/pod-index"


def ordinal_of(stateful: StatefulSet, pod_name: str) -> int | None:
    ordinal = pod_name.removeprefix(f"{stateful.name}-")
    return int(ordinal) if ordinal.isdecimal() else None


def pod_of_ordinal(
    stateful: StatefulSet, template: PodTemplate, ordinal: int, revision: str
) -> JsonObject:
    name = f"{stateful.name}-{ordinal}"
    return pod_from_template(
        STATEFUL_SET,
        stateful.metadata,
        template,
        name=name,
        labels={_POD_NAME: name, _POD_INDEX: str(ordinal), REVISION_HASH: revision},
        spec=_with_identity(stateful, template, name),
    )


def claims_of_ordinal(stateful: StatefulSet, ordinal: int) -> list[JsonObject]:
    """upstream: a claim carries the labels that the set selects, over those of its template."""
    selected = (stateful.spec.selector.match_labels if stateful.spec.selector else None) or {}
    made = []
    for template in stateful.spec.volume_claim_templates or ():
        metadata = template.get("metadata") or {}
        made.append(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {
                    "name": _claim_name(template, f"{stateful.name}-{ordinal}"),
                    "labels": {**(metadata.get("labels") or {}), **selected},
                    "annotations": metadata.get("annotations") or {},
                },
                "spec": template.get("spec") or {},
            }
        )
    return made


def claim_names_of_ordinal(stateful: StatefulSet, ordinal: int) -> list[str]:
    pod_name = f"{stateful.name}-{ordinal}"
    templates = stateful.spec.volume_claim_templates or ()
    return [_claim_name(template, pod_name) for template in templates]


def _with_identity(stateful: StatefulSet, template: PodTemplate, pod_name: str) -> JsonObject:
    """The template's spec with a host name, and a volume for each claim."""
    spec = {**template.spec, "hostname": pod_name}
    if stateful.spec.service_name:
        spec["subdomain"] = stateful.spec.service_name
    added = {
        _name_of(each): {
            "name": _name_of(each),
            "persistentVolumeClaim": {"claimName": _claim_name(each, pod_name)},
        }
        for each in stateful.spec.volume_claim_templates or ()
    }
    if added:
        kept = [each for each in spec.get("volumes") or () if each.get("name") not in added]
        spec["volumes"] = [*added.values(), *kept]
    return spec


def _claim_name(template: JsonObject, pod_name: str) -> str:
    return f"{_name_of(template)}-{pod_name}"


def _name_of(template: JsonObject) -> str:
    name: str = (template.get("metadata") or {}).get("name") or ""
    return name
