"""The kinds of the group `apps`."""

from typing import Final

from podium.kubernetes.defaulting import workloads as defaults
from podium.kubernetes.kinds.record import (
    SCALE,
    Kind,
    Validation,
    Warnings,
    WriteStrategy,
    gated_spec_fields,
    read_text,
)
from podium.kubernetes.strategy import workloads as strategy
from podium.kubernetes.tables import workloads as tables
from podium.kubernetes.validation import configuration, workloads
from podium.kubernetes.warnings.workloads import (
    about_changed_stateful_set,
    about_created_stateful_set,
    about_workload,
    template_generation,
)

_GROUP: Final = "apps"
_TEMPLATE_FIELDS: Final = tuple(gated_spec_fields("spec", "template", "spec"))

KINDS: Final = (
    Kind(
        _GROUP,
        "ControllerRevision",
        "controllerrevisions",
        validation=Validation(
            configuration.revision_create_errors, configuration.revision_update_errors
        ),
        printer=tables.CONTROLLER_REVISION,
    ),
    Kind(
        _GROUP,
        "DaemonSet",
        "daemonsets",
        ("ds",),
        description="Keeps one pod running on every node that suits it.",
        categories=("all",),
        has_status=True,
        gated_fields=_TEMPLATE_FIELDS,
        defaults=defaults.set_daemon_set_defaults,
        validation=Validation(
            workloads.daemon_set_create_errors, workloads.daemon_set_update_errors
        ),
        strategy=WriteStrategy(
            empty_status={
                "currentNumberScheduled": 0,
                "numberMisscheduled": 0,
                "desiredNumberScheduled": 0,
                "numberReady": 0,
            },
            counted=("spec",),
            create=strategy.prepare_daemon_set,
            update=strategy.prepare_daemon_set_update,
        ),
        printer=tables.DAEMON_SET,
        warnings=about_workload(version_of=template_generation),
    ),
    Kind(
        _GROUP,
        "Deployment",
        "deployments",
        ("deploy",),
        description="Keeps pods running and replaces them step by step when the template changes.",
        categories=("all",),
        has_status=True,
        subresources=(SCALE,),
        gated_fields=_TEMPLATE_FIELDS,
        defaults=defaults.set_deployment_defaults,
        validation=Validation(
            workloads.deployment_create_errors,
            workloads.deployment_update_errors,
            workloads.replicas_status_errors,
        ),
        strategy=WriteStrategy(
            empty_status={},
            counted=("spec", "annotations"),
            reset_by_status=(("spec",), ("metadata", "labels")),
            status=strategy.prepare_deployment_status,
        ),
        printer=tables.DEPLOYMENT,
        warnings=about_workload(names_pods=True),
    ),
    Kind(
        _GROUP,
        "ReplicaSet",
        "replicasets",
        ("rs",),
        description="Keeps a number of pods running.",
        categories=("all",),
        has_status=True,
        subresources=(SCALE,),
        gated_fields=_TEMPLATE_FIELDS,
        defaults=defaults.set_replica_set_defaults,
        validation=Validation(
            workloads.replica_set_create_errors,
            workloads.replica_set_update_errors,
            workloads.replicas_status_errors,
        ),
        strategy=WriteStrategy(empty_status={"replicas": 0}, counted=("spec",)),
        printer=tables.REPLICA_SET,
        warnings=about_workload(names_pods=True),
        selectable_fields={"status.replicas": read_text("status.replicas", "0")},
        selector_refusal="field label not supported for appsv1.ReplicaSet: {field}",
    ),
    Kind(
        _GROUP,
        "StatefulSet",
        "statefulsets",
        ("sts",),
        description="Keeps pods running that have names and storage of their own.",
        categories=("all",),
        has_status=True,
        subresources=(SCALE,),
        gated_fields=(
            *_TEMPLATE_FIELDS,
            (
                "MaxUnavailableStatefulSet",
                ("spec", "updateStrategy", "rollingUpdate", "maxUnavailable"),
            ),
        ),
        defaults=defaults.set_stateful_set_defaults,
        validation=Validation(
            workloads.stateful_set_create_errors,
            workloads.stateful_set_update_errors,
            workloads.replicas_status_errors,
        ),
        strategy=WriteStrategy(
            empty_status={"replicas": 0, "availableReplicas": 0}, counted=("spec",)
        ),
        printer=tables.STATEFUL_SET,
        warnings=Warnings(create=about_created_stateful_set, update=about_changed_stateful_set),
    ),
)
