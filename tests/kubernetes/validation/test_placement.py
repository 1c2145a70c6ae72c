"""Where pods may run: selectors, affinity, tolerations, spreading, gates."""

from typing import Any

import pytest
from support.apiserver.smallest_objects import problems_of
from support.apiserver.written_objects import Object


def affinity(**fields: Any) -> Object:
    return {"affinity": fields}


REQ = "requiredDuringSchedulingIgnoredDuringExecution"
PREF = "preferredDuringSchedulingIgnoredDuringExecution"


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        pytest.param(
            {"nodeName": "N_"},
            [
                (
                    'spec.nodeName: Invalid value: "N_": a lowercase RFC 1123 subdomain must '
                    "consist of lower case alphanumeric characters, '-' or '.', and must start and "
                    "end with an alphanumeric character"
                )
            ],
            id="a node's name",
        ),
        pytest.param(
            {"nodeSelector": {"a b": "c", "x": "y z"}},
            [
                (
                    'spec.nodeSelector: Invalid value: "a b": name part must consist of '
                    "alphanumeric characters, '-', '_' or '.', and must start and end with an "
                    "alphanumeric character"
                ),
                (
                    'spec.nodeSelector: Invalid value: "y z": a valid label must be an empty '
                    "string or consist of alphanumeric characters, '-', '_' or '.', and must start "
                    "and end with an alphanumeric character"
                ),
            ],
            id="a node selector",
        ),
        pytest.param(
            {"schedulingGates": [{"name": "a"}, {"name": "a"}, {"name": "b c"}]},
            [
                'spec.schedulingGates[1]: Duplicate value: "a"',
                (
                    'spec.schedulingGates[2]: Invalid value: "b c": name part must consist of '
                    "alphanumeric characters, '-', '_' or '.', and must start and end with an "
                    "alphanumeric character"
                ),
            ],
            id="gates",
        ),
        pytest.param(
            {"schedulingGates": [{"name": "a"}], "nodeName": "n"},
            [
                (
                    "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been "
                    "cleared"
                )
            ],
            id="a gated pod on a node",
        ),
        pytest.param(
            {
                "tolerations": [
                    {"key": "a", "operator": "Exists", "value": "v"},
                    {"operator": "Equal"},
                    {"key": "k", "operator": "In"},
                    {"key": "k", "effect": "Never"},
                    {"key": "k", "tolerationSeconds": 5},
                    {"key": "a b"},
                ]
            },
            [
                (
                    'spec.tolerations[0].operator: Invalid value: "v": value must be empty when '
                    "`operator` is 'Exists'"
                ),
                (
                    'spec.tolerations[1].operator: Invalid value: "Equal": operator must be Exists '
                    'when `key` is empty, which means "match all values and all keys"'
                ),
                (
                    'spec.tolerations[2].operator: Unsupported value: "In": supported values: '
                    '"Equal", "Exists"'
                ),
                (
                    'spec.tolerations[3].effect: Unsupported value: "Never": supported values: '
                    '"NoSchedule", "PreferNoSchedule", "NoExecute"'
                ),
                (
                    "spec.tolerations[4].effect: Invalid value: \"\": effect must be 'NoExecute' "
                    "when `tolerationSeconds` is set"
                ),
                (
                    'spec.tolerations[5].key: Invalid value: "a b": name part must consist of '
                    "alphanumeric characters, '-', '_' or '.', and must start and end with an "
                    "alphanumeric character"
                ),
            ],
            id="tolerations",
        ),
        pytest.param(
            {
                "topologySpreadConstraints": [
                    {"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "X"},
                    {
                        "maxSkew": 1,
                        "topologyKey": "z",
                        "whenUnsatisfiable": "ScheduleAnyway",
                        "minDomains": 2,
                    },
                    {
                        "maxSkew": 1,
                        "topologyKey": "z",
                        "whenUnsatisfiable": "DoNotSchedule",
                        "minDomains": 0,
                        "nodeAffinityPolicy": "X",
                    },
                    {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"},
                ]
            },
            [
                (
                    "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater "
                    "than zero"
                ),
                ("spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty"),
                (
                    'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "X": '
                    'supported values: "DoNotSchedule", "ScheduleAnyway"'
                ),
                (
                    "spec.topologySpreadConstraints[1].minDomains: Invalid value: 2: can only use "
                    "minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"
                ),
                (
                    "spec.topologySpreadConstraints[2].{topologyKey, whenUnsatisfiable}: Duplicate "
                    'value: "{z, DoNotSchedule}"'
                ),
                (
                    "spec.topologySpreadConstraints[2].minDomains: Invalid value: 0: must be "
                    "greater than zero"
                ),
                (
                    'spec.topologySpreadConstraints[2].nodeAffinityPolicy: Unsupported value: "X": '
                    'supported values: "Honor", "Ignore"'
                ),
            ],
            id="spreading",
        ),
        pytest.param(
            {
                "topologySpreadConstraints": [
                    {
                        "maxSkew": 1,
                        "topologyKey": "z",
                        "whenUnsatisfiable": "DoNotSchedule",
                        "matchLabelKeys": ["a", "a b"],
                    }
                ]
            },
            [
                (
                    "spec.topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be "
                    "specified when labelSelector is not set"
                )
            ],
            id="keys without a selector",
        ),
    ],
)
def test_places_are_named_rightly(spec: Object, problems: list[str]) -> None:
    assert problems_of("Pod", spec=spec) == problems


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        pytest.param(
            affinity(nodeAffinity={REQ: {"nodeSelectorTerms": []}}),
            [
                (
                    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeS"
                    "electorTerms: Required value: must have at least one node selector term"
                )
            ],
            id="no node term",
        ),
        pytest.param(
            affinity(
                nodeAffinity={
                    REQ: {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [
                                    {"key": "a", "operator": "In"},
                                    {"key": "a", "operator": "Exists", "values": ["x"]},
                                    {"key": "a", "operator": "Gt", "values": ["1", "2"]},
                                    {"key": "a", "operator": "X"},
                                    {"key": "a b", "operator": "Exists"},
                                ]
                            }
                        ]
                    },
                    PREF: [
                        {"weight": 0, "preference": {}},
                        {
                            "weight": 101,
                            "preference": {
                                "matchFields": [
                                    {
                                        "key": "metadata.name",
                                        "operator": "In",
                                        "values": ["a", "b"],
                                    },
                                    {"key": "spec.x", "operator": "In", "values": ["a"]},
                                    {"key": "metadata.name", "operator": "Exists"},
                                ]
                            },
                        },
                    ],
                }
            ),
            [
                (
                    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeS"
                    "electorTerms[0].matchExpressions[0].values: Required value: must be specified "
                    "when `operator` is 'In' or 'NotIn'"
                ),
                (
                    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeS"
                    "electorTerms[0].matchExpressions[1].values: Forbidden: may not be specified "
                    "when `operator` is 'Exists' or 'DoesNotExist'"
                ),
                (
                    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeS"
                    "electorTerms[0].matchExpressions[2].values: Required value: must be specified "
                    "single value when `operator` is 'Lt' or 'Gt'"
                ),
                (
                    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeS"
                    'electorTerms[0].matchExpressions[3].operator: Invalid value: "X": not a valid '
                    "selector operator"
                ),
                (
                    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeS"
                    'electorTerms[0].matchExpressions[4].key: Invalid value: "a b": name part must '
                    "consist of alphanumeric characters, '-', '_' or '.', and must start and end "
                    "with an alphanumeric character"
                ),
                (
                    "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].w"
                    "eight: Invalid value: 0: must be in the range 1-100"
                ),
                (
                    "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[1].w"
                    "eight: Invalid value: 101: must be in the range 1-100"
                ),
                (
                    "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[1].p"
                    "reference.matchFields[0].values: Required value: must be only one value when "
                    "`operator` is 'In' or 'NotIn' for node field selector"
                ),
                (
                    "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[1].p"
                    'reference.matchFields[1].key: Invalid value: "spec.x": not a valid field '
                    "selector key"
                ),
                (
                    "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[1].p"
                    'reference.matchFields[2].operator: Invalid value: "Exists": not a valid '
                    "selector operator"
                ),
            ],
            id="node terms",
        ),
        pytest.param(
            affinity(
                podAffinity={
                    REQ: [
                        {"topologyKey": ""},
                        {
                            "topologyKey": "a b",
                            "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]},
                            "namespaces": ["N_"],
                            "namespaceSelector": {"matchLabels": {"a b": "c"}},
                        },
                    ],
                    PREF: [{"weight": 200, "podAffinityTerm": {"topologyKey": "x"}}],
                }
            ),
            [
                (
                    "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].top"
                    "ologyKey: Required value: can not be empty"
                ),
                (
                    "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].top"
                    'ologyKey: Invalid value: "": name part must be non-empty'
                ),
                (
                    "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].top"
                    'ologyKey: Invalid value: "": name part must consist of alphanumeric '
                    "characters, '-', '_' or '.', and must start and end with an alphanumeric "
                    "character"
                ),
                (
                    "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].lab"
                    "elSelector.matchExpressions[0].values: Required value: must be specified when "
                    "`operator` is 'In' or 'NotIn'"
                ),
                (
                    "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].nam"
                    'espaceSelector.matchLabels: Invalid value: "a b": name part must consist of '
                    "alphanumeric characters, '-', '_' or '.', and must start and end with an "
                    "alphanumeric character"
                ),
                (
                    "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].nam"
                    'espace: Invalid value: "N_": a lowercase RFC 1123 label must consist of lower '
                    "case alphanumeric characters or '-', and must start and end with an "
                    "alphanumeric character"
                ),
                (
                    "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].top"
                    'ologyKey: Invalid value: "a b": name part must consist of alphanumeric '
                    "characters, '-', '_' or '.', and must start and end with an alphanumeric "
                    "character"
                ),
                (
                    "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].we"
                    "ight: Invalid value: 200: must be in the range 1-100"
                ),
            ],
            id="pod terms",
        ),
        pytest.param(
            affinity(
                podAntiAffinity={
                    REQ: [
                        {"topologyKey": "x", "matchLabelKeys": ["a"]},
                        {
                            "topologyKey": "x",
                            "labelSelector": {"matchLabels": {"a": "b"}},
                            "matchLabelKeys": ["a", "a"],
                            "mismatchLabelKeys": ["a"],
                        },
                    ]
                }
            ),
            [
                (
                    "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]"
                    ".matchLabelKeys: Forbidden: must not be specified when labelSelector is not "
                    "set"
                ),
                (
                    "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[1]"
                    '.matchLabelKeys[0]: Invalid value: "a": exists in both matchLabelKeys and '
                    "mismatchLabelKeys"
                ),
                (
                    "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[1]"
                    '.matchLabelKeys[1]: Invalid value: "a": exists in both matchLabelKeys and '
                    "mismatchLabelKeys"
                ),
            ],
            id="keys of pod terms",
        ),
    ],
)
def test_affinity_terms_are_well_formed(spec: Object, problems: list[str]) -> None:
    assert problems_of("Pod", spec=spec) == problems
