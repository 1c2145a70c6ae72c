"""The pods of a stateful set, by ordinal."""

from typing import Any

import msgspec

from podium.kubernetes.controllers.stateful_pods import (
    claims_of_ordinal,
    ordinal_of,
    pod_of_ordinal,
)
from podium.kubernetes.controllers.workloads import StatefulSet


def stateful_set(**spec: Any) -> StatefulSet:
    spec = {"selector": {"matchLabels": {"app": "db"}}, **spec}
    return msgspec.convert({"metadata": {"name": "db", "uid": "u"}, "spec": spec}, StatefulSet)


def pod(stateful: StatefulSet, ordinal: int = 0) -> dict[str, Any]:
    return pod_of_ordinal(stateful, stateful.spec.template, ordinal, "db-hash")


def test_ordinals_start_where_they_are_told_to() -> None:
    assert list(stateful_set(replicas=2, ordinals={"start": 5}).ordinals) == [5, 6]
    assert list(stateful_set().ordinals) == [0]
    assert ordinal_of(stateful_set(), "db-12") == 12
    assert ordinal_of(stateful_set(), "db-x") is None


def test_a_pod_has_a_host_name_within_the_service_of_the_set() -> None:
    spec = pod(stateful_set(serviceName="databases"), 3)["spec"]
    assert (spec["hostname"], spec["subdomain"]) == ("db-3", "databases")
    assert "subdomain" not in pod(stateful_set())["spec"]


def test_claims_come_before_other_volumes_and_replace_those_of_their_name() -> None:
    volumes = [{"name": "data", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}]
    stateful = stateful_set(
        template={"spec": {"volumes": volumes}},
        volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": {}}],
    )
    assert pod(stateful, 1)["spec"]["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-1"}},
        {"name": "tmp", "emptyDir": {}},
    ]


def test_a_claim_carries_the_labels_that_the_set_selects() -> None:
    template = {"metadata": {"name": "data", "labels": {"app": "x", "tier": "1"}}, "spec": {"a": 1}}
    (claim,) = claims_of_ordinal(stateful_set(volumeClaimTemplates=[template]), 2)
    assert claim["metadata"]["name"] == "data-db-2"
    assert claim["metadata"]["labels"] == {"app": "db", "tier": "1"}
    assert claim["spec"] == {"a": 1}
