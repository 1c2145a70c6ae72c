"""What may change of a stored pod, and what may not."""

from typing import Any

import pytest
from support.apiserver.smallest_objects import refusal_of


@pytest.mark.parametrize(
    ("change", "fields", "told"),
    [
        pytest.param(
            ("Pod", "", {"spec": {"containers": [{"name": "c", "image": ""}]}}),
            {},
            "spec.containers[0].image: Required value",
            id="no image",
        ),
        pytest.param(
            ("Pod", "", {"spec": {"nodeSelector": {"a": "b"}}}),
            {},
            (
                "spec: Forbidden: pod updates may not change fields other than "
                "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineS"
                "econds`,`spec.tolerations` (only additions to existing "
                "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if "
                "it was previously negative)\n"
                "@@ -39,7 +39,9 @@\n"
                '  "TerminationGracePeriodSeconds": 30,\n'
                '  "ActiveDeadlineSeconds": null,\n'
                '  "DNSPolicy": "ClusterFirst",\n'
                '- "NodeSelector": null,\n'
                '+ "NodeSelector": {\n'
                '+  "a": "b"\n'
                "+ },\n"
                '  "ServiceAccountName": "",\n'
                '  "AutomountServiceAccountToken": null,\n'
                '  "NodeName": "",\n'
            ),
            id="where it runs",
        ),
        pytest.param(
            ("Pod", "", {"spec": {"nodeSelector": {"a": "b"}}}),
            {"spec": {"schedulingGates": [{"name": "g"}]}},
            "",
            id="where it may run while gated",
        ),
        pytest.param(
            ("Pod", "", {"spec": {"schedulingGates": [{"name": "g"}]}}),
            {},
            (
                "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found "
                "new scheduling gate 'g'"
            ),
            id="a new gate",
        ),
        pytest.param(
            ("Pod", "", {"spec": {"nodeSelector": {"a": None}}}),
            {"spec": {"schedulingGates": [{"name": "g"}], "nodeSelector": {"a": "b"}}},
            (
                "spec.nodeSelector: Invalid value: null: only additions to spec.nodeSelector "
                "are allowed (no mutations or deletions)"
            ),
            id="a wider choice while gated",
        ),
        pytest.param(
            ("Pod", "", {"spec": {"activeDeadlineSeconds": 9}}),
            {"spec": {"activeDeadlineSeconds": 5}},
            (
                "spec.activeDeadlineSeconds: Invalid value: 9: must be less than or equal to "
                "previous value"
            ),
            id="a later deadline",
        ),
        pytest.param(
            (
                "Pod",
                "",
                {
                    "spec": {
                        "containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "i"}]
                    }
                },
            ),
            {},
            "spec.containers: Forbidden: pod updates may not add or remove containers",
            id="another container",
        ),
        pytest.param(
            ("Pod", "", {"metadata": {"name": "b"}}),
            {},
            'metadata.name: Invalid value: "b": field is immutable',
            id="its name",
        ),
        pytest.param(
            (
                "Pod",
                "",
                {
                    "metadata": {
                        "generateName": "b",
                        "labels": {"x y": "z"},
                        "annotations": {"A/b/c": "x"},
                    }
                },
            ),
            {},
            (
                '[metadata.labels: Invalid value: "x y": name part must consist of '
                "alphanumeric characters, '-', '_' or '.', and must start and end with an "
                'alphanumeric character, metadata.annotations: Invalid value: "A/b/c": a valid '
                "label key must consist of alphanumeric characters, '-', '_' or '.', and must "
                "start and end with an alphanumeric character]"
            ),
            id="labels that are none",
        ),
        pytest.param(
            (
                "Pod",
                "",
                {
                    "spec": {
                        "containers": [
                            {
                                "name": "c",
                                "image": "i",
                                "resources": {
                                    "requests": {"example.com/x": "1"},
                                    "limits": {"example.com/x": "1"},
                                },
                            }
                        ]
                    }
                },
                "resize",
            ),
            {},
            "spec: Forbidden: only cpu and memory resources are mutable",
            id="resources that cannot be resized",
        ),
    ],
)
def test_pods_change_in_few_ways(change: tuple[Any, ...], fields: Any, told: str) -> None:
    assert refusal_of(*change, **fields) == told
