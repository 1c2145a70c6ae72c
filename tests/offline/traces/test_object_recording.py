"""Nothing of an object is written into a trace but what the allow-list names."""

import json
import re

import msgspec
import pytest
from msgspec import inspect
from support.offline.traces.canaries import CANARY, canaries_in, canary_object

from podium.client import ResourceType, resources
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.typed_objects import decode_as
from podium.kubernetes.resources.table import builtin_resources
from podium.offline.traces.object_recording import (
    RECORDED_FIELDS,
    RECORDED_STRUCTS,
    decode_recorded,
    recorded_object,
    resource_name,
)
from podium.offline.traces.recorded_annotations import RECORDED_ANNOTATIONS

SERVED = {(each.group, each.kind) for each in builtin_resources()}
NEVER = re.compile(
    r"\b(env|envFrom|command|args|workingDir|lifecycle|livenessProbe|readinessProbe|startupProbe"
    r"|annotations|message|secret|secretName|secretNamespace|secretRef|configMap|projected|hostPath"
    r"|parameters|config|data|networkData|volumeAttributes|mountOptions|dataSource|dataSourceRef"
    r"|imagePullSecrets|hostAliases|serviceAccountName|managedFields|addresses|nodeInfo|providerID"
    r"|template|externalName|ports|finalizers|user|keyring|selfLink|description)\b"
)
ALLOWED_AFTER_ALL = {
    "spec.containers.ports.protocol",
    "spec.containers.ports.hostIP",
    "spec.initContainers.ports.protocol",
    "spec.initContainers.ports.hostIP",
}


def written_of(resource: ResourceType) -> set[str]:
    raw = json.dumps(canary_object(resource)).encode()
    return canaries_in(decode_recorded(raw, RECORDED_STRUCTS[resource]).written)


@pytest.mark.parametrize(
    "resource", [each for each in RECORDED_STRUCTS if (each.group, each.kind) in SERVED], ids=str
)
def test_no_field_that_can_hold_a_secret_is_written(resource: ResourceType) -> None:
    written = written_of(resource)
    assert "metadata.name" in written
    assert {path for path in written if NEVER.search(path)} <= ALLOWED_AFTER_ALL


def test_the_strings_of_a_pod_that_are_written_are_known_one_by_one() -> None:
    affinity = r"spec\.affinity\.(nodeAffinity|podAffinity|podAntiAffinity)\..*"
    claim = r"spec\.volumes\.ephemeral\.volumeClaimTemplate\.(metadata|spec)\..*"
    written = {
        path
        for path in written_of(resources.PODS)
        if not re.fullmatch(f"{affinity}|{claim}|spec.volumes.*|spec.topologySpread.*", path)
    }
    containers = {
        *("name", "image", "restartPolicy", "restartPolicyRules.action"),
        *("ports.protocol", "ports.hostIP"),
        *("resources.claims.name", "resources.claims.request"),
        *("resources.limits", "resources.requests"),
        *("securityContext.seccompProfile.type", "securityContext.seccompProfile.localhostProfile"),
    }
    statuses = {
        "name",
        "allocatedResources",
        *(f"resources.{each}" for each in ("claims.name", "claims.request", "limits", "requests")),
    }
    assert written == {
        *(f"metadata.{each}" for each in ("name", "namespace", "uid", "labels")),
        *(f"metadata.ownerReferences.{each}" for each in ("apiVersion", "kind", "name", "uid")),
        *(f"spec.containers.{each}" for each in containers),
        *(f"spec.initContainers.{each}" for each in containers),
        *("spec.nodeName", "spec.nodeSelector", "spec.schedulerName", "spec.overhead"),
        *("spec.priorityClassName", "spec.preemptionPolicy", "spec.schedulingGates.name"),
        *(f"spec.tolerations.{each}" for each in ("key", "operator", "value", "effect")),
        *(f"spec.resources.{each}" for each in ("claims.name", "claims.request")),
        *("spec.resources.limits", "spec.resources.requests"),
        "spec.resourceClaims.name",
        "spec.resourceClaims.resourceClaimName",
        "spec.resourceClaims.resourceClaimTemplateName",
        "spec.schedulingGroup.podGroupName",
        "spec.securityContext.seccompProfile.type",
        "spec.securityContext.seccompProfile.localhostProfile",
        *("status.phase", "status.nominatedNodeName", "status.allocatedResources"),
        *(f"status.resources.{each}" for each in ("claims.name", "claims.request")),
        *("status.resources.limits", "status.resources.requests"),
        *(f"status.containerStatuses.{each}" for each in statuses),
        *(f"status.initContainerStatuses.{each}" for each in statuses),
        *(f"status.resourceClaimStatuses.{each}" for each in ("name", "resourceClaimName")),
        "status.extendedResourceClaimStatus.resourceClaimName",
        "status.extendedResourceClaimStatus.requestMappings.containerName",
        "status.extendedResourceClaimStatus.requestMappings.resourceName",
        "status.extendedResourceClaimStatus.requestMappings.requestName",
        "status.nodeAllocatableResourceClaimStatuses.resourceClaimName",
        "status.nodeAllocatableResourceClaimStatuses.containers",
        "status.nodeAllocatableResourceClaimStatuses.resources",
    }


def test_of_annotations_and_conditions_those_that_schedulers_read_are_written() -> None:
    hostile = canary_object(resources.PODS)
    for key in ("kubernetes.io/config.mirror", "example.com/password", "hami.io/other"):
        hostile["metadata"]["annotations"][key] = key
    hostile["status"]["conditions"] = [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "secret"},
        {"type": "Ready", "status": "True"},
    ]
    pod = decode_as(json.dumps(hostile).encode(), RECORDED_STRUCTS[resources.PODS])
    written = recorded_object(pod)
    assert written["metadata"]["annotations"] == {
        "kubernetes.io/config.mirror": "kubernetes.io/config.mirror"
    }
    assert written["status"]["conditions"] == [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    ]
    assert not any("last-applied" in key for key in RECORDED_ANNOTATIONS)


def test_what_was_written_of_a_kind_is_read_as_the_same_object() -> None:
    for resource, struct in RECORDED_STRUCTS.items():
        if (resource.group, resource.kind) not in SERVED:
            continue
        raw = json.dumps(canary_object(resource)).encode().replace(CANARY.encode(), b"x-")
        once = decode_recorded(raw, struct).written
        assert decode_recorded(once, struct).written == once, resource_name(resource)


def test_every_struct_that_is_recorded_is_in_the_list_and_every_line_of_it_is_used() -> None:
    reached: set[str] = set()
    named = {line.partition(":")[0] for line in RECORDED_FIELDS.splitlines() if line[:1].isalpha()}

    def reach(info: inspect.Type) -> None:
        match info:
            case inspect.StructType() if issubclass(info.cls, KubeStruct):
                if info.cls.__name__ in named and info.cls.__name__ not in reached:
                    reached.add(info.cls.__name__)
                    for field in info.fields:
                        reach(field.type)
            case inspect.UnionType():
                for each in info.types:
                    reach(each)
            case inspect.VarTupleType():
                reach(info.item_type)
            case inspect.DictType():
                reach(info.value_type)

    for struct in RECORDED_STRUCTS.values():
        reach(inspect.type_info(struct))
        msgspec.json.encode(recorded_object(struct()))
    assert reached == named
