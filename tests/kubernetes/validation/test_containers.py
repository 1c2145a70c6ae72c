"""Containers of a pod: what is refused, and in which words."""

from typing import Any

import pytest
from support.apiserver.smallest_objects import problems_of
from support.apiserver.written_objects import Object


def with_container(**fields: Any) -> Object:
    return {"containers": [{"name": "c", "image": "i", **fields}]}


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        pytest.param({"containers": []}, ["spec.containers: Required value"], id="none at all"),
        pytest.param(
            {"containers": [{"name": "c", "image": "i"}, {"name": "c", "image": "i"}]},
            ['spec.containers[1].name: Duplicate value: "c"'],
            id="a name twice",
        ),
        pytest.param(
            {"containers": [{"name": "C_", "image": "i"}]},
            [
                (
                    'spec.containers[0].name: Invalid value: "C_": a lowercase RFC 1123 label must '
                    "consist of lower case alphanumeric characters or '-', and must start and end "
                    "with an alphanumeric character"
                )
            ],
            id="a name that is no label",
        ),
        pytest.param(
            {"containers": [{"image": "i"}]},
            ["spec.containers[0].name: Required value"],
            id="no name",
        ),
        pytest.param(
            {"containers": [{"name": "c"}]},
            ["spec.containers[0].image: Required value"],
            id="no image",
        ),
        pytest.param(
            {"containers": [{"name": "c", "image": " i"}]},
            [
                (
                    'spec.containers[0].image: Invalid value: " i": must not have leading or '
                    "trailing whitespace"
                )
            ],
            id="an image with a space",
        ),
        pytest.param(
            with_container(imagePullPolicy="Often"),
            [
                (
                    'spec.containers[0].imagePullPolicy: Unsupported value: "Often": supported '
                    'values: "Always", "IfNotPresent", "Never"'
                )
            ],
            id="an unknown pull policy",
        ),
        pytest.param(
            {
                "initContainers": [
                    {
                        "name": "c",
                        "image": "i",
                        "readinessProbe": {"tcpSocket": {"port": 80}},
                        "restartPolicy": "Never",
                    }
                ]
            },
            [
                'spec.initContainers[0].name: Duplicate value: "c"',
                (
                    "spec.initContainers[0].readinessProbe: Forbidden: may not be set for init "
                    "containers without restartPolicy=Always"
                ),
            ],
            id="an init container with a probe",
        ),
    ],
)
def test_containers_need_names_of_their_own_and_an_image(spec: Object, problems: list[str]) -> None:
    assert problems_of("Pod", spec=spec) == problems


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        pytest.param(
            with_container(resources={"requests": {"cpu": "-1"}}),
            [
                (
                    'spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be '
                    "greater than or equal to 0"
                )
            ],
            id="negative",
        ),
        pytest.param(
            with_container(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
            [
                (
                    'spec.containers[0].resources.requests: Invalid value: "2": must be less than '
                    "or equal to cpu limit of 1"
                )
            ],
            id="more than the limit",
        ),
        pytest.param(
            with_container(resources={"requests": {"example.com/gpu": "1"}}),
            [
                (
                    "spec.containers[0].resources.limits: Required value: Limit must be set for "
                    "non overcommitable resources"
                )
            ],
            id="an extended resource without limit",
        ),
        pytest.param(
            with_container(
                resources={
                    "requests": {"example.com/gpu": "500m"},
                    "limits": {"example.com/gpu": "500m"},
                }
            ),
            [
                (
                    'spec.containers[0].resources.limits[example.com/gpu]: Invalid value: "500m": '
                    "must be an integer"
                ),
                (
                    "spec.containers[0].resources.requests[example.com/gpu]: Invalid value: "
                    '"500m": must be an integer'
                ),
            ],
            id="part of an extended resource",
        ),
        pytest.param(
            with_container(
                resources={"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "2"}}
            ),
            [
                (
                    'spec.containers[0].resources.requests: Invalid value: "1": must be equal to '
                    "example.com/gpu limit of 2"
                )
            ],
            id="an extended resource below its limit",
        ),
        pytest.param(
            with_container(resources={"requests": {"foo": "1"}}),
            [
                (
                    'spec.containers[0].resources.requests[foo]: Invalid value: "foo": must be a '
                    "standard resource type or fully qualified"
                ),
                (
                    'spec.containers[0].resources.requests[foo]: Invalid value: "foo": must be a '
                    "standard resource for containers"
                ),
            ],
            id="an unknown resource",
        ),
        pytest.param(
            with_container(resources={"requests": {"hugepages-2Mi": "1Mi"}}),
            [
                (
                    "spec.containers[0].resources.limits: Required value: Limit must be set for "
                    "non overcommitable resources"
                ),
                (
                    'spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: "1Mi": '
                    "1Mi is not positive integer multiple of hugepages-2Mi"
                ),
                "spec.containers[0].resources: Forbidden: HugePages require cpu or memory",
            ],
            id="huge pages alone",
        ),
        pytest.param(
            with_container(resources={"limits": {"hugepages-2Mi": "3Mi", "cpu": "1"}}),
            [
                (
                    'spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi '
                    "is not positive integer multiple of hugepages-2Mi"
                ),
                (
                    'spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: "3Mi": '
                    "3Mi is not positive integer multiple of hugepages-2Mi"
                ),
            ],
            id="huge pages of no whole number",
        ),
        pytest.param(
            with_container(resources={"claims": [{"name": "nope"}]}),
            [
                (
                    'spec.containers[0].resources.claims[0]: Not found: "nope": must be one of the '
                    "names in pod.spec.resourceClaims which is empty"
                )
            ],
            id="an unknown claim",
        ),
    ],
)
def test_amounts_of_resources_are_sane(spec: Object, problems: list[str]) -> None:
    assert problems_of("Pod", spec=spec) == problems


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        pytest.param(
            with_container(ports=[{"containerPort": 0}, {"containerPort": 70000, "protocol": "X"}]),
            [
                "spec.containers[0].ports[0].containerPort: Required value",
                (
                    "spec.containers[0].ports[1].containerPort: Invalid value: 70000: must be "
                    "between 1 and 65535, inclusive"
                ),
                (
                    'spec.containers[0].ports[1].protocol: Unsupported value: "X": supported '
                    'values: "SCTP", "TCP", "UDP"'
                ),
            ],
            id="out of range",
        ),
        pytest.param(
            with_container(
                ports=[{"containerPort": 80, "name": "a"}, {"containerPort": 81, "name": "a"}]
            ),
            ['spec.containers[0].ports[1].name: Duplicate value: "a"'],
            id="a name twice",
        ),
        pytest.param(
            {
                "containers": [
                    {"name": "a", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]},
                    {"name": "b", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]},
                ]
            },
            ['spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//80"'],
            id="a port of the host twice",
        ),
        pytest.param(
            with_container(ports=[{"containerPort": 80, "name": "A--"}]),
            [
                (
                    'spec.containers[0].ports[0].name: Invalid value: "A--": must contain only '
                    "alpha-numeric characters (a-z, 0-9), and hyphens (-)"
                ),
                (
                    'spec.containers[0].ports[0].name: Invalid value: "A--": must contain at least '
                    "one letter (a-z)"
                ),
                (
                    'spec.containers[0].ports[0].name: Invalid value: "A--": must not contain '
                    "consecutive hyphens"
                ),
                (
                    'spec.containers[0].ports[0].name: Invalid value: "A--": must not begin or end '
                    "with a hyphen"
                ),
            ],
            id="a bad name",
        ),
        pytest.param(
            {"hostNetwork": True, **with_container(ports=[{"containerPort": 80, "hostPort": 81}])},
            [
                (
                    "spec.containers[0].ports[0].hostPort: Invalid value: 81: must match "
                    "`containerPort` when `hostNetwork` is true"
                )
            ],
            id="another port on the host network",
        ),
    ],
)
def test_ports_are_numbers_and_not_taken_twice(spec: Object, problems: list[str]) -> None:
    assert problems_of("Pod", spec=spec) == problems
