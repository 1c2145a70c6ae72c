"""The fields of all built-in kinds as data, by subject; facts of Kubernetes v1.36."""

from podium.apiserver.schema.fields import (
    access,
    admission_policies,
    autoscaling,
    cluster,
    containers,
    definitions,
    devices,
    meta,
    networking,
    persistent_volumes,
    pod_groups,
    pods,
    storage,
    volumes,
    workloads,
)

TEXTS: tuple[str, ...] = (
    meta.TEXT,
    pods.TEXT,
    containers.TEXT,
    volumes.TEXT,
    persistent_volumes.TEXT,
    cluster.TEXT,
    workloads.TEXT,
    autoscaling.TEXT,
    networking.TEXT,
    pod_groups.TEXT,
    devices.TEXT,
    storage.TEXT,
    access.TEXT,
    definitions.TEXT,
    admission_policies.TEXT,
)
