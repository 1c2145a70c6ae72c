"""From a template to a pod, and from a deployment to its replica set."""

from hashlib import sha256
from typing import Final

import msgspec

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.objects import Kind, owner_reference
from podium.kubernetes.controllers.workloads import Deployment, PodTemplate
from podium.kubernetes.kinds.meta import ObjectMeta

DEPLOYMENT: Final = Kind("apps/v1", "Deployment")
TEMPLATE_HASH: Final = "pod-template-hash"
REVISION_HASH: Final = "controller-revision-hash"


def canonical(value: object) -> bytes:
    """Bytes that are equal exactly when the JSON is, whatever the order of its keys."""
    return msgspec.json.encode(value, order="sorted")


def template_hash(template: PodTemplate) -> str:
    """Tells templates apart. It is not the hash that kube-controller-manager works out."""
    return sha256(canonical(template)).hexdigest()[:10]


def pod_from_template(
    kind: Kind,
    owner: ObjectMeta,
    template: PodTemplate,
    *,
    name: str = "",
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    finalizers: list[str] | None = None,
    spec: JsonObject | None = None,
) -> JsonObject:
    """A new pod; without a name the server makes one up that begins with the owner's."""
    metadata: JsonObject = {
        "labels": {**(template.metadata.get("labels") or {}), **(labels or {})},
        "annotations": {**(template.metadata.get("annotations") or {}), **(annotations or {})},
        "ownerReferences": [owner_reference(kind, owner)],
    }
    named = finalizers or template.metadata.get("finalizers")
    if named:
        metadata["finalizers"] = list(named)
    if name:
        metadata["name"] = name
    else:
        metadata["generateName"] = f"{owner.name}-"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {key: value for key, value in metadata.items() if value},
        "spec": template.spec if spec is None else spec,
    }


def replica_set_of(
    deployment: Deployment, replicas: int, annotations: dict[str, str]
) -> JsonObject:
    """The replica set of the present template, which carries and selects the template's hash."""
    spec = deployment.spec
    mark = {TEMPLATE_HASH: template_hash(spec.template)}
    labels = {**(spec.template.metadata.get("labels") or {}), **mark}
    selector: JsonObject = {"matchLabels": mark}
    if spec.selector is not None:
        selector["matchLabels"] = {**(spec.selector.match_labels or {}), **mark}
        expressions = spec.selector.match_expressions or ()
        if expressions:
            selector["matchExpressions"] = list(expressions)
    return {
        "apiVersion": DEPLOYMENT.api_version,
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{deployment.name}-{mark[TEMPLATE_HASH]}",
            "labels": labels,
            "annotations": annotations,
            "ownerReferences": [owner_reference(DEPLOYMENT, deployment.metadata)],
        },
        "spec": {
            "replicas": replicas,
            "minReadySeconds": spec.min_ready_seconds,
            "selector": selector,
            "template": {
                "metadata": {**spec.template.metadata, "labels": labels},
                "spec": spec.template.spec,
            },
        },
    }
