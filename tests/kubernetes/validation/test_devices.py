"""Claims on devices and the slices that offer them."""

from typing import Any

import pytest
from support.apiserver.smallest_objects import problems_of
from support.apiserver.written_objects import Object

DEVICES = "resource.k8s.io"


def asking(**fields: Any) -> Object:
    exactly = {"deviceClassName": "gpu", **fields}
    return {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}


@pytest.mark.parametrize(
    ("kind", "fields", "problems"),
    [
        pytest.param(
            ("ResourceClaim", DEVICES), {"spec": {"devices": {"requests": []}}}, [], id="nothing"
        ),
        pytest.param(
            ("ResourceClaim", DEVICES),
            {
                "spec": {
                    "devices": {
                        "requests": [
                            {"name": "r", "exactly": {"deviceClassName": "gpu"}},
                            {"name": "r", "exactly": {"deviceClassName": "gpu"}},
                        ]
                    }
                }
            },
            ['spec.devices.requests[1]: Duplicate value: "r"'],
            id="a name twice",
        ),
        pytest.param(
            ("ResourceClaim", DEVICES),
            {"spec": {"devices": {"requests": [{"name": "R_"}]}}},
            [
                (
                    'spec.devices.requests[0].name: Invalid value: "R_": a lowercase RFC 1123 '
                    "label must consist of lower case alphanumeric characters or '-', and must "
                    "start and end with an alphanumeric character"
                ),
                (
                    "spec.devices.requests[0]: Required value: exactly one of `exactly` or "
                    "`firstAvailable` is required"
                ),
            ],
            id="no request",
        ),
        pytest.param(
            ("ResourceClaim", DEVICES),
            {
                "spec": {
                    "devices": {
                        "requests": [
                            {
                                "name": "r",
                                "exactly": {"deviceClassName": "gpu"},
                                "firstAvailable": [{"name": "a", "deviceClassName": "x"}],
                            }
                        ]
                    }
                }
            },
            [
                (
                    "spec.devices.requests[0]: Invalid value: null: exactly one of `exactly` or "
                    "`firstAvailable` is required, but multiple fields are set"
                )
            ],
            id="two ways at once",
        ),
        pytest.param(
            ("ResourceClaim", DEVICES),
            {"spec": asking(deviceClassName="")},
            ["spec.devices.requests[0].exactly.deviceClassName: Required value"],
            id="no class",
        ),
        pytest.param(
            ("ResourceClaim", DEVICES),
            {"spec": asking(allocationMode="X")},
            [
                (
                    'spec.devices.requests[0].exactly.allocationMode: Unsupported value: "X": '
                    'supported values: "All", "ExactCount"'
                )
            ],
            id="a mode",
        ),
        pytest.param(
            ("ResourceClaim", DEVICES),
            {"spec": asking(count=-1)},
            [
                (
                    "spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater "
                    "than zero"
                )
            ],
            id="a negative count",
        ),
        pytest.param(
            ("ResourceClaim", DEVICES),
            {"spec": asking(allocationMode="All", count=2)},
            [
                (
                    "spec.devices.requests[0].exactly.count: Invalid value: 2: must not be "
                    "specified when allocationMode is 'All'"
                )
            ],
            id="a count of all",
        ),
        pytest.param(
            ("ResourceClaim", DEVICES),
            {"spec": asking(selectors=[{"cel": {"expression": "device.foo ="}}])},
            [
                (
                    "spec.devices.requests[0].exactly.selectors[0].cel.expression: Invalid value: "
                    '"device.foo =": compilation failed: ERROR: <input>:1:12: Syntax error: token '
                    "recognition error at: '='\n"
                    " | device.foo =\n"
                    " | ...........^"
                )
            ],
            id="an expression that cannot be read",
        ),
        pytest.param(
            ("ResourceClaim", DEVICES),
            {"spec": asking(selectors=[{}])},
            ["spec.devices.requests[0].exactly.selectors[0].cel: Required value"],
            id="no expression",
        ),
        pytest.param(
            ("ResourceClaim", DEVICES),
            {
                "spec": {
                    "devices": {
                        "requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}],
                        "constraints": [{"requests": ["x"], "matchAttribute": "a"}],
                    }
                }
            },
            [
                (
                    'spec.devices.constraints[0].requests[0]: Invalid value: "x": must be the name '
                    "of a request in the claim or the name of a request and a subrequest separated "
                    "by '/'"
                ),
                (
                    'spec.devices.constraints[0].matchAttribute: Invalid value: "a": a fully '
                    "qualified name must be a domain and a name separated by a slash"
                ),
            ],
            id="a constraint",
        ),
        pytest.param(
            ("ResourceClaim", DEVICES),
            {"spec": asking(tolerations=[{"operator": "X"}])},
            [
                (
                    "spec.devices.requests[0].exactly.tolerations[0].operator: Unsupported value: "
                    '"X": supported values: "Equal", "Exists"'
                )
            ],
            id="a toleration",
        ),
        pytest.param(
            ("DeviceClass", DEVICES),
            {"spec": {"selectors": [{"cel": {"expression": "1"}}]}},
            [
                (
                    'spec.selectors[0].cel.expression: Invalid value: "1": must evaluate to bool '
                    "or the unknown type, not int"
                )
            ],
            id="an expression of no truth",
        ),
    ],
)
def test_claims_ask_for_one_thing_at_a_time(
    kind: tuple[str, ...], fields: Any, problems: list[str]
) -> None:
    assert problems_of(*kind, **fields) == problems


@pytest.mark.parametrize(
    ("kind", "fields", "problems"),
    [
        pytest.param(
            ("ResourceSlice", DEVICES),
            {"spec": {"nodeName": None}},
            [
                (
                    "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
                    "`perDeviceNodeSelection` is required"
                )
            ],
            id="no place",
        ),
        pytest.param(
            ("ResourceSlice", DEVICES),
            {"spec": {"allNodes": True}},
            [
                (
                    'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, '
                    "`nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but "
                    "multiple fields are set"
                )
            ],
            id="two places",
        ),
        pytest.param(
            ("ResourceSlice", DEVICES),
            {"spec": {"devices": [{"name": "D_"}, {"name": "a"}, {"name": "a"}]}},
            [
                (
                    'spec.devices[0].name: Invalid value: "D_": a lowercase RFC 1123 label must '
                    "consist of lower case alphanumeric characters or '-', and must start and end "
                    "with an alphanumeric character"
                ),
                'spec.devices[2]: Duplicate value: "a"',
            ],
            id="names of devices",
        ),
        pytest.param(
            ("ResourceSlice", DEVICES),
            {
                "spec": {
                    "devices": [
                        {
                            "name": "a",
                            "attributes": {
                                "x": {},
                                "y": {"int": 1, "bool": True},
                                "z z": {"string": "s"},
                            },
                        }
                    ]
                }
            },
            [
                (
                    'spec.devices[0].attributes[x]: Invalid value: "": exactly one value must be '
                    "specified"
                ),
                (
                    "spec.devices[0].attributes[y]: Invalid value: "
                    '{"IntValue":1,"BoolValue":true,"StringValue":null,"VersionValue":null,"IntValue'
                    's":null,"BoolValues":null,"StringValues":null,"VersionValues":null}: exactly '
                    "one value must be specified"
                ),
                (
                    'spec.devices[0].attributes: Invalid value: "z z": a valid C identifier must '
                    "start with alphabetic character or '_', followed by a string of alphanumeric "
                    "characters or '_'"
                ),
            ],
            id="attributes",
        ),
        pytest.param(
            ("ResourceSlice", DEVICES),
            {"spec": {"pool": {"name": "", "generation": -1, "resourceSliceCount": 0}}},
            [
                "spec.pool.name: Required value",
                "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
                "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
            ],
            id="a pool",
        ),
        pytest.param(
            ("ResourceSlice", DEVICES),
            {"spec": {"driver": "D_"}},
            [
                (
                    'spec.driver: Invalid value: "D_": a lowercase RFC 1123 subdomain must consist '
                    "of lower case alphanumeric characters, '-' or '.', and must start and end "
                    "with an alphanumeric character"
                )
            ],
            id="a driver",
        ),
    ],
)
def test_slices_offer_devices_at_one_place(
    kind: tuple[str, ...], fields: Any, problems: list[str]
) -> None:
    assert problems_of(*kind, **fields) == problems
