"""For every stored kind an object that can be created and says no more than it has to.

Tests change one thing of it and look at what is said of that.
"""

import base64
import re
from typing import Any

from support.apiserver.written_objects import NOW, RESOURCES, UID, Object, Shelf, read, resource_of

from podium.kubernetes import conversion, strategy, validation
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.status_errors import StatusError

_CONTAINERS = {"containers": [{"name": "c", "image": "img:1"}]}
_LABELS = {"app": "a"}
_SELECTOR = {"matchLabels": _LABELS}
_TEMPLATE = {"metadata": {"labels": _LABELS}, "spec": _CONTAINERS}
_ONCE = {"spec": {**_CONTAINERS, "restartPolicy": "Never"}}
_CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
_DEVICES = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
_ROLE = {"kind": "ClusterRole", "name": "r", "apiGroup": "rbac.authorization.k8s.io"}
_ADMISSION = "admissionregistration.k8s.io"
_RBAC = "rbac.authorization.k8s.io"
_STORAGE = "storage.k8s.io"
_DRA = "resource.k8s.io"
_NETWORKING = "networking.k8s.io"
_FLOW_CONTROL = "flowcontrol.apiserver.k8s.io"
_GANG = {"gang": {"minCount": 3}}

_DEFINITION = "CustomResourceDefinition"

_HOOK = {
    "name": "a.hook.example",
    "clientConfig": {"url": "https://127.0.0.1:9/"},
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}

_GIZMOS = {
    "resourceRules": [
        {
            "apiGroups": ["x.dev"],
            "apiVersions": ["v1"],
            "operations": ["CREATE"],
            "resources": ["gizmos"],
        }
    ]
}
CERTIFICATE_REQUEST = base64.b64encode(
    b"""-----BEGIN CERTIFICATE REQUEST-----
MIGLMD8CAQAwDDEKMAgGA1UEAwwBYTAqMAUGAytlcAMhAAOhB7/zzhC+HXDdGOdL
wJln5NYwm6UNXx3chmQSVTG4oAAwBQYDK2VwA0EA6Uihila4kkn4hZH8pS7CJu2C
h9u8/WBkiMbgaWIyT+cCR0lO5yhPiPErm41e9+NNahZULrPjaCqRFDl3r3q0Bw==
-----END CERTIFICATE REQUEST-----
"""
).decode()

_WRITTEN: dict[tuple[str, str], Any] = {
    (_ADMISSION, "MutatingWebhookConfiguration"): {"webhooks": [_HOOK]},
    (_ADMISSION, "ValidatingWebhookConfiguration"): {"webhooks": [_HOOK]},
    (_ADMISSION, "MutatingAdmissionPolicy"): {
        "spec": {
            "matchConstraints": _GIZMOS,
            "mutations": [
                {
                    "patchType": "ApplyConfiguration",
                    "applyConfiguration": {"expression": "Object{}"},
                }
            ],
            "reinvocationPolicy": "Never",
        }
    },
    (_ADMISSION, "MutatingAdmissionPolicyBinding"): {"spec": {"policyName": "p"}},
    ("apiregistration.k8s.io", "APIService"): {
        "spec": {
            "group": "a",
            "version": "v1",
            "groupPriorityMinimum": 100,
            "versionPriority": 10,
        }
    },
    ("certificates.k8s.io", "CertificateSigningRequest"): {
        "spec": {
            "request": CERTIFICATE_REQUEST,
            "signerName": "example.com/signer",
            "usages": ["client auth"],
        }
    },
    (_ADMISSION, "ValidatingAdmissionPolicy"): {
        "spec": {"matchConstraints": _GIZMOS, "validations": [{"expression": "true"}]}
    },
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): {
        "spec": {"policyName": "p", "validationActions": ["Deny"]}
    },
    ("", "ConfigMap"): {},
    ("", "Endpoints"): {},
    ("", "Event"): {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "ns"}},
    ("", "LimitRange"): {},
    ("", "Namespace"): {},
    ("", "Node"): {},
    ("", "PersistentVolume"): {
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/data"},
        }
    },
    ("", "PersistentVolumeClaim"): {"spec": _CLAIM},
    ("", "Pod"): {"spec": _CONTAINERS},
    ("", "PodTemplate"): {"template": {"spec": _CONTAINERS}},
    ("", "ReplicationController"): {"spec": {"selector": _LABELS, "template": _TEMPLATE}},
    ("", "ResourceQuota"): {},
    ("", "Secret"): {},
    ("", "Service"): {"spec": {"ports": [{"port": 80}]}},
    ("", "ServiceAccount"): {},
    ("apps", "ControllerRevision"): {"revision": 1, "data": {"a": "b"}},
    ("apps", "DaemonSet"): {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}},
    ("apps", "Deployment"): {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}},
    ("apps", "ReplicaSet"): {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}},
    ("apps", "StatefulSet"): {
        "spec": {"selector": _SELECTOR, "template": _TEMPLATE, "serviceName": "s"}
    },
    ("autoscaling", "HorizontalPodAutoscaler"): {
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "maxReplicas": 5,
        }
    },
    ("batch", "CronJob"): {
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": _ONCE}}}
    },
    ("batch", "Job"): {"spec": {"template": _ONCE}},
    ("coordination.k8s.io", "Lease"): {},
    ("discovery.k8s.io", "EndpointSlice"): {"addressType": "IPv4", "endpoints": []},
    ("events.k8s.io", "Event"): {
        "eventTime": NOW.replace("Z", ".000000Z"),
        "reportingController": "example.com/c",
        "reportingInstance": "i",
        "action": "Act",
        "reason": "Why",
        "type": "Normal",
        "regarding": {"kind": "Pod", "name": "p", "namespace": "ns"},
    },
    (_NETWORKING, "Ingress"): {"spec": {"rules": [{"host": "a.example.com"}]}},
    (_NETWORKING, "IngressClass"): {"spec": {"controller": "example.com/c"}},
    (_FLOW_CONTROL, "FlowSchema"): {"spec": {"priorityLevelConfiguration": {"name": "exempt"}}},
    (_FLOW_CONTROL, "PriorityLevelConfiguration"): {
        "spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}
    },
    (_NETWORKING, "IPAddress"): {
        "spec": {"parentRef": {"resource": "services", "name": "s"}},
    },
    (_NETWORKING, "ServiceCIDR"): {"spec": {"cidrs": ["10.9.0.0/24"]}},
    (_NETWORKING, "NetworkPolicy"): {"spec": {"podSelector": {}}},
    ("policy", "PodDisruptionBudget"): {"spec": {"selector": _SELECTOR, "minAvailable": 1}},
    (_RBAC, "ClusterRole"): {},
    (_RBAC, "ClusterRoleBinding"): {"roleRef": _ROLE},
    (_RBAC, "Role"): {},
    (_RBAC, "RoleBinding"): {"roleRef": _ROLE},
    (_DRA, "DeviceTaintRule"): {
        "spec": {"taint": {"key": "example.com/broken", "effect": "NoSchedule"}}
    },
    (_DRA, "DeviceClass"): {},
    (_DRA, "ResourceClaim"): {"spec": _DEVICES},
    (_DRA, "ResourceClaimTemplate"): {"spec": {"spec": _DEVICES}},
    (_DRA, "ResourceSlice"): {
        "spec": {
            "driver": "gpu.example.com",
            "nodeName": "n1",
            "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "dev-0"}],
        }
    },
    ("node.k8s.io", "RuntimeClass"): {"handler": "runc"},
    ("scheduling.k8s.io", "PodGroup"): {"spec": {"schedulingPolicy": _GANG}},
    ("scheduling.k8s.io", "PriorityClass"): {"value": 5},
    ("scheduling.k8s.io", "Workload"): {
        "spec": {"podGroupTemplates": [{"name": "t", "schedulingPolicy": _GANG}]}
    },
    (_STORAGE, "CSIDriver"): {},
    (_STORAGE, "CSINode"): {"spec": {"drivers": []}},
    (_STORAGE, "CSIStorageCapacity"): {"storageClassName": "fast"},
    (_STORAGE, "StorageClass"): {"provisioner": "example.com/disk"},
    (_STORAGE, "VolumeAttachment"): {
        "spec": {
            "attacher": "example.com",
            "nodeName": "n1",
            "source": {"persistentVolumeName": "pv"},
        }
    },
    (_STORAGE, "VolumeAttributesClass"): {"driverName": "example.com", "parameters": {"a": "b"}},
}
_VERSIONS = {
    (_DRA, "DeviceTaintRule"): "v1beta2",
    ("autoscaling", "HorizontalPodAutoscaler"): "v2",
    ("scheduling.k8s.io", "PodGroup"): "v1alpha2",
    ("scheduling.k8s.io", "Workload"): "v1alpha2",
}

KINDS: list[ApiResource] = [
    resource_of(kind, group, _VERSIONS.get((group, kind), "v1")) for group, kind in _WRITTEN
]


def _resource(kind: str, group: str) -> ApiResource:
    return resource_of(kind, group, _VERSIONS.get((group, kind), "v1"))


def smallest(resource: ApiResource, name: str = "a") -> Object:
    """The object as a client writes it."""
    if resource.kind == "IPAddress" and not name[0].isdigit():
        name = "10.0.0.9"  # its name is the address itself
    if resource.kind == "APIService":
        name = name if name.startswith("v1.") else f"v1.{name}"
        written = _WRITTEN[resource.group, resource.kind]["spec"]
        return {"metadata": {"name": name}, "spec": {**written, "group": name[3:]}}
    return {"metadata": {"name": name}, **_WRITTEN[resource.group, resource.kind]}


def covers_every_kind() -> bool:
    """Whether each stored kind has an object here, in the version whose rules hold for it;
    definitions have rules in another place."""
    stored = {
        each
        for each in RESOURCES
        if each.is_stored
        and each.kind != _DEFINITION
        and conversion.ruling_version(each) == each.version
    }
    return stored == set(KINDS)


def problems_of(
    kind: str,
    group: str = "",
    *,
    metadata: Object | None = None,
    spec: Object | None = None,
    **fields: Any,
) -> list[str]:
    """Why a new object is refused: the smallest one with these fields in place of its own."""
    resource = _resource(kind, group)
    written = smallest(resource)
    written["metadata"] = {**written["metadata"], **(metadata or {})}
    if spec is not None:
        written["spec"] = {**written.get("spec", {}), **spec}
    obj = read(resource, {**written, **fields})
    placed = {"namespace": "ns"} if resource.namespaced else {}
    obj["metadata"].update(uid=UID, creationTimestamp=NOW, **placed)
    strategy.prepare_create(resource, obj, NOW)
    return [_brief(str(error)) for error in validation.validate_create(resource, obj)]


def refusal_of(
    kind: str,
    group: str,
    change: Object,
    subresource: str = "",
    **fields: Object,
) -> str:
    """Why a change of the smallest object with these fields is refused; empty if it is not."""
    resource, shelf = _resource(kind, group), Shelf()
    shelf.add_namespace("ns")
    written = smallest(resource)
    for name, value in fields.items():
        own = written.get(name, {})
        written[name] = {**own, **value} if isinstance(value, dict) else value
    obj = shelf.create(resource, "ns" if resource.namespaced else "", written)
    try:
        shelf.patch(resource, subresource, obj, change)
    except StatusError as error:
        return _brief(error.message.partition(" is invalid: ")[2] or error.message)
    return ""


def _brief(text: str) -> str:
    """Without the examples and expressions at the end of rules about names."""
    return re.sub(r" \(e\.g\. .*?\)(?=$|, |\])", "", text)
