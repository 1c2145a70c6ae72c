"""What may change of a stored object, and what may not."""

from typing import Any

import pytest
from support.apiserver.smallest_objects import refusal_of

RBAC, STORAGE, DEVICES = "rbac.authorization.k8s.io", "storage.k8s.io", "resource.k8s.io"


@pytest.mark.parametrize(
    ("change", "fields", "told"),
    [
        pytest.param(
            ("Node", "", {"spec": {"podCIDR": "10.1.0.0/24"}}),
            {"spec": {"podCIDR": "10.0.0.0/24"}},
            (
                'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" '
                "to valid"
            ),
            id="a node's range",
        ),
        pytest.param(
            ("Node", "", {"spec": {"providerID": "b"}}),
            {"spec": {"providerID": "a"}},
            (
                "spec.providerID: Forbidden: node updates may not change providerID except "
                'from "" to valid'
            ),
            id="a node's provider",
        ),
        pytest.param(
            (
                "Deployment",
                "apps",
                {
                    "spec": {
                        "selector": {"matchLabels": {"x": "y"}},
                        "template": {"metadata": {"labels": {"x": "y"}}},
                    }
                },
            ),
            {},
            (
                'spec.selector: Invalid value: {"matchLabels":{"app":"a","x":"y"}}: field is '
                "immutable"
            ),
            id="a selector",
        ),
        pytest.param(
            ("StatefulSet", "apps", {"spec": {"serviceName": "other"}}),
            {},
            (
                "spec: Forbidden: updates to statefulset spec for fields other than "
                "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
                "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
            ),
            id="a stateful set's service",
        ),
        pytest.param(
            ("Job", "batch", {"spec": {"completions": 7}}),
            {},
            "spec.completions: Invalid value: 7: field is immutable",
            id="a job's completions",
        ),
        pytest.param(
            ("PersistentVolumeClaim", "", {"spec": {"accessModes": ["ReadWriteMany"]}}),
            {},
            (
                "spec: Forbidden: spec is immutable after creation except resources.requests "
                "and volumeAttributesClassName for bound claims\n"
                "@@ -1,6 +1,6 @@\n"
                " {\n"
                '  "AccessModes": [\n'
                '-  "ReadWriteOnce"\n'
                '+  "ReadWriteMany"\n'
                "  ],\n"
                '  "Selector": null,\n'
                '  "Resources": {\n'
            ),
            id="a claim's modes",
        ),
        pytest.param(
            ("PersistentVolume", "", {"spec": {"hostPath": {"path": "/other"}}}),
            {},
            (
                "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is "
                "immutable after creation\n"
                "@@ -2,7 +2,7 @@\n"
                '  "GCEPersistentDisk": null,\n'
                '  "AWSElasticBlockStore": null,\n'
                '  "HostPath": {\n'
                '-  "Path": "/data",\n'
                '+  "Path": "/other",\n'
                '   "Type": ""\n'
                "  },\n"
                '  "Glusterfs": null,\n'
            ),
            id="a volume's source",
        ),
        pytest.param(
            ("StorageClass", STORAGE, {"parameters": {"b": "c", "a": "d"}, "provisioner": "x"}),
            {},
            (
                '[parameters: Invalid value: {"a":"d","b":"c"}: field is immutable, '
                'provisioner: Invalid value: "x": field is immutable]'
            ),
            id="a class's parameters",
        ),
        pytest.param(
            (
                "ResourceClaim",
                DEVICES,
                {
                    "spec": {
                        "devices": {
                            "requests": [{"name": "q", "exactly": {"deviceClassName": "gpu"}}]
                        }
                    }
                },
            ),
            {},
            (
                "spec: Invalid value: "
                '{"Devices":{"Requests":[{"Name":"q","Exactly":{"DeviceClassName":"gpu","Selecto'
                'rs":null,"AllocationMode":"ExactCount","Count":1,"AdminAccess":null,"Toleration'
                's":null,"Capacity":null},"FirstAvailable":null}],"Constraints":null,"Config":nu'
                "ll}}: field is immutable"
            ),
            id="a claim on devices",
        ),
        pytest.param(
            ("ResourceSlice", DEVICES, {"spec": {"nodeName": "n2", "driver": "other"}}),
            {},
            (
                '[spec.driver: Invalid value: "other": field is immutable, spec.nodeName: '
                'Invalid value: "n2": field is immutable]'
            ),
            id="a slice's place",
        ),
        pytest.param(
            ("PriorityClass", "scheduling.k8s.io", {"value": 6, "preemptionPolicy": "Never"}),
            {},
            (
                "[value: Forbidden: may not be changed in an update., preemptionPolicy: "
                'Invalid value: "Never": field is immutable]'
            ),
            id="a priority",
        ),
        pytest.param(
            ("PodDisruptionBudget", "policy", {"spec": {"selector": {"matchLabels": {"z": "z"}}}}),
            {},
            "",
            id="a budget's selector",
        ),
        pytest.param(
            ("ConfigMap", "", {"data": {"a": "c"}}),
            {"data": {"a": "b"}, "immutable": True},
            "data: Forbidden: field is immutable when `immutable` is set",
            id="immutable data",
        ),
        pytest.param(
            ("Secret", "", {"type": "other"}),
            {},
            'type: Invalid value: "other": field is immutable',
            id="a secret's type",
        ),
        pytest.param(
            ("Service", "", {"spec": {"clusterIP": "10.0.0.77", "clusterIPs": ["10.0.0.77"]}}),
            {},
            'spec.clusterIPs[0]: Invalid value: ["10.0.0.77"]: may not change once set',
            id="a service's address",
        ),
        pytest.param(
            ("VolumeAttachment", STORAGE, {"spec": {"nodeName": "n2"}}),
            {},
            (
                "spec: Invalid value: "
                '{"Attacher":"example.com","Source":{"PersistentVolumeName":"pv","InlineVolumeSp'
                'ec":null},"NodeName":"n2"}: field is immutable'
            ),
            id="an attachment",
        ),
        pytest.param(
            ("RoleBinding", RBAC, {"roleRef": {"name": "s"}}),
            {},
            (
                "roleRef: Invalid value: "
                '{"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":"s"}: '
                "cannot change roleRef"
            ),
            id="a binding's role",
        ),
    ],
)
def test_fields_that_say_what_an_object_is_do_not_change(
    change: tuple[Any, ...], fields: Any, told: str
) -> None:
    assert refusal_of(*change, **fields) == told


@pytest.mark.parametrize(
    ("change", "fields", "told"),
    [
        pytest.param(
            (
                "Pod",
                "",
                {
                    "status": {
                        "containerStatuses": [{"name": "nope"}],
                        "conditions": [{"type": "a", "status": "X"}],
                    }
                },
                "status",
            ),
            {},
            "",
            id="a pod of unknown containers",
        ),
        pytest.param(
            ("Pod", "", {"status": {"nominatedNodeName": "N_"}}, "status"),
            {},
            (
                'status.nominatedNodeName: Invalid value: "N_": a lowercase RFC 1123 subdomain '
                "must consist of lower case alphanumeric characters, '-' or '.', and must "
                "start and end with an alphanumeric character"
            ),
            id="a nominated node",
        ),
        pytest.param(
            (
                "Deployment",
                "apps",
                {"status": {"replicas": 1, "updatedReplicas": 2, "readyReplicas": -1}},
                "status",
            ),
            {},
            (
                "[status.readyReplicas: Invalid value: -1: must be greater than or equal to 0, "
                "status.updatedReplicas: Invalid value: 2: cannot be greater than "
                "status.replicas, status.availableReplicas: Invalid value: 0: cannot be "
                "greater than readyReplicas]"
            ),
            id="counts that do not add up",
        ),
        pytest.param(
            ("PodDisruptionBudget", "policy", {"status": {"disruptionsAllowed": -1}}, "status"),
            {},
            ("status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0"),
            id="a negative budget",
        ),
        pytest.param(
            ("Node", "", {"status": {"capacity": {"cpu": "-1"}}}, "status"),
            {},
            (
                '[status.capacity.cpu: Invalid value: "-1": must be greater than or equal to '
                '0, status.allocatable.cpu: Invalid value: "-1": must be greater than or equal '
                "to 0]"
            ),
            id="a negative capacity",
        ),
        pytest.param(
            ("Job", "batch", {"status": {"active": -1}}, "status"),
            {},
            "status.active: Invalid value: -1: must be greater than or equal to 0",
            id="a negative count",
        ),
    ],
)
def test_statuses_are_sane(change: tuple[Any, ...], fields: Any, told: str) -> None:
    assert refusal_of(*change, **fields) == told
