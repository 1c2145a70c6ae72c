"""The kinds of the core group."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.deferred import defer
from podium.kubernetes.kinds.record import (
    ALL_VERBS,
    ANY_KEY,
    EVENT_FIELDS,
    SCALE,
    STATUS_VERBS,
    Kind,
    Subresource,
    Validation,
    Warnings,
    WriteStrategy,
    gated_pod_fields,
    gated_spec_fields,
    read_text,
    read_texts,
)
from podium.kubernetes.warnings.workloads import about_created_pod, about_workload

if TYPE_CHECKING:
    from podium.kubernetes.defaulting import core as core_defaults
    from podium.kubernetes.defaulting import pods as pod_defaults
    from podium.kubernetes.defaulting import storage as storage_defaults
    from podium.kubernetes.defaulting import workloads as workload_defaults
    from podium.kubernetes.strategy import pods as pod_strategy
    from podium.kubernetes.strategy import services as service_strategy
    from podium.kubernetes.strategy import storage as storage_strategy
    from podium.kubernetes.tables import cluster as cluster_tables
    from podium.kubernetes.tables import pods as pod_tables
    from podium.kubernetes.tables import storage as storage_tables
    from podium.kubernetes.tables import workloads as workload_tables
    from podium.kubernetes.validation import (
        configuration,
        endpoints,
        events,
        nodes,
        pod_statuses,
        pod_subresources,
        pods,
        quotas,
        services,
        storage,
        workloads,
    )
    from podium.kubernetes.warnings import networking as network_warnings
    from podium.kubernetes.warnings import storage as storage_warnings
else:
    core_defaults = defer("podium.kubernetes.defaulting.core")
    pod_defaults = defer("podium.kubernetes.defaulting.pods")
    storage_defaults = defer("podium.kubernetes.defaulting.storage")
    workload_defaults = defer("podium.kubernetes.defaulting.workloads")
    pod_strategy = defer("podium.kubernetes.strategy.pods")
    service_strategy = defer("podium.kubernetes.strategy.services")
    storage_strategy = defer("podium.kubernetes.strategy.storage")
    cluster_tables = defer("podium.kubernetes.tables.cluster")
    pod_tables = defer("podium.kubernetes.tables.pods")
    storage_tables = defer("podium.kubernetes.tables.storage")
    workload_tables = defer("podium.kubernetes.tables.workloads")
    configuration = defer("podium.kubernetes.validation.configuration")
    endpoints = defer("podium.kubernetes.validation.endpoints")
    events = defer("podium.kubernetes.validation.events")
    nodes = defer("podium.kubernetes.validation.nodes")
    pod_statuses = defer("podium.kubernetes.validation.pod_statuses")
    pod_subresources = defer("podium.kubernetes.validation.pod_subresources")
    pods = defer("podium.kubernetes.validation.pods")
    quotas = defer("podium.kubernetes.validation.quotas")
    services = defer("podium.kubernetes.validation.services")
    storage = defer("podium.kubernetes.validation.storage")
    workloads = defer("podium.kubernetes.validation.workloads")
    network_warnings = defer("podium.kubernetes.warnings.networking")
    storage_warnings = defer("podium.kubernetes.warnings.storage")

_CREATE: Final = ("create",)
_NOT_SUPPORTED: Final = "field label not supported: {field}"


def _about_node(node: JsonObject) -> Iterator[str]:
    if (node.get("spec") or {}).get("externalID"):
        yield "spec.externalID: this field is deprecated, and is unused by Kubernetes"


_POD: Final = Kind(
    "",
    "Pod",
    "pods",
    ("po",),
    description="Containers that run together on one node.",
    categories=("all",),
    has_status=True,
    subresources=(
        Subresource("attach", "PodAttachOptions", ("create", "get")),
        Subresource("binding", "Binding", _CREATE),
        Subresource(
            "ephemeralcontainers",
            "Pod",
            STATUS_VERBS,
            prepare=pod_strategy.prepare_ephemeral_containers,
            validate=pod_subresources.ephemeral_containers_errors,
            owned=(("spec", "ephemeralContainers"),),
        ),
        Subresource("eviction", "Eviction", _CREATE, "policy", "v1"),
        Subresource("exec", "PodExecOptions", ("create", "get")),
        Subresource("log", "Pod", ("get",)),
        Subresource("portforward", "PodPortForwardOptions", ("create", "get")),
        Subresource(
            "resize",
            "Pod",
            STATUS_VERBS,
            prepare=pod_strategy.prepare_resize,
            validate=pod_subresources.resize_errors,
            owned=tuple(
                ("spec", containers, ANY_KEY, field)
                for containers in ("containers", "initContainers")
                for field in ("resources", "resizePolicy")
            ),
        ),
    ),
    gated_fields=gated_pod_fields(),
    defaults=pod_defaults.set_pod_defaults,
    validation=Validation(
        pods.create_errors, pods.update_errors, pod_statuses.status_update_errors
    ),
    strategy=WriteStrategy(
        counted=("spec",),
        reset_by_status=(
            ("spec",),
            ("metadata", "deletionTimestamp"),
            ("metadata", "ownerReferences"),
        ),
        create=pod_strategy.prepare_create,
        status=pod_strategy.prepare_status_update,
    ),
    printer=pod_tables.POD,
    warnings=Warnings(create=about_created_pod),
    selectable_fields={
        **read_texts("spec.nodeName", "spec.restartPolicy", "spec.schedulerName"),
        **read_texts("spec.serviceAccountName"),
        "spec.hostNetwork": read_text("spec.hostNetwork", "false"),
        **read_texts("status.phase", "status.podIP", "status.nominatedNodeName"),
    },
    selector_refusal=_NOT_SUPPORTED,
)

_CONFIGURATION: Final = (
    Kind("", "Binding", "bindings", description="Puts a pod on a node.", verbs=_CREATE),
    Kind(
        "",
        "ConfigMap",
        "configmaps",
        ("cm",),
        description="Settings for pods.",
        validation=Validation(
            configuration.config_map_create_errors, configuration.config_map_update_errors
        ),
        printer=storage_tables.CONFIG_MAP,
    ),
    Kind(
        "",
        "Endpoints",
        "endpoints",
        ("ep",),
        defaults=core_defaults.set_endpoints_defaults,
        validation=Validation(endpoints.create_errors, endpoints.update_errors),
        printer=cluster_tables.ENDPOINTS,
        warnings=Warnings(
            use="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
        ),
    ),
    Kind(
        "",
        "Event",
        "events",
        ("ev",),
        description="Something that happened to an object.",
        validation=Validation(events.old_create_errors, events.old_update_errors),
        printer=cluster_tables.EVENT,
        selectable_fields=EVENT_FIELDS,
        selector_refusal=_NOT_SUPPORTED,
    ),
    Kind(
        "",
        "LimitRange",
        "limitranges",
        ("limits",),
        description="Limits and defaults for single objects of a namespace.",
        defaults=core_defaults.set_limit_range_defaults,
        validation=Validation(quotas.range_errors, quotas.range_update_errors),
    ),
)

_CLUSTER: Final = (
    Kind(
        "",
        "Namespace",
        "namespaces",
        ("ns",),
        description="A room for names.",
        namespaced=False,
        has_status=True,
        verbs=tuple(verb for verb in ALL_VERBS if verb != "deletecollection"),
        subresources=(
            Subresource(
                "finalize", "Namespace", ("update",), validate=nodes.namespace_finalize_errors
            ),
        ),
        defaults=core_defaults.set_namespace_defaults,
        validation=Validation(
            nodes.namespace_create_errors,
            nodes.namespace_update_errors,
            nodes.namespace_status_errors,
        ),
        strategy=WriteStrategy(
            create=pod_strategy.prepare_namespace,
            update=pod_strategy.prepare_namespace_update,
        ),
        printer=cluster_tables.NAMESPACE,
        selectable_fields=read_texts("status.phase"),
        selector_refusal=_NOT_SUPPORTED,
    ),
    Kind(
        "",
        "Node",
        "nodes",
        ("no",),
        description="A machine of the cluster.",
        namespaced=False,
        has_status=True,
        defaults=core_defaults.set_node_defaults,
        validation=Validation(nodes.create_errors, nodes.update_errors, nodes.status_errors),
        strategy=WriteStrategy(
            create=pod_strategy.prepare_node, update=pod_strategy.prepare_node_update
        ),
        printer=cluster_tables.NODE,
        warnings=Warnings(always=_about_node),
        selectable_fields={"spec.unschedulable": read_text("spec.unschedulable", "false")},
        selector_refusal=_NOT_SUPPORTED,
    ),
    Kind(
        "",
        "PersistentVolumeClaim",
        "persistentvolumeclaims",
        ("pvc",),
        description="A request for storage.",
        has_status=True,
        defaults=storage_defaults.set_claim_defaults,
        validation=Validation(
            storage.claim_create_errors, storage.claim_update_errors, storage.claim_status_errors
        ),
        strategy=WriteStrategy(
            create=storage_strategy.prepare_claim, update=storage_strategy.prepare_claim_update
        ),
        printer=storage_tables.CLAIM,
        warnings=Warnings(always=storage_warnings.about_claim),
    ),
    Kind(
        "",
        "PersistentVolume",
        "persistentvolumes",
        ("pv",),
        description="A piece of storage of the cluster.",
        namespaced=False,
        has_status=True,
        defaults=storage_defaults.set_volume_object_defaults,
        validation=Validation(
            storage.volume_create_errors, storage.volume_update_errors, storage.volume_status_errors
        ),
        strategy=WriteStrategy(
            create=storage_strategy.prepare_volume, status=storage_strategy.prepare_volume_status
        ),
        printer=storage_tables.VOLUME,
        warnings=Warnings(always=storage_warnings.about_volume),
    ),
)

_OTHERS: Final = (
    Kind(
        "",
        "PodTemplate",
        "podtemplates",
        gated_fields=tuple(gated_spec_fields("template", "spec")),
        defaults=workload_defaults.set_pod_template_defaults,
        validation=Validation(
            configuration.pod_template_create_errors, configuration.pod_template_update_errors
        ),
        strategy=WriteStrategy(counted=("template",)),
        printer=workload_tables.POD_TEMPLATE,
        warnings=about_workload(("template",)),
    ),
    Kind(
        "",
        "ReplicationController",
        "replicationcontrollers",
        ("rc",),
        description="Keeps a number of pods running; the elder of ReplicaSet.",
        categories=("all",),
        has_status=True,
        subresources=(SCALE,),
        gated_fields=tuple(gated_spec_fields("spec", "template", "spec")),
        defaults=workload_defaults.set_replication_controller_defaults,
        validation=Validation(
            workloads.controller_create_errors,
            workloads.controller_update_errors,
            workloads.replicas_status_errors,
        ),
        strategy=WriteStrategy(empty_status={"replicas": 0}, counted=("spec",)),
        printer=workload_tables.REPLICATION_CONTROLLER,
        warnings=about_workload(names_pods=True),
        selectable_fields={"status.replicas": read_text("status.replicas", "0")},
        selector_refusal=_NOT_SUPPORTED,
    ),
    Kind(
        "",
        "ResourceQuota",
        "resourcequotas",
        ("quota",),
        description="Limits on what a namespace may use in all.",
        has_status=True,
        defaults=core_defaults.set_resource_quota_defaults,
        validation=Validation(
            quotas.quota_create_errors, quotas.quota_update_errors, quotas.quota_status_errors
        ),
        strategy=WriteStrategy(empty_status={}),
        printer=storage_tables.QUOTA,
    ),
    Kind(
        "",
        "Secret",
        "secrets",
        description="Settings that should not be seen by everyone.",
        defaults=core_defaults.set_secret_defaults,
        validation=Validation(
            configuration.secret_create_errors, configuration.secret_update_errors
        ),
        printer=storage_tables.SECRET,
        selectable_fields=read_texts("type"),
        selector_refusal=_NOT_SUPPORTED,
    ),
    Kind(
        "",
        "ServiceAccount",
        "serviceaccounts",
        ("sa",),
        description="A name under which pods talk to the server.",
        subresources=(
            Subresource("token", "TokenRequest", _CREATE, "authentication.k8s.io", "v1"),
        ),
        printer=cluster_tables.NAME_AND_AGE,
    ),
    Kind(
        "",
        "Service",
        "services",
        ("svc",),
        description="A name and address for a set of pods.",
        categories=("all",),
        has_status=True,
        defaults=core_defaults.set_service_defaults,
        validation=Validation(
            services.create_errors, services.update_errors, services.status_errors
        ),
        strategy=WriteStrategy(
            empty_status={"loadBalancer": {}},
            create=service_strategy.prepare_create,
            update=service_strategy.prepare_update,
        ),
        printer=cluster_tables.SERVICE,
        warnings=Warnings(always=network_warnings.about_service),
        selectable_fields=read_texts("spec.clusterIP", "spec.type"),
        selector_refusal=_NOT_SUPPORTED,
    ),
)

KINDS: Final = (*_CONFIGURATION, *_CLUSTER, _POD, *_OTHERS)
