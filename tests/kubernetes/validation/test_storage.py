"""Volumes, claims, classes and drivers."""

from typing import Any

import pytest
from support.apiserver.smallest_objects import problems_of

STORAGE = "storage.k8s.io"


@pytest.mark.parametrize(
    ("kind", "fields", "problems"),
    [
        pytest.param(
            ("PersistentVolume",),
            {"spec": {"capacity": {}, "accessModes": [], "hostPath": None}},
            [
                "spec.accessModes: Required value",
                "spec.capacity: Required value",
                'spec.capacity: Unsupported value: null: supported values: "storage"',
                "spec: Required value: must specify a volume type",
            ],
            id="nothing",
        ),
        pytest.param(
            ("PersistentVolume",),
            {
                "spec": {
                    "accessModes": ["X"],
                    "persistentVolumeReclaimPolicy": "Y",
                    "volumeMode": "Z",
                }
            },
            [
                (
                    'spec.accessModes: Unsupported value: "X": supported values: "ReadOnlyMany", '
                    '"ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"'
                ),
                (
                    'spec.persistentVolumeReclaimPolicy: Unsupported value: "Y": supported values: '
                    '"Delete", "Recycle", "Retain"'
                ),
                (
                    'spec.volumeMode: Unsupported value: "Z": supported values: "Block", '
                    '"Filesystem"'
                ),
            ],
            id="unknown words",
        ),
        pytest.param(
            ("PersistentVolume",),
            {"spec": {"capacity": {"storage": "-1"}}},
            [
                "spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity",
                'spec.capacity[storage]: Invalid value: "-1": must be greater than zero',
            ],
            id="a negative size",
        ),
        pytest.param(
            ("PersistentVolume",),
            {"spec": {"nfs": {"server": "s", "path": "/p"}}},
            ["spec.nfs: Forbidden: may not specify more than 1 volume type"],
            id="two sources",
        ),
        pytest.param(
            ("PersistentVolume",),
            {"spec": {"hostPath": {"path": "/"}, "persistentVolumeReclaimPolicy": "Recycle"}},
            [
                (
                    "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a "
                    "hostPath mount of '/'"
                )
            ],
            id="recycling the root",
        ),
        pytest.param(
            ("PersistentVolume",),
            {"spec": {"hostPath": None, "csi": {"driver": "", "volumeHandle": ""}}},
            ["spec.csi.driver: Required value", "spec.csi.volumeHandle: Required value"],
            id="no driver",
        ),
        pytest.param(
            ("PersistentVolume",),
            {"spec": {"hostPath": None, "local": {"path": "/x"}}},
            ["spec.nodeAffinity: Required value: Local volume requires node affinity"],
            id="a local volume of no node",
        ),
        pytest.param(
            ("PersistentVolume",),
            {"spec": {"nodeAffinity": {}}},
            [
                (
                    "spec.nodeAffinity.required: Required value: must specify required node "
                    "constraints"
                )
            ],
            id="no affinity",
        ),
    ],
)
def test_volumes_have_one_source_a_size_and_modes(
    kind: tuple[str, ...], fields: Any, problems: list[str]
) -> None:
    assert problems_of(*kind, **fields) == problems


@pytest.mark.parametrize(
    ("kind", "fields", "problems"),
    [
        pytest.param(
            ("PersistentVolumeClaim",),
            {"spec": {"accessModes": [], "resources": {}}},
            [
                "spec.accessModes: Required value: at least 1 access mode is required",
                "spec.resources[storage]: Required value",
            ],
            id="nothing",
        ),
        pytest.param(
            ("PersistentVolumeClaim",),
            {"spec": {"accessModes": ["ReadWriteOncePod", "ReadWriteOnce"]}},
            [("spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes")],
            id="one pod and others",
        ),
        pytest.param(
            ("PersistentVolumeClaim",),
            {"spec": {"resources": {"requests": {"storage": "0"}}}},
            ['spec.resources[storage]: Invalid value: "0": must be greater than zero'],
            id="no size",
        ),
        pytest.param(
            ("PersistentVolumeClaim",),
            {"spec": {"storageClassName": "X_"}},
            [
                (
                    'spec.storageClassName: Invalid value: "X_": a lowercase RFC 1123 subdomain '
                    "must consist of lower case alphanumeric characters, '-' or '.', and must "
                    "start and end with an alphanumeric character"
                )
            ],
            id="a class",
        ),
        pytest.param(
            ("PersistentVolumeClaim",),
            {"spec": {"dataSourceRef": {"kind": "", "name": ""}}},
            [
                "spec.dataSource.name: Required value",
                "spec.dataSource.kind: Required value",
                (
                    "spec.dataSource: Invalid value: \"\": must be 'PersistentVolumeClaim' when "
                    "referencing the default apiGroup"
                ),
                "spec.dataSourceRef.name: Required value",
                "spec.dataSourceRef.kind: Required value",
                (
                    "spec.dataSourceRef: Invalid value: \"\": must be 'PersistentVolumeClaim' when "
                    "referencing the default apiGroup"
                ),
            ],
            id="a source",
        ),
    ],
)
def test_claims_say_how_much_and_how(
    kind: tuple[str, ...], fields: Any, problems: list[str]
) -> None:
    assert problems_of(*kind, **fields) == problems


@pytest.mark.parametrize(
    ("kind", "fields", "problems"),
    [
        pytest.param(
            ("StorageClass", STORAGE),
            {"provisioner": "", "reclaimPolicy": "X", "volumeBindingMode": "Y"},
            [
                "provisioner: Required value",
                'reclaimPolicy: Unsupported value: "X": supported values: "Delete", "Retain"',
                (
                    'volumeBindingMode: Unsupported value: "Y": supported values: "Immediate", '
                    '"WaitForFirstConsumer"'
                ),
            ],
            id="a class",
        ),
        pytest.param(
            ("StorageClass", STORAGE),
            {"provisioner": "a b"},
            [
                (
                    'provisioner: Invalid value: "a b": name part must consist of alphanumeric '
                    "characters, '-', '_' or '.', and must start and end with an alphanumeric "
                    "character"
                )
            ],
            id="a provisioner",
        ),
        pytest.param(
            ("StorageClass", STORAGE),
            {
                "allowedTopologies": [
                    {
                        "matchLabelExpressions": [
                            {"key": "a", "values": []},
                            {"key": "a", "values": ["x", "x"]},
                        ]
                    }
                ]
            },
            [
                "allowedTopologies[0].matchLabelExpressions[0].values: Required value",
                'allowedTopologies[0].matchLabelExpressions[1].values[1]: Duplicate value: "x"',
                'allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "a"',
            ],
            id="topologies",
        ),
        pytest.param(
            ("CSINode", STORAGE),
            {
                "spec": {
                    "drivers": [
                        {"name": "", "nodeID": ""},
                        {"name": "a", "nodeID": "n", "topologyKeys": ["a b"]},
                    ]
                }
            },
            [
                "spec.drivers[0].name: Required value",
                "spec.drivers[0].nodeID: Required value",
                (
                    'spec.drivers[1]: Invalid value: "a b": name part must consist of alphanumeric '
                    "characters, '-', '_' or '.', and must start and end with an alphanumeric "
                    "character"
                ),
            ],
            id="drivers of a node",
        ),
        pytest.param(
            ("CSIDriver", STORAGE),
            {"spec": {"fsGroupPolicy": "X", "volumeLifecycleModes": ["Y"]}},
            [
                (
                    'spec.fsGroupPolicy: Unsupported value: "X": supported values: "File", "None", '
                    '"ReadWriteOnceWithFSType"'
                ),
                (
                    'spec.volumeLifecycleModes: Unsupported value: "Y": supported values: '
                    '"Persistent", "Ephemeral"'
                ),
            ],
            id="a driver",
        ),
        pytest.param(
            ("CSIStorageCapacity", STORAGE),
            {"storageClassName": "X_", "capacity": "-1"},
            [
                (
                    'storageClassName: Invalid value: "X_": a lowercase RFC 1123 subdomain must '
                    "consist of lower case alphanumeric characters, '-' or '.', and must start and "
                    "end with an alphanumeric character"
                ),
                'capacity: Invalid value: "-1": must be greater than or equal to 0',
            ],
            id="a capacity",
        ),
        pytest.param(
            ("VolumeAttachment", STORAGE),
            {"spec": {"source": {}}},
            [
                (
                    "spec.source: Required value: must specify exactly one of inlineVolumeSpec and "
                    "persistentVolumeName"
                )
            ],
            id="an attachment",
        ),
    ],
)
def test_classes_and_drivers_are_well_formed(
    kind: tuple[str, ...], fields: Any, problems: list[str]
) -> None:
    assert problems_of(*kind, **fields) == problems
