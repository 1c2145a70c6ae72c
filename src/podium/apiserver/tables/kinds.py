"""Which printer prints which kind."""

from collections.abc import Mapping
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.resources.resource import Resource
from podium.apiserver.tables import (
    admission_policies,
    api_services,
    autoscaling,
    cluster,
    flow_control,
    networking,
    pods,
    services,
    storage,
    workloads,
)
from podium.kubernetes.tables.custom import custom_printer
from podium.kubernetes.tables.printer import GENERIC, Cells, Printer

_ADMISSION: Final = "admissionregistration.k8s.io"
_RBAC: Final = "rbac.authorization.k8s.io"
_FLOW_CONTROL: Final = "flowcontrol.apiserver.k8s.io"
_NETWORKING: Final = "networking.k8s.io"
_SCHEDULING: Final = "scheduling.k8s.io"
_STORAGE: Final = "storage.k8s.io"
_DEVICES: Final = "resource.k8s.io"

_BY_KIND: Final[Mapping[tuple[str, str], Printer]] = {
    ("", "ConfigMap"): storage.CONFIG_MAP,
    ("", "Endpoints"): services.ENDPOINTS,
    ("", "Event"): cluster.EVENT,
    ("", "Namespace"): cluster.NAMESPACE,
    ("", "Node"): cluster.NODE,
    ("", "PersistentVolume"): storage.VOLUME,
    ("", "PersistentVolumeClaim"): storage.CLAIM,
    ("", "Pod"): pods.POD,
    ("", "PodTemplate"): workloads.POD_TEMPLATE,
    ("", "ReplicationController"): workloads.REPLICATION_CONTROLLER,
    ("", "ResourceQuota"): storage.QUOTA,
    ("", "Secret"): storage.SECRET,
    ("", "Service"): services.SERVICE,
    ("", "ServiceAccount"): cluster.NAME_AND_AGE,
    (_ADMISSION, "MutatingAdmissionPolicy"): admission_policies.MUTATING_POLICY,
    (_ADMISSION, "MutatingAdmissionPolicyBinding"): admission_policies.BINDING,
    (_ADMISSION, "MutatingWebhookConfiguration"): admission_policies.WEBHOOKS,
    (_ADMISSION, "ValidatingAdmissionPolicy"): admission_policies.POLICY,
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): admission_policies.BINDING,
    (_ADMISSION, "ValidatingWebhookConfiguration"): admission_policies.WEBHOOKS,
    ("apps", "ControllerRevision"): workloads.CONTROLLER_REVISION,
    ("apps", "DaemonSet"): workloads.DAEMON_SET,
    ("apps", "Deployment"): workloads.DEPLOYMENT,
    ("apps", "ReplicaSet"): workloads.REPLICA_SET,
    ("apps", "StatefulSet"): workloads.STATEFUL_SET,
    ("autoscaling", "HorizontalPodAutoscaler"): autoscaling.AUTOSCALER,
    ("batch", "CronJob"): workloads.CRON_JOB,
    ("batch", "Job"): workloads.JOB,
    ("coordination.k8s.io", "Lease"): cluster.LEASE,
    ("discovery.k8s.io", "EndpointSlice"): services.ENDPOINT_SLICE,
    ("events.k8s.io", "Event"): cluster.EVENT,
    (_FLOW_CONTROL, "FlowSchema"): flow_control.FLOW_SCHEMA,
    (_FLOW_CONTROL, "PriorityLevelConfiguration"): flow_control.PRIORITY_LEVEL,
    ("apiregistration.k8s.io", "APIService"): api_services.API_SERVICE,
    ("certificates.k8s.io", "CertificateSigningRequest"): api_services.CERTIFICATE_REQUEST,
    (_NETWORKING, "IPAddress"): networking.IP_ADDRESS,
    (_NETWORKING, "Ingress"): networking.INGRESS,
    (_NETWORKING, "IngressClass"): networking.INGRESS_CLASS,
    (_NETWORKING, "NetworkPolicy"): networking.NETWORK_POLICY,
    (_NETWORKING, "ServiceCIDR"): networking.SERVICE_CIDR,
    ("node.k8s.io", "RuntimeClass"): cluster.RUNTIME_CLASS,
    ("policy", "PodDisruptionBudget"): cluster.BUDGET,
    (_RBAC, "ClusterRoleBinding"): storage.ROLE_BINDING,
    (_RBAC, "RoleBinding"): storage.ROLE_BINDING,
    (_DEVICES, "DeviceClass"): cluster.NAME_AND_AGE,
    (_DEVICES, "DeviceTaintRule"): cluster.NAME_AND_AGE,
    (_DEVICES, "ResourceClaim"): cluster.RESOURCE_CLAIM,
    (_DEVICES, "ResourceClaimTemplate"): cluster.NAME_AND_AGE,
    (_DEVICES, "ResourceSlice"): cluster.RESOURCE_SLICE,
    (_SCHEDULING, "PodGroup"): cluster.POD_GROUP,
    (_SCHEDULING, "PriorityClass"): cluster.PRIORITY_CLASS,
    (_SCHEDULING, "Workload"): cluster.NAME_AND_AGE,
    (_STORAGE, "CSIDriver"): storage.CSI_DRIVER,
    (_STORAGE, "CSINode"): storage.CSI_NODE,
    (_STORAGE, "StorageClass"): storage.STORAGE_CLASS,
    (_STORAGE, "VolumeAttachment"): storage.ATTACHMENT,
    (_STORAGE, "VolumeAttributesClass"): storage.ATTRIBUTES_CLASS,
}
_BY_VERSION: Final[Mapping[tuple[str, str, str], Printer]] = {
    ("autoscaling", "v1", "HorizontalPodAutoscaler"): autoscaling.OLD_AUTOSCALER,
}
_CUSTOM: Final = custom_printer(None)


def printer_of(resource: Resource) -> Printer:
    """The printer of a kind; custom resources with columns of their own bring `custom_printer`."""
    if resource.is_custom:
        return _CUSTOM
    older = _BY_VERSION.get((resource.group, resource.version, resource.kind))
    return older or _BY_KIND.get((resource.group, resource.kind), GENERIC)


def columns(resource: Resource) -> list[JsonObject]:
    return printer_of(resource).columns


def cells(resource: Resource, obj: JsonObject, now: float) -> Cells:
    return printer_of(resource).cells(obj, now)


def row_conditions(resource: Resource, obj: JsonObject) -> list[JsonObject]:
    return printer_of(resource).row_conditions(obj)
