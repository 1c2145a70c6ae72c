"""An API server that is asked what it would take, and forgets that it was asked."""

from typing import Any

import pytest

from podium.golang.errors import ObjectError
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import ResourceQuota, ResourceQuotaSpec
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.admission import Admission
from podium.testing import make_pod


def pod_json(name: str) -> dict[str, Any]:
    container = {"name": "main", "image": "app"}
    metadata = {"name": name, "namespace": "default"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container]},
    }


def server_for_two_pods() -> tuple[Admission, Pod]:
    there = make_pod("there", node="a", metadata={"resourceVersion": "1"})
    metadata = ObjectMeta(name="q", namespace="default", resource_version="1")
    quota = ResourceQuota(metadata=metadata, spec=ResourceQuotaSpec(hard={"pods": "2"}))
    return Admission(FeatureGates(), [there, quota]), there


def test_a_quota_counts_what_is_created_and_what_goes() -> None:
    server, there = server_for_two_pods()
    with server.roll_back_on_exit():
        server.create_in_part(pod_json("one"), Pod)
        with pytest.raises(ObjectError, match="exceeded quota"):
            server.create_in_part(pod_json("two"), Pod)
        server.remove(there)
        server.create_in_part(pod_json("two"), Pod)


def test_what_was_only_tried_counts_for_nothing_afterwards() -> None:
    server, there = server_for_two_pods()
    for _ in range(3):
        with server.roll_back_on_exit():
            server.create_in_part(pod_json("one"), Pod)
            server.remove(there)
    with server.roll_back_on_exit():
        server.create_pod(pod_json("one"))
        with pytest.raises(ObjectError, match="exceeded quota"):
            server.create_pod(pod_json("two"))
