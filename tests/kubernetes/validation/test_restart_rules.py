"""Restart rules of containers, also of sidecars, and what they let a status report.

The gate RestartAllContainersOnContainerExits is on by default since 1.36.
"""

from typing import Any

import pytest
from support.apiserver.api_calls import PODS, Api, Json, pod
from support.apiserver.smallest_objects import problems_of

_ON_42 = {"operator": "In", "values": [42]}


def with_rules(action: str = "RestartAllContainers", **fields: Any) -> Json:
    rules = [{"action": action, "exitCodes": _ON_42}]
    return {"name": "c", "image": "i", "restartPolicyRules": rules, **fields}


@pytest.mark.parametrize("policy", ["Always", "Never", "OnFailure"])
@pytest.mark.parametrize("action", ["Restart", "RestartAllContainers"])
def test_every_sort_of_container_may_have_restart_rules(policy: str, action: str) -> None:
    container = with_rules(action, restartPolicy=policy)
    first = {**container, "name": "first"}
    assert problems_of("Pod", spec={"containers": [container], "initContainers": [first]}) == []


def test_the_rules_of_a_sidecar_are_checked() -> None:
    wrong = {"action": "Stop", "exitCodes": {"operator": "Like", "values": []}}
    sidecar = {"name": "s", "image": "i", "restartPolicy": "Always"}
    found = problems_of(
        "Pod", spec={"initContainers": [{**sidecar, "restartPolicyRules": [wrong, {}]}]}
    )
    at = "spec.initContainers[0].restartPolicyRules"
    actions = 'supported values: "Restart", "RestartAllContainers"'
    assert found == [
        f'{at}[0].action: Unsupported value: "Stop": {actions}',
        f'{at}[0].exitCodes.operator: Unsupported value: "Like": supported values: "In", "NotIn"',
        f'{at}[1].action: Unsupported value: "": {actions}',
        f"{at}[1].exitCodes: Required value: must be specified",
    ]


def test_rules_need_a_policy_of_the_container() -> None:
    needed = "Required value: must specify restartPolicy when restart rules are used"
    first = {**with_rules("Stop"), "name": "first"}
    found = problems_of("Pod", spec={"containers": [with_rules()], "initContainers": [first]})
    assert found == [
        f"spec.containers[0].restartPolicy: {needed}",
        f"spec.initContainers[0].restartPolicy: {needed}",
    ]


@pytest.mark.parametrize(
    ("action", "code"), [("RestartAllContainers", 200), ("Restart", 422)], ids=["all", "itself"]
)
def test_a_rule_that_restarts_all_lets_every_container_run_again(action: str, code: int) -> None:
    api = Api()
    watched = with_rules(action, restartPolicy="Never", name="watched")
    other = {"name": "main", "image": "i"}
    api.create(PODS, pod("p", containers=[other, watched], restartPolicy="Never"))
    ended = {"terminated": {"exitCode": 0}}
    report_state(api, ended)
    assert report_state(api, {"running": {}}) == code


def report_state(api: Api, state: Json) -> int:
    status = {
        "name": "main",
        "image": "i",
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "state": state,
    }
    current = api.get(f"{PODS}/p")
    current["status"]["containerStatuses"] = [status]
    return api.ask("PUT", f"{PODS}/p/status", current).status
