"""Services: ports, addresses and how traffic comes to them."""

from typing import Any

import pytest
from support.apiserver.smallest_objects import problems_of


@pytest.mark.parametrize(
    ("kind", "fields", "problems"),
    [
        pytest.param(
            ("Service",), {"spec": {"ports": []}}, ["spec.ports: Required value"], id="none"
        ),
        pytest.param(
            ("Service",),
            {
                "spec": {
                    "ports": [
                        {"port": 0},
                        {"port": 70000, "protocol": "X", "name": "A"},
                        {"port": 80, "name": "a", "targetPort": "--"},
                    ]
                }
            },
            [
                "spec.ports[0].name: Required value",
                "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
                (
                    "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, "
                    "inclusive"
                ),
                (
                    'spec.ports[1].name: Invalid value: "A": a lowercase RFC 1123 label must '
                    "consist of lower case alphanumeric characters or '-', and must start and end "
                    "with an alphanumeric character"
                ),
                (
                    "spec.ports[1].port: Invalid value: 70000: must be between 1 and 65535, "
                    "inclusive"
                ),
                (
                    'spec.ports[1].protocol: Unsupported value: "X": supported values: "SCTP", '
                    '"TCP", "UDP"'
                ),
                (
                    "spec.ports[1].targetPort: Invalid value: 70000: must be between 1 and 65535, "
                    "inclusive"
                ),
                (
                    'spec.ports[2].targetPort: Invalid value: "--": must contain at least one '
                    "letter (a-z)"
                ),
                (
                    'spec.ports[2].targetPort: Invalid value: "--": must not contain consecutive '
                    "hyphens"
                ),
                (
                    'spec.ports[2].targetPort: Invalid value: "--": must not begin or end with a '
                    "hyphen"
                ),
            ],
            id="numbers and names",
        ),
        pytest.param(
            ("Service",),
            {"spec": {"ports": [{"port": 80, "name": "a"}, {"port": 80, "name": "a"}]}},
            [
                'spec.ports[1].name: Duplicate value: "a"',
                (
                    "spec.ports[1]: Duplicate value: "
                    '{"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePo'
                    'rt":0}'
                ),
            ],
            id="a port twice",
        ),
        pytest.param(
            ("Service",),
            {"spec": {"ports": [{"port": 80, "nodePort": 30000}]}},
            ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
            id="a node port of an inner service",
        ),
    ],
)
def test_ports_of_services_are_distinct_numbers(
    kind: tuple[str, ...], fields: Any, problems: list[str]
) -> None:
    assert problems_of(*kind, **fields) == problems


@pytest.mark.parametrize(
    ("kind", "fields", "problems"),
    [
        pytest.param(
            ("Service",),
            {"spec": {"type": "X"}},
            [
                (
                    'spec.type: Unsupported value: "X": supported values: "ClusterIP", '
                    '"ExternalName", "LoadBalancer", "NodePort"'
                )
            ],
            id="a type",
        ),
        pytest.param(
            ("Service",),
            {"spec": {"type": "ExternalName"}},
            ["spec.externalName: Required value"],
            id="no external name",
        ),
        pytest.param(
            ("Service",),
            {"spec": {"sessionAffinity": "X"}},
            [
                (
                    'spec.sessionAffinity: Unsupported value: "X": supported values: "ClientIP", '
                    '"None"'
                )
            ],
            id="an affinity",
        ),
        pytest.param(
            ("Service",),
            {
                "spec": {
                    "sessionAffinity": "ClientIP",
                    "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}},
                }
            },
            [
                (
                    "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be "
                    "greater than 0 and less than 86400"
                )
            ],
            id="an affinity of no time",
        ),
        pytest.param(
            ("Service",),
            {"spec": {"clusterIP": "x"}},
            ['spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address,'],
            id="an address",
        ),
        pytest.param(
            ("Service",),
            {"spec": {"type": "NodePort", "clusterIP": "None"}},
            [
                (
                    "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for "
                    "NodePort services"
                )
            ],
            id="a headless service on node ports",
        ),
        pytest.param(
            ("Service",),
            {"spec": {"selector": {"a b": "c"}}},
            [
                (
                    'spec.selector: Invalid value: "a b": name part must consist of alphanumeric '
                    "characters, '-', '_' or '.', and must start and end with an alphanumeric "
                    "character"
                )
            ],
            id="a selector",
        ),
        pytest.param(
            ("Service",),
            {"spec": {"externalIPs": ["x", "127.0.0.1"]}},
            [
                'spec.externalIPs[0]: Invalid value: "x": must be a valid IP address,',
                (
                    'spec.externalIPs[1]: Invalid value: "127.0.0.1": may not be in the loopback '
                    "range (127.0.0.0/8, ::1/128)"
                ),
            ],
            id="outer addresses",
        ),
        pytest.param(
            ("Service",),
            {
                "spec": {
                    "internalTrafficPolicy": "X",
                    "type": "NodePort",
                    "externalTrafficPolicy": "Y",
                }
            },
            [
                (
                    'spec.externalTrafficPolicy: Unsupported value: "Y": supported values: '
                    '"Cluster", "Local"'
                ),
                (
                    'spec.internalTrafficPolicy: Unsupported value: "X": supported values: '
                    '"Cluster", "Local"'
                ),
            ],
            id="policies for traffic",
        ),
        pytest.param(
            ("Service",), {"metadata": {"name": "1a"}}, [], id="a name that starts with a digit"
        ),
    ],
)
def test_services_are_reachable_in_known_ways(
    kind: tuple[str, ...], fields: Any, problems: list[str]
) -> None:
    assert problems_of(*kind, **fields) == problems
