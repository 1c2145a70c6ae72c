"""Who may write which part of a resource claim's status."""

from typing import Any

import pytest
from support.apiserver.api_calls import MERGE, Answer, Api

GROUP = "rbac.authorization.k8s.io"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
NODE = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
RESULT = {"request": "r", "driver": "gpu.example.com", "pool": "p", "device": "d"}
ALLOCATION = {
    "devices": {"results": [RESULT]},
    "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [NODE]}]},
}
DEVICE = {"driver": "gpu.example.com", "pool": "p", "device": "d", "data": {"a": "b"}}
ACCOUNT = "system:serviceaccount:default:driver"
EXTRA = "impersonate-extra-authentication.kubernetes.io%2Fnode-name"


def claims(*rules: dict[str, Any]) -> Api:
    """A server with an allocated claim and a user who may write its status, and these."""
    api = Api()
    request = {"name": "r", "exactly": {"deviceClassName": "gpu"}}
    api.create(CLAIMS, {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [request]}}})
    api.patch(f"{CLAIMS}/c/status", {"status": {"allocation": ALLOCATION}})
    status = {"verbs": ["patch"], "resources": ["resourceclaims/status"]}
    api.create(
        f"/apis/{GROUP}/v1/clusterroles",
        {
            "metadata": {"name": "driver"},
            "rules": [{**each, "apiGroups": ["resource.k8s.io"]} for each in (status, *rules)],
        },
    )
    api.create(
        f"/apis/{GROUP}/v1/clusterrolebindings",
        {
            "metadata": {"name": "driver"},
            "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": "driver"},
            "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": "driver"}],
        },
    )
    return api


def write(api: Api, status: dict[str, Any], node: str = "n1") -> Answer:
    return api.ask(
        "PATCH",
        f"{CLAIMS}/c/status",
        {"status": status},
        content_type=MERGE,
        impersonate_user=ACCOUNT,
        **{EXTRA: node},
    )


def test_to_reserve_a_claim_takes_the_right_to_bind_it() -> None:
    reserved = {"reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]}
    binding = {"verbs": ["patch"], "resources": ["resourceclaims/binding"]}

    refused = write(claims(), reserved)

    assert refused.status == 422
    assert (
        "status.allocation: Forbidden: changing status.allocation or status.reservedFor requires"
        ' resource="resourceclaims/binding", verb="patch" permission:'
        f' resourceclaims.resource.k8s.io is forbidden: User "{ACCOUNT}" cannot patch resource'
        ' "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope'
    ) in refused.message
    assert write(claims(binding), reserved).status == 200


@pytest.mark.parametrize(
    ("verb", "driver", "node", "status"),
    [
        ("arbitrary-node:patch", "gpu.example.com", "n1", 200),
        ("arbitrary-node:patch", "gpu.example.com", "n2", 200),
        ("associated-node:patch", "gpu.example.com", "n1", 200),
        ("associated-node:patch", "gpu.example.com", "n2", 422),
        ("associated-node:update", "gpu.example.com", "n1", 422),
        ("arbitrary-node:patch", "other.example.com", "n1", 422),
    ],
)
def test_a_driver_reports_on_its_own_devices(
    verb: str, driver: str, node: str, status: int
) -> None:
    own = {"verbs": [verb], "resources": ["resourceclaims/driver"], "resourceNames": [driver]}

    assert write(claims(own), {"devices": [DEVICE]}, node).status == status


def test_what_does_not_change_takes_no_right() -> None:
    assert write(claims(), {"allocation": ALLOCATION}).status == 200
