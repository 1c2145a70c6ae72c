"""The fields of all built-in kinds as data, by subject; facts of Kubernetes v1.36."""

from podium.apiserver.schema.fields import (
    access,
    cluster,
    containers,
    definitions,
    devices,
    meta,
    persistent_volumes,
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
    devices.TEXT,
    storage.TEXT,
    access.TEXT,
    definitions.TEXT,
)
