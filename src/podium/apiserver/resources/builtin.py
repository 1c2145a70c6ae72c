"""The resources that every server has, as data.

Names, short names, categories, verbs and subresources are those of Kubernetes v1.36. Groups that
neither the scheduler, nor the tools around it, nor ordinary manifests have to do with are not
served.
"""

from dataclasses import replace

from podium.kubernetes.resources.gated_pod_fields import (
    GatedField,
    gated_pod_fields,
    gated_spec_fields,
)
from podium.kubernetes.resources.resource import (
    ALL_VERBS,
    ANY_KEY,
    STATUS_VERBS,
    Resource,
    Subresource,
)
from podium.kubernetes.releases.feature_gates import DEFAULT_GATES, FeatureGates

_CREATE = ("create",)
_WITHOUT_COLLECTION = tuple(verb for verb in ALL_VERBS if verb != "deletecollection")


def _status(kind: str) -> Subresource:
    return Subresource("status", kind, STATUS_VERBS)


_SCALE = Subresource("scale", "Scale", STATUS_VERBS, "autoscaling", "v1")


def _kind(
    group: str,
    kind: str,
    plural: str,
    *more: Subresource,
    short: str = "",
    namespaced: bool = True,
    status: bool = False,
    categories: tuple[str, ...] = (),
    verbs: tuple[str, ...] = ALL_VERBS,
    version: str = "v1",
    gated_fields: tuple[GatedField, ...] = (),
) -> Resource:
    subresources = (*more, _status(kind)) if status else more
    return Resource(
        group=group,
        version=version,
        kind=kind,
        plural=plural,
        singular=kind.lower(),
        namespaced=namespaced,
        short_names=tuple(short.split(",")) if short else (),
        categories=categories,
        subresources=subresources,
        verbs=verbs,
        gated_fields=gated_fields,
    )


_ALL = ("all",)
_TEMPLATE_FIELDS = tuple(gated_spec_fields("spec", "template", "spec"))


def _workload(
    group: str,
    kind: str,
    plural: str,
    *more: Subresource,
    short: str = "",
    gated_fields: tuple[GatedField, ...] = _TEMPLATE_FIELDS,
) -> Resource:
    """A kind that makes pods from a template."""
    return _kind(
        group,
        kind,
        plural,
        *more,
        short=short,
        status=True,
        categories=_ALL,
        gated_fields=gated_fields,
    )


_CORE = (
    _kind("", "Binding", "bindings", verbs=_CREATE),
    _kind("", "ConfigMap", "configmaps", short="cm"),
    _kind("", "Endpoints", "endpoints", short="ep"),
    _kind("", "Event", "events", short="ev"),
    _kind("", "LimitRange", "limitranges", short="limits"),
    _kind(
        "",
        "Namespace",
        "namespaces",
        Subresource("finalize", "Namespace", ("update",)),
        short="ns",
        namespaced=False,
        status=True,
        verbs=_WITHOUT_COLLECTION,
    ),
    _kind("", "Node", "nodes", short="no", namespaced=False, status=True),
    _kind("", "PersistentVolumeClaim", "persistentvolumeclaims", short="pvc", status=True),
    _kind("", "PersistentVolume", "persistentvolumes", short="pv", namespaced=False, status=True),
    _kind(
        "",
        "Pod",
        "pods",
        Subresource("attach", "PodAttachOptions", ("create", "get")),
        Subresource("binding", "Binding", _CREATE),
        Subresource("ephemeralcontainers", "Pod", STATUS_VERBS),
        Subresource("eviction", "Eviction", _CREATE, "policy", "v1"),
        Subresource("exec", "PodExecOptions", ("create", "get")),
        Subresource("log", "Pod", ("get",)),
        Subresource("portforward", "PodPortForwardOptions", ("create", "get")),
        Subresource("resize", "Pod", STATUS_VERBS),
        short="po",
        status=True,
        categories=_ALL,
        gated_fields=gated_pod_fields(),
    ),
    _kind(
        "", "PodTemplate", "podtemplates", gated_fields=tuple(gated_spec_fields("template", "spec"))
    ),
    _workload("", "ReplicationController", "replicationcontrollers", _SCALE, short="rc"),
    _kind("", "ResourceQuota", "resourcequotas", short="quota", status=True),
    _kind("", "Secret", "secrets"),
    _kind(
        "",
        "ServiceAccount",
        "serviceaccounts",
        Subresource("token", "TokenRequest", _CREATE, "authentication.k8s.io", "v1"),
        short="sa",
    ),
    _kind("", "Service", "services", short="svc", status=True, categories=_ALL),
)

_APPS = (
    _kind("apps", "ControllerRevision", "controllerrevisions"),
    _workload("apps", "DaemonSet", "daemonsets", short="ds"),
    _workload("apps", "Deployment", "deployments", _SCALE, short="deploy"),
    _workload("apps", "ReplicaSet", "replicasets", _SCALE, short="rs"),
    _workload(
        "apps",
        "StatefulSet",
        "statefulsets",
        _SCALE,
        short="sts",
        gated_fields=(
            *_TEMPLATE_FIELDS,
            (
                "MaxUnavailableStatefulSet",
                ("spec", "updateStrategy", "rollingUpdate", "maxUnavailable"),
            ),
        ),
    ),
)

_BATCH = (
    _workload(
        "batch",
        "CronJob",
        "cronjobs",
        short="cj",
        gated_fields=tuple(gated_spec_fields("spec", "jobTemplate", "spec", "template", "spec")),
    ),
    _workload("batch", "Job", "jobs"),
)

_AUTOSCALING = tuple(
    _kind(
        "autoscaling",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        short="hpa",
        status=True,
        categories=_ALL,
        version=version,
    )
    for version in ("v2", "v1")
)

_NETWORKING_GROUP = "networking.k8s.io"
_NETWORKING = (
    _kind(_NETWORKING_GROUP, "IngressClass", "ingressclasses", namespaced=False),
    _kind(_NETWORKING_GROUP, "Ingress", "ingresses", short="ing", status=True),
    _kind(_NETWORKING_GROUP, "IPAddress", "ipaddresses", short="ip", namespaced=False),
    _kind(_NETWORKING_GROUP, "NetworkPolicy", "networkpolicies", short="netpol"),
    _kind(_NETWORKING_GROUP, "ServiceCIDR", "servicecidrs", namespaced=False, status=True),
)

_AUTHORISATION = "authorization.k8s.io"
_RBAC = "rbac.authorization.k8s.io"
_REVIEWS = (
    _kind(
        "authentication.k8s.io",
        "SelfSubjectReview",
        "selfsubjectreviews",
        namespaced=False,
        verbs=_CREATE,
    ),
    _kind("authentication.k8s.io", "TokenReview", "tokenreviews", namespaced=False, verbs=_CREATE),
    _kind(_AUTHORISATION, "LocalSubjectAccessReview", "localsubjectaccessreviews", verbs=_CREATE),
    _kind(
        _AUTHORISATION,
        "SelfSubjectAccessReview",
        "selfsubjectaccessreviews",
        namespaced=False,
        verbs=_CREATE,
    ),
    _kind(
        _AUTHORISATION,
        "SelfSubjectRulesReview",
        "selfsubjectrulesreviews",
        namespaced=False,
        verbs=_CREATE,
    ),
    _kind(
        _AUTHORISATION,
        "SubjectAccessReview",
        "subjectaccessreviews",
        namespaced=False,
        verbs=_CREATE,
    ),
    _kind(_RBAC, "ClusterRoleBinding", "clusterrolebindings", namespaced=False),
    _kind(_RBAC, "ClusterRole", "clusterroles", namespaced=False),
    _kind(_RBAC, "RoleBinding", "rolebindings"),
    _kind(_RBAC, "Role", "roles"),
)

_STORAGE = "storage.k8s.io"
_DEVICES = "resource.k8s.io"
_OTHERS = (
    _kind(
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        short="crd,crds",
        namespaced=False,
        status=True,
        categories=("api-extensions",),
    ),
    _kind(
        "apiregistration.k8s.io",
        "APIService",
        "apiservices",
        namespaced=False,
        status=True,
        categories=("api-extensions",),
    ),
    _kind(
        "certificates.k8s.io",
        "CertificateSigningRequest",
        "certificatesigningrequests",
        Subresource("approval", "CertificateSigningRequest", STATUS_VERBS),
        short="csr",
        namespaced=False,
        status=True,
    ),
    _kind(
        "coordination.k8s.io",
        "Lease",
        "leases",
        gated_fields=tuple(
            ("CoordinatedLeaderElection", ("spec", field))
            for field in ("preferredHolder", "strategy")
        ),
    ),
    _kind("discovery.k8s.io", "EndpointSlice", "endpointslices"),
    _kind("events.k8s.io", "Event", "events", short="ev"),
    _kind("node.k8s.io", "RuntimeClass", "runtimeclasses", namespaced=False),
    _kind("policy", "PodDisruptionBudget", "poddisruptionbudgets", short="pdb", status=True),
    _kind(_DEVICES, "DeviceClass", "deviceclasses", namespaced=False),
    _kind(_DEVICES, "ResourceClaim", "resourceclaims", status=True),
    _kind(_DEVICES, "ResourceClaimTemplate", "resourceclaimtemplates"),
    _kind(
        _DEVICES,
        "ResourceSlice",
        "resourceslices",
        namespaced=False,
        gated_fields=(
            (
                "DRANodeAllocatableResources",
                ("spec", "devices", "nodeAllocatableResourceMappings"),
            ),
            *(
                ("DRAListTypeAttributes", ("spec", "devices", "attributes", ANY_KEY, values))
                for values in ("bools", "ints", "strings", "versions")
            ),
        ),
    ),
    _kind("scheduling.k8s.io", "PriorityClass", "priorityclasses", short="pc", namespaced=False),
    _kind(
        _STORAGE,
        "CSIDriver",
        "csidrivers",
        namespaced=False,
        gated_fields=(("VolumeLimitScaling", ("spec", "preventPodSchedulingIfMissing")),),
    ),
    _kind(_STORAGE, "CSINode", "csinodes", namespaced=False),
    _kind(_STORAGE, "CSIStorageCapacity", "csistoragecapacities"),
    _kind(_STORAGE, "StorageClass", "storageclasses", short="sc", namespaced=False),
    _kind(_STORAGE, "VolumeAttachment", "volumeattachments", namespaced=False, status=True),
    _kind(
        _STORAGE, "VolumeAttributesClass", "volumeattributesclasses", short="vac", namespaced=False
    ),
)

_GROUP_GATES = (
    ("DRAWorkloadResourceClaims", "resourceClaims"),
    ("TopologyAwareWorkloadScheduling", "schedulingConstraints"),
    ("WorkloadAwarePreemption", "disruptionMode"),
    ("WorkloadAwarePreemption", "priorityClassName"),
    ("WorkloadAwarePreemption", "priority"),
)
_POD_GROUPS = (
    _kind(
        "scheduling.k8s.io",
        "PodGroup",
        "podgroups",
        status=True,
        version="v1alpha2",
        gated_fields=(
            *((gate, ("spec", field)) for gate, field in _GROUP_GATES),
            ("DRAWorkloadResourceClaims", ("status", "resourceClaimStatuses")),
        ),
    ),
    _kind(
        "scheduling.k8s.io",
        "Workload",
        "workloads",
        version="v1alpha2",
        gated_fields=tuple(
            (gate, ("spec", "podGroupTemplates", field)) for gate, field in _GROUP_GATES
        ),
    ),
)

_ADMISSION = "admissionregistration.k8s.io"
_POLICIES = (
    _kind(
        _ADMISSION,
        "MutatingAdmissionPolicy",
        "mutatingadmissionpolicies",
        namespaced=False,
        categories=("api-extensions",),
    ),
    _kind(
        _ADMISSION,
        "MutatingAdmissionPolicyBinding",
        "mutatingadmissionpolicybindings",
        namespaced=False,
        categories=("api-extensions",),
    ),
    _kind(
        _ADMISSION,
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
        namespaced=False,
        categories=("api-extensions",),
    ),
    _kind(
        _ADMISSION,
        "ValidatingAdmissionPolicy",
        "validatingadmissionpolicies",
        namespaced=False,
        status=True,
        categories=("api-extensions",),
    ),
    _kind(
        _ADMISSION,
        "ValidatingAdmissionPolicyBinding",
        "validatingadmissionpolicybindings",
        namespaced=False,
        categories=("api-extensions",),
    ),
    _kind(
        _ADMISSION,
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        namespaced=False,
        categories=("api-extensions",),
    ),
)

_FLOW_CONTROL_GROUP = "flowcontrol.apiserver.k8s.io"
_FLOW_CONTROL = (
    _kind(_FLOW_CONTROL_GROUP, "FlowSchema", "flowschemas", namespaced=False, status=True),
    _kind(
        _FLOW_CONTROL_GROUP,
        "PriorityLevelConfiguration",
        "prioritylevelconfigurations",
        namespaced=False,
        status=True,
    ),
)

_TAINT_RULES = _kind(
    _DEVICES,
    "DeviceTaintRule",
    "devicetaintrules",
    namespaced=False,
    status=True,
    version="v1beta2",
)

BUILTIN: tuple[Resource, ...] = (
    *_CORE,
    *_APPS,
    *_AUTOSCALING,
    *_BATCH,
    *_NETWORKING,
    *_REVIEWS,
    *_OTHERS,
    *_POLICIES,
    *_FLOW_CONTROL,
)
"""Those that are served whatever the feature gates say; with the fields of all gates."""


def served_resources(gates: FeatureGates = DEFAULT_GATES) -> tuple[Resource, ...]:
    """The resources of a server with these gates; fields whose gates are closed are not kept."""
    found = BUILTIN
    if gates["GenericWorkload"]:
        found = (*found, *_POD_GROUPS)
    if gates["DRADeviceTaintRules"]:
        found = (*found, _TAINT_RULES)
    return tuple(_without_open_gates(each, gates) if each.gated_fields else each for each in found)


def _without_open_gates(resource: Resource, gates: FeatureGates) -> Resource:
    closed = tuple((gate, path) for gate, path in resource.gated_fields if not gates[gate])
    return replace(resource, gated_fields=closed)
