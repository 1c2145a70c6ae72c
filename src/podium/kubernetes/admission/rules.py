"""Which rule is applied to which kind, and in which order; with the rules that are short.

Who may not be certified: nobody becomes a member of `system:masters` by a certificate. The rule of
kube-apiserver's plugin CertificateSubjectRestriction; members of that group pass every
authorisation, and a certificate cannot be taken back.

Claims that want to look at devices in use: only in namespaces that are marked for it.

Ingresses that name no class get the newest default one.

The life of namespaces: nothing new in those that do not exist or are on their way out.

Pod groups: made from a workload that exists, with the priority of their class.
"""

import base64
from collections.abc import Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.admission import pods, priorities, storage
from podium.kubernetes.admission.limit_ranger import apply_limit_ranges, refuse_beyond_limits
from podium.kubernetes.admission.lookup import DEFAULT_SETTINGS, AdmissionSettings, Lookup
from podium.kubernetes.admission.pods import admit_runtime_class, refuse_own_overhead
from podium.kubernetes.admission.priorities import class_of
from podium.kubernetes.admission.quotas import refuse_beyond_quota
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.field_errors import FieldError, forbidden


def admit_create(
    resource: ApiResource,
    namespace: str,
    obj: JsonObject,
    lookup: Lookup,
    settings: AdmissionSettings = DEFAULT_SETTINGS,
) -> None:
    """Change a new object as the cluster demands; StatusError if it is refused."""
    if namespace:
        name = obj["metadata"].get("name", "")
        refuse_content_of_namespace(resource, namespace, name, lookup)
    if resource.group:
        _admit_of_group(resource, obj, lookup)
    elif resource.kind == "Pod":
        _admit_new_pod(resource, obj, lookup, settings)
    elif resource.kind == "Node":
        if settings.taint_new_nodes:
            pods.taint_new_node(obj)
    elif resource.kind == "PersistentVolumeClaim":
        storage.set_default_class(obj, lookup)
        storage.protect(resource, obj)
    elif resource.kind == "PersistentVolume":
        storage.protect(resource, obj)


def _admit_of_group(resource: ApiResource, obj: JsonObject, lookup: Lookup) -> None:
    if (resource.group, resource.kind) == ("networking.k8s.io", "Ingress"):
        set_default_ingress_class(obj, lookup)
    elif (resource.group, resource.kind) == ("scheduling.k8s.io", "PodGroup"):
        set_group_priority(resource, obj, lookup)


def _admit_new_pod(
    resource: ApiResource, pod: JsonObject, lookup: Lookup, settings: AdmissionSettings
) -> None:
    apply_limit_ranges(pod, pod["metadata"].get("namespace") or "", lookup)
    priorities.set_priority(resource, pod, lookup)
    pods.add_default_tolerations(pod, settings)
    admit_runtime_class(resource, pod, lookup)
    node = pod["spec"].get("nodeName")
    if node:
        pods.copy_topology(pod, node, lookup)


def admit_update(
    resource: ApiResource,
    namespace: str,
    new: JsonObject,
    old: JsonObject,
    _lookup: Lookup,
    settings: AdmissionSettings = DEFAULT_SETTINGS,
) -> None:
    """The same for a changed object; not for its subresources."""
    if resource.group or resource.kind != "Pod" or not namespace:
        return
    priorities.keep_priority(new, old)
    pods.add_default_tolerations(new, settings)


def admit_delete(resource: ApiResource, namespace: str, name: str) -> None:
    """StatusError if the object may not go."""
    if not namespace:
        refuse_namespace_deletion(resource, name)
        priorities.refuse_deletion(resource, name)


def admit_binding(binding: JsonObject, lookup: Lookup) -> None:
    """Labels that the pod takes over from its node, by way of the binding."""
    target: JsonObject = binding.get("target") or {}
    if target.get("kind") == "Node" and target.get("name"):
        pods.copy_topology(binding, target["name"], lookup)


def review_create(resource: ApiResource, obj: JsonObject, lookup: Lookup) -> None:
    """What can only be judged when the object is final; StatusError if it is refused."""
    if (resource.group, resource.kind) == ("scheduling.k8s.io", "PriorityClass"):
        priorities.refuse_second_default(resource, obj, lookup)
    elif (resource.group, resource.kind) == ("scheduling.k8s.io", "PodGroup"):
        refuse_group_without_template(resource, obj, lookup)
    elif resource.kind == "CertificateSigningRequest":
        refuse_masters(resource, obj)
    elif (resource.group, resource.kind) == ("", "Pod"):
        refuse_beyond_limits(resource, obj, lookup)
        if obj["spec"].get("overhead"):
            refuse_own_overhead(resource, obj, lookup)
    elif (resource.group, resource.kind) == ("", "PersistentVolumeClaim"):
        refuse_beyond_limits(resource, obj, lookup)
    elif resource.group == "resource.k8s.io" and resource.namespaced:
        refuse_device_administration(resource, obj, lookup)


def charge_create(resource: ApiResource, obj: JsonObject, lookup: Lookup) -> None:
    """Quotas, after everybody else had their say; StatusError if one is exceeded."""
    if resource.namespaced:
        refuse_beyond_quota(resource, obj, lookup)


def review_update(resource: ApiResource, new: JsonObject, old: JsonObject, lookup: Lookup) -> None:
    if (resource.group, resource.kind) == ("scheduling.k8s.io", "PriorityClass"):
        priorities.refuse_second_default(resource, new, lookup)
    elif (resource.group, resource.kind) == ("", "PersistentVolumeClaim"):
        refuse_beyond_limits(resource, new, lookup)
        storage.refuse_growth(resource, new, old, lookup)


def charge_update(resource: ApiResource, new: JsonObject, old: JsonObject, lookup: Lookup) -> None:
    if resource.namespaced:
        refuse_beyond_quota(resource, new, lookup, old)


_CLIENT_SIGNER: Final = "kubernetes.io/kube-apiserver-client"
_MASTERS: Final = "system:masters"


def refuse_masters(resource: ApiResource, request: JsonObject) -> None:
    """Refuse a new request of a client's certificate for that group; it is known to be readable."""
    spec = request["spec"]
    if spec.get("signerName") != _CLIENT_SIGNER:
        return
    # Only here: reading certificates is a large part of a library.
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    name = request["metadata"]["name"]
    try:
        parsed = x509.load_pem_x509_csr(base64.b64decode(spec.get("request") or ""))
        groups = parsed.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    except ValueError as problem:
        told = f"failed to parse CSR: {problem}"
        raise status_errors.forbidden(resource, name, told) from None
    if any(group.value == _MASTERS for group in groups):
        told = f"use of {_CLIENT_SIGNER} signer with {_MASTERS} group is not allowed"
        raise status_errors.forbidden(resource, name, told)


_ADMIN_MARK: Final = "resource.kubernetes.io/admin-access"
_NO_ADMIN_ACCESS: Final = (
    f"admin access to devices requires the `{_ADMIN_MARK}: true` label on the containing namespace"
)


def refuse_device_administration(resource: ApiResource, claim: JsonObject, lookup: Lookup) -> None:
    """Refuse a ResourceClaim or ResourceClaimTemplate with requests for administrators."""
    path, spec = "spec", claim.get("spec") or {}
    if resource.kind == "ResourceClaimTemplate":
        path, spec = "spec.spec", spec.get("spec") or {}
    problems = list(_admin_access_problems(spec, path))
    if not problems:
        return
    namespace = lookup.find("", "namespaces", "", claim["metadata"].get("namespace") or "")
    labels = ((namespace or {}).get("metadata") or {}).get("labels") or {}
    if labels.get(_ADMIN_MARK) != "true":
        name = claim["metadata"].get("name", "")
        raise status_errors.invalid(resource.group, resource.kind, name, problems)


def _admin_access_problems(spec: JsonObject, path: str) -> list[FieldError]:
    requests = (spec.get("devices") or {}).get("requests") or ()
    return [
        # upstream: the path leaves out which alternative it is.
        forbidden(f"{path}.devices.requests[{number}].adminAccess", _NO_ADMIN_ACCESS)
        for number, request in enumerate(requests)
        if (request.get("exactly") or {}).get("adminAccess")
    ]


_CLASS_ANNOTATION: Final = "kubernetes.io/ingress.class"
_IS_DEFAULT: Final = "ingressclass.kubernetes.io/is-default-class"


def set_default_ingress_class(ingress: JsonObject, lookup: Lookup) -> None:
    spec = ingress.setdefault("spec", {})
    annotations = ingress["metadata"].get("annotations") or {}
    if spec.get("ingressClassName") is not None or _CLASS_ANNOTATION in annotations:
        return
    name = lookup.get_derived("networking.k8s.io", "ingressclasses", _default_ingress_class)
    if name:
        spec["ingressClassName"] = name


def _default_ingress_class(classes: Sequence[JsonObject]) -> str:
    """The newest of those that are marked; of equally old ones the first by name."""
    found = [
        each["metadata"]
        for each in classes
        if (each["metadata"].get("annotations") or {}).get(_IS_DEFAULT) == "true"
    ]
    found.sort(key=lambda metadata: str(metadata["name"]))
    newest = max(found, key=lambda metadata: str(metadata["creationTimestamp"]), default=None)
    return "" if newest is None else str(newest["name"])


_IMMORTAL: Final = frozenset({"default", "kube-system", "kube-public"})
_UNTOUCHED: Final = frozenset({"authentication.k8s.io", "authorization.k8s.io"})
NAMESPACES: Final = ApiResource("", "v1", "Namespace", "namespaces", "namespace", False)


def refuse_content_of_namespace(
    resource: ApiResource, namespace: str, name: str, lookup: Lookup
) -> None:
    """Of a namespace that is missing or terminating."""
    if not namespace or resource.group in _UNTOUCHED:
        return
    found = lookup.find("", "namespaces", "", namespace)
    if found is None:
        raise status_errors.not_found(NAMESPACES, namespace)
    if (found.get("status") or {}).get("phase") == "Terminating":
        why = (
            f"unable to create new content in namespace {namespace} because it is being terminated"
        )
        refusal = status_errors.forbidden(resource, name, why)
        refusal.details = {
            **(refusal.details or {}),
            "causes": [
                {
                    "reason": "NamespaceTerminating",
                    "message": f"namespace {namespace} is being terminated",
                    "field": "metadata.namespace",
                }
            ],
        }
        raise refusal


def refuse_namespace_deletion(resource: ApiResource, name: str) -> None:
    """Of a namespace that the cluster cannot do without."""
    if (resource.group, resource.kind) == ("", "Namespace") and name in _IMMORTAL:
        raise status_errors.forbidden(resource, name, "this namespace may not be deleted")


_SCHEDULING: Final = "scheduling.k8s.io"


def set_group_priority(resource: ApiResource, group: JsonObject, lookup: Lookup) -> None:
    """Resolve the class of a new group, unless groups have no priorities of their own."""
    if any(path[-1] == "priority" for _, path in resource.gated_fields):
        return
    spec, name = group.get("spec") or {}, group["metadata"].get("name", "")
    chosen = class_of(resource, name, spec.get("priorityClassName"), lookup)
    priority = 0 if chosen is None else chosen.value
    given = spec.get("priority")
    if given is not None and given != priority:
        why = (
            f"priority set in the pod group ({given}) must match the priority computed"
            f" ({priority}) based on the priority class set in the spec"
        )
        raise status_errors.forbidden(resource, name, why)
    spec["priority"] = priority
    if chosen is not None:
        spec["priorityClassName"] = chosen.name
    group["spec"] = spec


def refuse_group_without_template(resource: ApiResource, group: JsonObject, lookup: Lookup) -> None:
    """Of a group that says which template of which workload it was made from."""
    reference = ((group.get("spec") or {}).get("podGroupTemplateRef") or {}).get("workload")
    if reference is None:
        return
    metadata, wanted = group["metadata"], reference.get("workloadName") or ""
    workload = lookup.find(_SCHEDULING, "workloads", metadata["namespace"], wanted, "v1alpha2")
    template = reference.get("podGroupTemplateName") or ""
    if workload is None:
        why = f'Workload "{wanted}" not found'
    elif workload["metadata"].get("deletionTimestamp"):
        why = f'Workload "{wanted}" is being deleted'
    elif any(each.get("name") == template for each in workload["spec"]["podGroupTemplates"]):
        return
    else:
        why = f'PodGroupTemplate "{template}" not found in Workload "{wanted}"'
    raise status_errors.forbidden(resource, metadata.get("name", ""), f"PodGroup rejected: {why}")
