"""The roles and bindings that every cluster has from its first moment, as data.

Those of Kubernetes v1.36 that concern what is served here
(`plugin/pkg/auth/authorizer/rbac/bootstrappolicy`). They are stored like any others, so that
authorisation and reviews read one policy and an administrator can change it.

A rule stands as `VERBS of GROUPS: RESOURCES named NAMES` or `VERBS at PATHS`; what is indented
continues the line before. `core` is the group without a name, `read` and `write` stand for the
verbs of their kind.
"""

import re
from collections.abc import Iterator
from typing import Final

from podium.apiserver.access.authorisation import GROUP
from podium.apiserver.access.users import AUTHENTICATED, MASTERS, UNAUTHENTICATED
from podium.golang.json_values import JsonObject
from podium.kubernetes.releases.feature_gates import FeatureGates

_VERBS: Final = {
    "read": ("get", "list", "watch"),
    "write": ("create", "delete", "deletecollection", "patch", "update"),
}
_RULE: Final = re.compile(
    r"(?P<verbs>.+?) (?:at (?P<paths>.+)|of (?P<groups>[^:]+): (?P<resources>.+?)"
    r"(?: named (?P<names>.+))?)"
)
_CLUSTER_ROLES: Final = {
    "cluster-admin": """
        * of *: *
        * at *
    """,
    "system:discovery": """
        get at /api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version
            /version/
    """,
    "system:monitoring": """
        get at /flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz
            /readyz/* /statusz
        get of core: nodes/metrics
    """,
    "system:basic-user": """
        create of authorization.k8s.io: selfsubjectaccessreviews selfsubjectrulesreviews
        create of authentication.k8s.io: selfsubjectreviews
    """,
    "system:public-info-viewer": """
        get at /healthz /livez /readyz /version /version/
    """,
    "system:aggregate-to-admin": """
        create of authorization.k8s.io: localsubjectaccessreviews
        read write of rbac.authorization.k8s.io: rolebindings roles
    """,
    "system:aggregate-to-edit": """
        read of core: pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy
        impersonate of core: serviceaccounts
        write of core: pods pods/attach pods/exec pods/portforward pods/proxy
        create of core: pods/eviction
        write of core: configmaps persistentvolumeclaims replicationcontrollers
            replicationcontrollers/scale secrets serviceaccounts services services/proxy
        create of core: serviceaccounts/token
        write of core events.k8s.io: events
        write of apps: daemonsets deployments deployments/rollback deployments/scale replicasets
            replicasets/scale statefulsets statefulsets/scale
        write of autoscaling: horizontalpodautoscalers
        write of batch: cronjobs jobs
        write of extensions: daemonsets deployments deployments/rollback deployments/scale
            ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale
        write of policy: poddisruptionbudgets
        write of networking.k8s.io: ingresses networkpolicies
        read write of coordination.k8s.io: leases
        write of resource.k8s.io: resourceclaims resourceclaimtemplates
    """,
    "system:aggregate-to-view": """
        read of core: configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status
            pods replicationcontrollers replicationcontrollers/scale serviceaccounts services
            services/status
        read of core: bindings limitranges namespaces/status pods/log pods/status
            replicationcontrollers/status resourcequotas resourcequotas/status
        read of core: namespaces
        read of core events.k8s.io: events
        read of discovery.k8s.io: endpointslices
        read of apps: controllerrevisions daemonsets daemonsets/status deployments
            deployments/scale deployments/status replicasets replicasets/scale
            replicasets/status statefulsets statefulsets/scale statefulsets/status
        read of autoscaling: horizontalpodautoscalers horizontalpodautoscalers/status
        read of batch: cronjobs cronjobs/status jobs jobs/status
        read of extensions: daemonsets daemonsets/status deployments deployments/scale
            deployments/status ingresses ingresses/status networkpolicies replicasets
            replicasets/scale replicasets/status replicationcontrollers/scale
        read of policy: poddisruptionbudgets poddisruptionbudgets/status
        read of networking.k8s.io: ingresses ingresses/status networkpolicies
        read of resource.k8s.io: resourceclaims resourceclaims/status resourceclaimtemplates
    """,
    "system:auth-delegator": """
        create of authentication.k8s.io: tokenreviews
        create of authorization.k8s.io: subjectaccessreviews
    """,
    "system:kube-controller-manager": """
        create patch update of core events.k8s.io: events
        create of coordination.k8s.io: leases
        get update of coordination.k8s.io: leases named kube-controller-manager
        create of core: secrets serviceaccounts
        delete of core: secrets
        get of core: configmaps namespaces secrets serviceaccounts
        update of core: secrets serviceaccounts
        create of authentication.k8s.io: tokenreviews
        create of authorization.k8s.io: subjectaccessreviews
        list watch of *: *
        create of core: serviceaccounts/token
    """,
    "system:kube-scheduler": """
        create patch update of core events.k8s.io: events
        create of coordination.k8s.io: leases
        get list update watch of coordination.k8s.io: leases named kube-scheduler
        read write of coordination.k8s.io: leasecandidates
        read of core: nodes
        delete get list watch of core: pods
        create of core: bindings pods/binding
        patch update of core: pods/status
        read of core: replicationcontrollers services
        read of apps extensions: replicasets
        read of apps: statefulsets
        read of policy: poddisruptionbudgets
        read of core: persistentvolumeclaims persistentvolumes
        create of authentication.k8s.io: tokenreviews
        create of authorization.k8s.io: subjectaccessreviews
        read of storage.k8s.io: csinodes
        read of storage.k8s.io: volumeattachments
        read of core: namespaces
        read of storage.k8s.io: csidrivers
        read of storage.k8s.io: csistoragecapacities
        read of resource.k8s.io: deviceclasses
        get list patch update watch of resource.k8s.io: resourceclaims
        get list patch update watch of resource.k8s.io: resourceclaims/status
        update of core: pods/finalizers
        read of resource.k8s.io: resourceslices
        create delete of resource.k8s.io: resourceclaims
        patch update of resource.k8s.io: resourceclaims/binding
    """,
    "system:volume-scheduler": """
        get list patch update watch of core: persistentvolumes
        read of storage.k8s.io: storageclasses
        get list patch update watch of core: persistentvolumeclaims
    """,
    "system:node": """
        create of authentication.k8s.io: tokenreviews
        create of authorization.k8s.io: localsubjectaccessreviews subjectaccessreviews
        read of core: services
        create get list watch of core: nodes
        patch update of core: nodes/status
        patch update of core: nodes
        create patch update of core events.k8s.io: events
        read of core: pods
        create delete of core: pods
        patch update of core: pods/status
        create of core: pods/eviction
        read of core: configmaps secrets
        get of core: persistentvolumeclaims persistentvolumes
        get of core: endpoints
        create get list watch of certificates.k8s.io: certificatesigningrequests
        create delete get patch update of coordination.k8s.io: leases
        get of storage.k8s.io: volumeattachments
        create of core: serviceaccounts/token
        get patch update of core: persistentvolumeclaims/status
        read of storage.k8s.io: csidrivers
        create delete get patch update of storage.k8s.io: csinodes
        read of node.k8s.io: runtimeclasses
        get of resource.k8s.io: resourceclaims
        deletecollection of resource.k8s.io: resourceslices
        get of core: serviceaccounts
    """,
    "system:node-bootstrapper": """
        create get list watch of certificates.k8s.io: certificatesigningrequests
    """,
    "system:certificates.k8s.io:certificatesigningrequests:nodeclient": """
        create of certificates.k8s.io: certificatesigningrequests/nodeclient
    """,
    "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient": """
        create of certificates.k8s.io: certificatesigningrequests/selfnodeclient
    """,
    **{
        f"system:certificates.k8s.io:{signer}-approver": f"""
        approve of certificates.k8s.io: signers named kubernetes.io/{signer}
        """
        for signer in (
            "kube-apiserver-client",
            "kube-apiserver-client-kubelet",
            "kubelet-serving",
            "legacy-unknown",
        )
    },
    "system:persistent-volume-provisioner": """
        create delete get list watch of core: persistentvolumes
        get list update watch of core: persistentvolumeclaims
        read of storage.k8s.io: storageclasses
        watch of core: events
        create patch update of core events.k8s.io: events
    """,
}
_WITH_POD_GROUPS: Final = {
    "system:aggregate-to-edit": """
        write of scheduling.k8s.io: workloads podgroups
    """,
    "system:aggregate-to-view": """
        read of scheduling.k8s.io: workloads podgroups podgroups/status
    """,
    "system:kube-scheduler": """
        read of scheduling.k8s.io: podgroups
        patch update of scheduling.k8s.io: podgroups/status
    """,
}
"""Rules that roles have besides where pods are scheduled in groups."""
_AGGREGATED: Final = ("admin", "edit", "view")
"""Each gathers the rules of its own part, and those of the role after it."""
_AGGREGATE_TO: Final = "rbac.authorization.k8s.io/aggregate-to-"

_SYSTEM: Final = "kube-system"
_ROLES: Final = {
    "extension-apiserver-authentication-reader": """
        read of core: configmaps named extension-apiserver-authentication
    """,
    "system::leader-locking-kube-scheduler": """
        create get list update watch of coordination.k8s.io: leases
        create get list update watch of coordination.k8s.io: leasecandidates
    """,
}
_SCHEDULER: Final = "system:kube-scheduler"
_CONTROLLER_MANAGER: Final = "system:kube-controller-manager"
_CLUSTER_ROLE_BINDINGS: Final = {
    "cluster-admin": (("Group", MASTERS),),
    "system:monitoring": (("Group", "system:monitoring"),),
    "system:discovery": (("Group", AUTHENTICATED),),
    "system:basic-user": (("Group", AUTHENTICATED),),
    "system:public-info-viewer": (("Group", AUTHENTICATED), ("Group", UNAUTHENTICATED)),
    "system:kube-controller-manager": (("User", _CONTROLLER_MANAGER),),
    "system:kube-scheduler": (("User", _SCHEDULER),),
    "system:volume-scheduler": (("User", _SCHEDULER),),
    "system:node": (),
}
_ROLE_BINDINGS: Final = {
    "system::extension-apiserver-authentication-reader": (
        "extension-apiserver-authentication-reader",
        (("User", _CONTROLLER_MANAGER), ("User", _SCHEDULER)),
    ),
    "system::leader-locking-kube-scheduler": (
        "system::leader-locking-kube-scheduler",
        (("User", _SCHEDULER), ("ServiceAccount", "kube-scheduler")),
    ),
}


def default_objects(gates: FeatureGates) -> Iterator[tuple[str, JsonObject]]:
    """Each object with the plural name of its resource."""
    for name, always in _CLUSTER_ROLES.items():
        more = _WITH_POD_GROUPS.get(name, "") if gates["GenericWorkload"] else ""
        written = always + more
        labels = {}
        if name.startswith("system:aggregate-to-"):
            labels = {f"{_AGGREGATE_TO}{name.removeprefix('system:aggregate-to-')}": "true"}
        yield "clusterroles", {**_build_metadata(name, labels), "rules": _rules(written)}
    for name in reversed(_AGGREGATED):  # what is gathered comes first
        yield "clusterroles", _aggregated_role(name)
    for name, subjects in _CLUSTER_ROLE_BINDINGS.items():
        yield "clusterrolebindings", _build_binding(name, "", "ClusterRole", name, subjects)
    for name, written in _ROLES.items():
        yield "roles", {**_build_metadata(name, {}, _SYSTEM), "rules": _rules(written)}
    for name, (role, subjects) in _ROLE_BINDINGS.items():
        yield "rolebindings", _build_binding(name, _SYSTEM, "Role", role, subjects)


def _aggregated_role(name: str) -> JsonObject:
    above = _AGGREGATED.index(name) - 1
    labels = {f"{_AGGREGATE_TO}{_AGGREGATED[above]}": "true"} if above >= 0 else {}
    selector = {"matchLabels": {f"{_AGGREGATE_TO}{name}": "true"}}
    return {
        **_build_metadata(name, labels),
        "aggregationRule": {"clusterRoleSelectors": [selector]},
    }


def _build_metadata(name: str, labels: dict[str, str], namespace: str = "") -> JsonObject:
    metadata: JsonObject = {
        "name": name,
        "labels": {"kubernetes.io/bootstrapping": "rbac-defaults", **labels},
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
    }
    if namespace:
        metadata["namespace"] = namespace
    return {"metadata": metadata}


def _rules(written: str) -> list[JsonObject]:
    lines = re.sub(r"\n {12}", " ", written).split("\n")
    return [_rule(line.strip()) for line in lines if line.strip()]


def _rule(line: str) -> JsonObject:
    found = _RULE.fullmatch(line)
    assert found is not None, line
    verbs = [verb for word in found["verbs"].split() for verb in _VERBS.get(word, (word,))]
    rule: JsonObject = {"verbs": sorted(verbs)}
    if found["paths"]:
        return {**rule, "nonResourceURLs": found["paths"].split()}
    rule["apiGroups"] = ["" if group == "core" else group for group in found["groups"].split()]
    rule["resources"] = found["resources"].split()
    if found["names"]:
        rule["resourceNames"] = found["names"].split()
    return rule


def _build_binding(
    name: str, namespace: str, kind: str, role: str, subjects: tuple[tuple[str, str], ...]
) -> JsonObject:
    return {
        **_build_metadata(name, {}, namespace),
        "subjects": [_subject(*subject, namespace) for subject in subjects],
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": role},
    }


def _subject(kind: str, name: str, namespace: str) -> JsonObject:
    if kind == "ServiceAccount":
        return {"kind": kind, "name": name, "namespace": namespace}
    return {"kind": kind, "apiGroup": GROUP, "name": name}
