"""What the status of a claim on devices may say of them."""

from typing import Any

import pytest
from support.apiserver.api_calls import Answer, Api, Json

CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
SHARE = "8d7f9a3e-0000-4000-8000-000000000001"
DEVICE = {"driver": "nic.example.com", "pool": "n", "device": "nic-0"}
CONDITION = {
    "type": "Ready",
    "status": "True",
    "reason": "Attached",
    "message": "",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}
REPORT = {
    **DEVICE,
    "conditions": [CONDITION],
    "data": {"speed": 100},
    "networkData": {
        "interfaceName": "eth0",
        "hardwareAddress": "02:00:00:00:00:01",
        "ips": ["10.9.8.7/24", "2001:db8::1/64"],
    },
}
AT = "status.devices[0]"


def claimed_api() -> Api:
    api = Api()
    request = {"name": "r", "exactly": {"deviceClassName": "nic"}}
    api.create(CLAIMS, {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [request]}}})
    return api


def put_status(api: Api, *reports: Json, **result: Any) -> Answer:
    claim = api.get(f"{CLAIMS}/c")
    allocation = {"devices": {"results": [{"request": "r", **DEVICE, **result}]}}
    claim["status"] = {"allocation": allocation}
    if reports:
        claim["status"]["devices"] = list(reports)
    return api.ask("PUT", f"{CLAIMS}/c/status", claim)


def problem_of(answer: Answer) -> str:
    assert answer.status == 422, answer.text.decode()
    return answer.message.partition(" is invalid: ")[2]


def test_reports_of_allocated_devices_are_kept() -> None:
    answer = put_status(claimed_api(), REPORT)
    assert answer.body["status"]["devices"] == [REPORT]


def test_a_report_names_the_share_that_is_allocated() -> None:
    shared = {**REPORT, "shareID": SHARE}
    assert put_status(claimed_api(), shared, shareID=SHARE).body["status"]["devices"] == [shared]
    shown = '{"Driver":"nic.example.com","Pool":"n","Device":"nic-0","ShareID":""}'
    assert problem_of(put_status(claimed_api(), REPORT, shareID=SHARE)) == (
        f"{AT}: Invalid value: {shown}: must be an allocated device in the claim"
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param(
            {"networkData": {"ips": ["10.9.8.7"]}},
            'networkData.ips[0]: Invalid value: "10.9.8.7": must be a valid address in CIDR form, '
            "(e.g. 10.9.8.7/24 or 2001:db8::1/64)",
            id="an address without its network",
        ),
        pytest.param(
            {"networkData": {"ips": ["2001:DB8::1/64"]}},
            'networkData.ips[0]: Invalid value: "2001:DB8::1/64": must be in canonical form '
            '("2001:db8::1/64")',
            id="an address in another spelling",
        ),
        pytest.param(
            {"networkData": {"interfaceName": "e" * 257}},
            "networkData.interfaceName: Too long: may not be more than 256 bytes",
            id="a long name",
        ),
        pytest.param(
            {"data": {"text": "x" * 10240}},
            "data: Too long: may not be more than 10240 bytes",
            id="too much data",
        ),
        pytest.param(
            {"conditions": [{**CONDITION, "type": f"c{index}"} for index in range(9)]},
            "conditions: Too many: 9: must have at most 8 items",
            id="too many conditions",
        ),
        pytest.param(
            {"conditions": [{**CONDITION, "reason": ""}]},
            "conditions[0].reason: Required value",
            id="a condition without a reason",
        ),
    ],
)
def test_reports_of_the_wrong_form_are_refused(change: Json, problem: str) -> None:
    assert problem_of(put_status(claimed_api(), {**REPORT, **change})) == f"{AT}.{problem}"


def test_reports_go_with_the_allocation() -> None:
    api = claimed_api()
    put_status(api, REPORT)
    claim = api.get(f"{CLAIMS}/c")
    del claim["status"]["allocation"]
    answer = api.ask("PUT", f"{CLAIMS}/c/status", claim)
    assert answer.status == 200, answer.text.decode()
    assert "devices" not in answer.body["status"]


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        pytest.param(
            {"shareID": SHARE.upper()},
            f'shareID: Invalid value: "{SHARE.upper()}": uid must be in RFC 4122 normalized form, '
            "`xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters",
            id="a share in capitals",
        ),
        pytest.param(
            {"shareID": "one"},
            'shareID: Invalid value: "one": error validating uid: invalid UUID length: 3',
            id="a share that is no UUID",
        ),
        pytest.param(
            {"bindingConditions": ["example.com/ready"]},
            "bindingFailureConditions: Invalid value: null: bindingFailureConditions are required "
            "to use bindingConditions",
            id="no condition of failure",
        ),
    ],
)
def test_results_of_the_wrong_form_are_refused(result: Json, problem: str) -> None:
    found = problem_of(put_status(claimed_api(), **result))
    assert found == f"status.allocation.devices.results[0].{problem}"


def test_an_allocated_configuration_says_where_it_is_from() -> None:
    api = claimed_api()
    claim = api.get(f"{CLAIMS}/c")
    opaque = {"driver": "nic.example.com", "parameters": {"mtu": 9000}}
    for source, code in (("FromClass", 200), ("Elsewhere", 422)):
        config = {"source": source, "requests": ["r"], "opaque": opaque}
        devices = {"results": [{"request": "r", **DEVICE}], "config": [config]}
        claim["status"] = {"allocation": {"devices": devices}}
        answer = claimed_api().ask(
            "PUT", f"{CLAIMS}/c/status", {**claim, "metadata": {"name": "c"}}
        )
        assert answer.status == code, answer.text.decode()


@pytest.mark.parametrize(
    ("conditions", "failures", "problem"),
    [
        (["a"], ["a"], 'bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions '
         "must not overlap with bindingConditions"),
        (["a", "a"], ["b"], 'bindingConditions[1]: Duplicate value: "a"'),
        (["a", "b", "c", "d", "e"], ["f"], "bindingConditions: Too many: 5: must have at most 4 "
         "items"),
    ],
    ids=["both", "twice", "many"],
)  # fmt: skip
def test_a_device_waits_for_a_few_different_conditions(
    conditions: list[str], failures: list[str], problem: str
) -> None:
    device = {
        "name": "d",
        "bindsToNode": True,
        "bindingConditions": conditions,
        "bindingFailureConditions": failures,
    }
    pool = {"name": "n", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "nic.example.com", "nodeName": "n", "pool": pool, "devices": [device]}
    answer = Api().ask("POST", SLICES, {"metadata": {"name": "s"}, "spec": spec})
    assert problem_of(answer) == f"spec.devices[0].{problem}"
