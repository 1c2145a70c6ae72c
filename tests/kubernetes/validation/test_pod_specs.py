"""Fields of a pod beside its containers and where it runs."""

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
            {"restartPolicy": "Maybe"},
            [
                (
                    'spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", '
                    '"OnFailure", "Never"'
                )
            ],
            id="a restart policy",
        ),
        pytest.param(
            {"dnsPolicy": "X"},
            [
                (
                    'spec.dnsPolicy: Unsupported value: "X": supported values: '
                    '"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"'
                )
            ],
            id="a DNS policy",
        ),
        pytest.param(
            {"dnsPolicy": "None"},
            [("spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None")],
            id="no DNS at all",
        ),
        pytest.param(
            {"activeDeadlineSeconds": 0},
            [
                (
                    "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and "
                    "2147483647, inclusive"
                )
            ],
            id="a deadline",
        ),
        pytest.param(
            {"hostname": "A.b", "subdomain": "x.y"},
            [
                (
                    'spec.hostname: Invalid value: "A.b": a lowercase RFC 1123 label must consist '
                    "of lower case alphanumeric characters or '-', and must start and end with an "
                    "alphanumeric character"
                ),
                'spec.subdomain: Invalid value: "x.y": must not contain dots',
            ],
            id="host names",
        ),
        pytest.param(
            {"priorityClassName": "X_"},
            [
                (
                    'spec.priorityClassName: Invalid value: "X_": a lowercase RFC 1123 subdomain '
                    "must consist of lower case alphanumeric characters, '-' or '.', and must "
                    "start and end with an alphanumeric character"
                )
            ],
            id="a priority class",
        ),
        pytest.param(
            {"os": {"name": "beos"}},
            ['spec.os: Unsupported value: "beos": supported values: "linux", "windows"'],
            id="an operating system",
        ),
        pytest.param(
            {"hostAliases": [{"ip": "x", "hostnames": ["A_"]}]},
            [
                'spec.hostAliases[0].ip: Invalid value: "x": must be a valid IP address,',
                (
                    'spec.hostAliases[0].hostnames[0]: Invalid value: "A_": a lowercase RFC 1123 '
                    "subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
                    "must start and end with an alphanumeric character"
                ),
            ],
            id="aliases of hosts",
        ),
        pytest.param(
            {"readinessGates": [{"conditionType": "a b"}]},
            [
                (
                    'spec.readinessGates[0].conditionType: Invalid value: "a b": name part must '
                    "consist of alphanumeric characters, '-', '_' or '.', and must start and end "
                    "with an alphanumeric character"
                )
            ],
            id="readiness gates",
        ),
        pytest.param(
            {"overhead": {"cpu": "-1"}},
            [
                (
                    'spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal '
                    "to 0"
                )
            ],
            id="an overhead",
        ),
        pytest.param(
            {"ephemeralContainers": [{"name": "e", "image": "i"}]},
            ["spec.ephemeralContainers: Forbidden: cannot be set on create"],
            id="an ephemeral container",
        ),
    ],
)
def test_fields_have_values_that_are_known(spec: Object, problems: list[str]) -> None:
    assert problems_of("Pod", spec=spec) == problems


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        pytest.param(
            {
                "volumes": [
                    {"name": "v", "emptyDir": {}, "secret": {"secretName": "x"}},
                    {"name": "v"},
                    {"name": "W_"},
                    {"name": "x", "secret": {}},
                    {"name": "h", "hostPath": {"path": "../x"}},
                    {"name": "p", "persistentVolumeClaim": {}},
                ]
            },
            [
                "spec.volumes[0].secret: Forbidden: may not specify more than 1 volume type",
                (
                    'spec.volumes[2].name: Invalid value: "W_": a lowercase RFC 1123 label must '
                    "consist of lower case alphanumeric characters or '-', and must start and end "
                    "with an alphanumeric character"
                ),
                "spec.volumes[3].secret.secretName: Required value",
                "spec.volumes[4].hostPath.path: Invalid value: \"../x\": must not contain '..'",
                "spec.volumes[5].persistentVolumeClaim.claimName: Required value",
            ],
            id="volumes",
        ),
        pytest.param(
            {
                "resourceClaims": [
                    {"name": "a"},
                    {"name": "a", "resourceClaimName": "x", "resourceClaimTemplateName": "y"},
                    {"name": "B_", "resourceClaimName": "X_"},
                ]
            },
            [
                (
                    "spec.resourceClaims[0]: Invalid value: "
                    '{"Name":"a","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must '
                    "specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
                ),
                'spec.resourceClaims[1].name: Duplicate value: "a"',
                (
                    "spec.resourceClaims[1]: Invalid value: "
                    '{"Name":"a","ResourceClaimName":"x","ResourceClaimTemplateName":"y"}: at most '
                    "one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
                ),
                (
                    'spec.resourceClaims[2].name: Invalid value: "B_": a lowercase RFC 1123 label '
                    "must consist of lower case alphanumeric characters or '-', and must start and "
                    "end with an alphanumeric character"
                ),
                (
                    'spec.resourceClaims[2].resourceClaimName: Invalid value: "X_": a lowercase '
                    "RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
                    "'.', and must start and end with an alphanumeric character"
                ),
            ],
            id="claims on devices",
        ),
    ],
)
def test_volumes_and_claims_have_one_source_each(spec: Object, problems: list[str]) -> None:
    assert problems_of("Pod", spec=spec) == problems


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        pytest.param(
            {
                "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "500m", "memory": "1Gi"}},
                **with_container(resources={"requests": {"cpu": "2"}}),
            },
            [
                (
                    'spec.resources.requests: Invalid value: "1": must be less than or equal to '
                    "cpu limit of 500m"
                ),
                (
                    'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or '
                    "equal to aggregate container requests of 2"
                ),
            ],
            id="less than its containers",
        ),
        pytest.param(
            {"resources": {"requests": {"example.com/x": "1"}}},
            [
                (
                    'spec.resources.requests[example.com/x]: Unsupported value: "example.com/x": '
                    'supported values: "cpu", "hugepages-", "memory"'
                ),
                (
                    "spec.resources.limits: Required value: Limit must be set for non "
                    "overcommitable resources"
                ),
            ],
            id="an extended resource",
        ),
    ],
)
def test_resources_of_the_pod_cover_those_of_its_containers(
    spec: Object, problems: list[str]
) -> None:
    assert problems_of("Pod", spec=spec) == problems
