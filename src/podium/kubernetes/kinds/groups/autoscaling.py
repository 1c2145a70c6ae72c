"""The kinds of the group `autoscaling`."""

from typing import Final

from podium.kubernetes.conversion.autoscalers import as_v1_autoscaler, as_v2_autoscaler
from podium.kubernetes.defaulting import workloads as defaults
from podium.kubernetes.kinds.record import Kind, OlderVersion, Validation, WriteStrategy
from podium.kubernetes.tables import autoscaling as tables
from podium.kubernetes.validation import autoscaling

KINDS: Final = (
    Kind(
        "autoscaling",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        ("hpa",),
        description="Changes the number of pods of a workload as metrics demand.",
        version="v2",
        older_version=OlderVersion(
            version="v1",
            show=as_v1_autoscaler,
            upgrade=as_v2_autoscaler,
            defaults=defaults.set_v1_autoscaler_defaults,
            printer=tables.OLD_AUTOSCALER,
        ),
        categories=("all",),
        has_status=True,
        defaults=defaults.set_autoscaler_defaults,
        validation=Validation(
            autoscaling.create_errors, autoscaling.update_errors, autoscaling.status_errors
        ),
        strategy=WriteStrategy(empty_status={"desiredReplicas": 0, "currentMetrics": None}),
        printer=tables.AUTOSCALER,
    ),
)
