"""Nodes, namespaces, priorities, budgets, leases, events and data."""

from typing import Any

import pytest
from support.apiserver.smallest_objects import problems_of

RBAC = "rbac.authorization.k8s.io"


@pytest.mark.parametrize(
    ("kind", "fields", "problems"),
    [
        pytest.param(
            ("Node",),
            {
                "spec": {
                    "taints": [
                        {"key": "a b", "effect": "X"},
                        {"key": "k", "effect": "NoSchedule"},
                        {"key": "k", "effect": "NoSchedule"},
                        {"key": "k", "value": "v v"},
                    ]
                }
            },
            [
                (
                    'metadata.taints[0].key: Invalid value: "a b": name part must consist of '
                    "alphanumeric characters, '-', '_' or '.', and must start and end with an "
                    "alphanumeric character"
                ),
                (
                    'metadata.taints[0].effect: Unsupported value: "X": supported values: '
                    '"NoSchedule", "PreferNoSchedule", "NoExecute"'
                ),
                (
                    "metadata.taints[2]: Duplicate value: "
                    '{"Key":"k","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be '
                    "unique by key and effect pair"
                ),
                (
                    'metadata.taints[3].value: Invalid value: "v v": a valid label must be an '
                    "empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
                    "start and end with an alphanumeric character"
                ),
                "metadata.taints[3].effect: Required value",
            ],
            id="taints",
        ),
        pytest.param(
            ("Node",),
            {"spec": {"podCIDR": "x"}},
            ['spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value,'],
            id="a range",
        ),
        pytest.param(
            ("Node",),
            {"spec": {"podCIDRs": ["10.0.0.0/24", "10.1.0.0/24"]}},
            [
                (
                    'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.1.0.0/24"]: may specify no '
                    "more than one CIDR for each IP family"
                )
            ],
            id="two ranges of a family",
        ),
        pytest.param(
            ("Node",),
            {"status": {"capacity": {"cpu": "-1", "example.com/g": "500m"}}},
            [
                'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
                'status.capacity.example.com/g: Invalid value: "500m": must be an integer',
                ('status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0'),
                'status.allocatable.example.com/g: Invalid value: "500m": must be an integer',
            ],
            id="capacity",
        ),
        pytest.param(
            ("Node",),
            {"metadata": {"name": "N_"}},
            [
                (
                    'metadata.name: Invalid value: "N_": a lowercase RFC 1123 subdomain must '
                    "consist of lower case alphanumeric characters, '-' or '.', and must start and "
                    "end with an alphanumeric character"
                )
            ],
            id="a node's name",
        ),
        pytest.param(
            ("Namespace",),
            {"metadata": {"name": "a.b"}},
            ['metadata.name: Invalid value: "a.b": must not contain dots'],
            id="a namespace's name",
        ),
    ],
)
def test_nodes_and_namespaces_are_well_formed(
    kind: tuple[str, ...], fields: Any, problems: list[str]
) -> None:
    assert problems_of(*kind, **fields) == problems


@pytest.mark.parametrize(
    ("kind", "fields", "problems"),
    [
        pytest.param(
            ("PriorityClass", "scheduling.k8s.io"),
            {"value": 2000000000},
            [("value: Forbidden: maximum allowed value of a user defined priority is 1000000000")],
            id="a priority for the system",
        ),
        pytest.param(
            ("PriorityClass", "scheduling.k8s.io"),
            {"metadata": {"name": "system-x"}},
            [
                (
                    "metadata.name: Forbidden: priority class names with 'system-' prefix are "
                    "reserved for system use only. error: system-x is not a known system priority "
                    "class"
                )
            ],
            id="a name for the system",
        ),
        pytest.param(
            ("PriorityClass", "scheduling.k8s.io"),
            {"preemptionPolicy": "X"},
            [
                (
                    'preemptionPolicy: Unsupported value: "X": supported values: '
                    '"PreemptLowerPriority", "Never"'
                )
            ],
            id="a preemption policy",
        ),
        pytest.param(
            ("PodDisruptionBudget", "policy"),
            {"spec": {"maxUnavailable": 1}},
            [
                (
                    "spec: Invalid value: "
                    '{"MinAvailable":1,"Selector":{"matchLabels":{"app":"a"}},"MaxUnavailable":1,"Un'
                    'healthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be '
                    "both set"
                )
            ],
            id="a budget with two limits",
        ),
        pytest.param(
            ("PodDisruptionBudget", "policy"),
            {"spec": {"minAvailable": "150%"}},
            ['spec.minAvailable: Invalid value: "150%": must not be greater than 100%'],
            id="more than everything",
        ),
        pytest.param(
            ("PodDisruptionBudget", "policy"),
            {"spec": {"minAvailable": -1}},
            ["spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"],
            id="less than nothing",
        ),
        pytest.param(
            ("PodDisruptionBudget", "policy"),
            {"spec": {"minAvailable": "5"}},
            [
                (
                    'spec.minAvailable: Invalid value: "5": a valid percent string must be a '
                    "numeric string followed by an ending '%'"
                )
            ],
            id="no percentage",
        ),
        pytest.param(
            ("PodDisruptionBudget", "policy"),
            {"spec": {"selector": {"matchLabels": {"a b": "c"}}}},
            [
                (
                    'spec.selector.matchLabels: Invalid value: "a b": name part must consist of '
                    "alphanumeric characters, '-', '_' or '.', and must start and end with an "
                    "alphanumeric character"
                )
            ],
            id="a selector",
        ),
        pytest.param(
            ("PodDisruptionBudget", "policy"),
            {"spec": {"unhealthyPodEvictionPolicy": "X"}},
            [
                (
                    'spec.unhealthyPodEvictionPolicy: Unsupported value: "X": supported values: '
                    '"AlwaysAllow", "IfHealthyBudget"'
                )
            ],
            id="an eviction policy",
        ),
        pytest.param(
            ("Lease", "coordination.k8s.io"),
            {"spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1}},
            [
                "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
                "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
            ],
            id="a lease",
        ),
    ],
)
def test_policies_are_well_formed(kind: tuple[str, ...], fields: Any, problems: list[str]) -> None:
    assert problems_of(*kind, **fields) == problems


@pytest.mark.parametrize(
    ("kind", "fields", "problems"),
    [
        pytest.param(
            ("Event",),
            {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "other"}},
            [('involvedObject.namespace: Invalid value: "other": does not match event.namespace')],
            id="an event of another namespace",
        ),
        pytest.param(
            ("Event", "events.k8s.io"),
            {"type": "Odd", "reason": ""},
            ["reason: Required value", 'type: Invalid value: "": has invalid value: Odd'],
            id="an event",
        ),
        pytest.param(
            ("ConfigMap",),
            {"data": {"a/b": "c"}, "binaryData": {"x": ""}},
            [
                (
                    'data[a/b]: Invalid value: "a/b": a valid config key must consist of '
                    "alphanumeric characters, '-', '_' or '.'"
                )
            ],
            id="keys of a config map",
        ),
        pytest.param(
            ("ConfigMap",),
            {"data": {"a": "c"}, "binaryData": {"a": "YQ=="}},
            ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
            id="a key twice",
        ),
        pytest.param(
            ("Secret",),
            {"data": {"a/b": ""}},
            [
                (
                    'data[a/b]: Invalid value: "a/b": a valid config key must consist of '
                    "alphanumeric characters, '-', '_' or '.'"
                )
            ],
            id="keys of a secret",
        ),
        pytest.param(
            ("Secret",),
            {"type": "kubernetes.io/tls"},
            ["data[tls.crt]: Required value", "data[tls.key]: Required value"],
            id="a certificate without key",
        ),
        pytest.param(
            ("RoleBinding", RBAC),
            {
                "roleRef": {"apiGroup": "x", "kind": "Y", "name": ""},
                "subjects": [{"kind": "Z", "name": ""}],
            },
            [
                (
                    'roleRef.apiGroup: Unsupported value: "x": supported values: '
                    '"rbac.authorization.k8s.io"'
                ),
                'roleRef.kind: Unsupported value: "Y": supported values: "Role", "ClusterRole"',
                "roleRef.name: Required value",
                "subjects[0].name: Required value",
                (
                    'subjects[0].kind: Unsupported value: "Z": supported values: "ServiceAccount", '
                    '"User", "Group"'
                ),
            ],
            id="a binding",
        ),
        pytest.param(
            ("Role", RBAC),
            {"rules": [{"verbs": []}, {"verbs": ["get"], "nonResourceURLs": ["/x"]}]},
            [
                "rules[0].verbs: Required value: verbs must contain at least one value",
                (
                    "rules[0].apiGroups: Required value: resource rules must supply at least one "
                    "api group"
                ),
                (
                    "rules[0].resources: Required value: resource rules must supply at least one "
                    "resource"
                ),
                (
                    'rules[1].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot '
                    "apply to non-resource URLs"
                ),
            ],
            id="a role",
        ),
    ],
)
def test_data_events_and_roles_are_well_formed(
    kind: tuple[str, ...], fields: Any, problems: list[str]
) -> None:
    assert problems_of(*kind, **fields) == problems
