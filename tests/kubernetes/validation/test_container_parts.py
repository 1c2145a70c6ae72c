"""Variables, mounts, probes and privileges of containers."""

from typing import Any

import pytest
from support.apiserver.smallest_objects import problems_of
from support.apiserver.written_objects import Object


def with_container(**fields: Any) -> Object:
    return {"containers": [{"name": "c", "image": "i", **fields}]}


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        pytest.param(
            with_container(
                env=[
                    {"name": "a=b"},
                    {"name": ""},
                    {
                        "name": "x",
                        "value": "v",
                        "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}},
                    },
                ]
            ),
            [
                (
                    'spec.containers[0].env[0].name: Invalid value: "a=b": a valid environment '
                    "variable name must consist only of printable ASCII characters other than '='"
                ),
                "spec.containers[0].env[1].name: Required value",
                (
                    'spec.containers[0].env[2].valueFrom: Invalid value: "": may not be specified '
                    "when `value` is not empty"
                ),
            ],
            id="names and values",
        ),
        pytest.param(
            with_container(
                env=[
                    {"name": "x", "valueFrom": {"fieldRef": {"fieldPath": "spec.foo"}}},
                    {"name": "y", "valueFrom": {}},
                ]
            ),
            [
                (
                    "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "
                    '"spec.foo": error converting fieldPath: field label not supported: spec.foo'
                ),
                (
                    'spec.containers[0].env[1].valueFrom: Invalid value: "": must specify one of: '
                    "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or "
                    "`fileKeyRef`"
                ),
            ],
            id="sources",
        ),
        pytest.param(
            with_container(volumeMounts=[{"name": "v", "mountPath": "/x"}]),
            ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
            id="an unknown volume",
        ),
        pytest.param(
            {
                **with_container(
                    volumeMounts=[
                        {"name": "v", "mountPath": "/x"},
                        {"name": "v", "mountPath": "/x"},
                    ]
                ),
                "volumes": [{"name": "v"}],
            },
            [('spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/x": must be unique')],
            id="a path twice",
        ),
        pytest.param(
            {
                **with_container(volumeMounts=[{"name": "v", "mountPath": "", "subPath": "../x"}]),
                "volumes": [{"name": "v"}],
            },
            [
                "spec.containers[0].volumeMounts[0].mountPath: Required value",
                (
                    'spec.containers[0].volumeMounts.subPath: Invalid value: "../x": must not '
                    "contain '..'"
                ),
            ],
            id="no path",
        ),
        pytest.param(
            with_container(livenessProbe={"periodSeconds": -1}),
            [
                "spec.containers[0].livenessProbe: Required value: must specify a handler type",
                (
                    "spec.containers[0].livenessProbe.periodSeconds: Invalid value: -1: must be "
                    "greater than or equal to 0"
                ),
            ],
            id="no handler",
        ),
        pytest.param(
            with_container(livenessProbe={"tcpSocket": {"port": 0}, "successThreshold": 2}),
            [
                (
                    "spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: 0: must be "
                    "between 1 and 65535, inclusive"
                ),
                "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
            ],
            id="a liveness probe",
        ),
        pytest.param(
            with_container(readinessProbe={"httpGet": {"port": "A_"}, "exec": {"command": ["x"]}}),
            [
                (
                    "spec.containers[0].readinessProbe.httpGet: Forbidden: may not specify more "
                    "than 1 handler type"
                )
            ],
            id="two handlers",
        ),
        pytest.param(
            {
                "securityContext": {"runAsUser": -1, "supplementalGroups": [-1]},
                **with_container(
                    securityContext={
                        "runAsUser": -1,
                        "privileged": True,
                        "allowPrivilegeEscalation": False,
                        "procMount": "X",
                    }
                ),
            },
            [
                (
                    "spec.containers[0].securityContext.runAsUser: Invalid value: -1: must be "
                    "between 0 and 2147483647, inclusive"
                ),
                (
                    'spec.containers[0].securityContext.procMount: Unsupported value: "X": '
                    'supported values: "Default", "Unmasked"'
                ),
                (
                    "spec.containers[0].securityContext: Invalid value: "
                    '{"Capabilities":null,"Privileged":true,"SELinuxOptions":null,"WindowsOptions":n'
                    'ull,"RunAsUser":-1,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesyste'
                    'm":null,"AllowPrivilegeEscalation":false,"ProcMount":"X","SeccompProfile":null,'
                    '"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and '
                    "`privileged` to true"
                ),
                (
                    "spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and "
                    "2147483647, inclusive"
                ),
                (
                    "spec.securityContext.supplementalGroups[0]: Invalid value: -1: must be "
                    "between 0 and 2147483647, inclusive"
                ),
            ],
            id="users and privileges",
        ),
    ],
)
def test_variables_mounts_and_probes_make_sense(spec: Object, problems: list[str]) -> None:
    assert problems_of("Pod", spec=spec) == problems
