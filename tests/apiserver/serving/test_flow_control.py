"""Flow control, service ranges and taint rules: what is there at the start, and what is served."""

import pytest
from support.apiserver.api_calls import Api

from podium.kubernetes.releases.feature_gates import FeatureGates

FLOW_CONTROL = "/apis/flowcontrol.apiserver.k8s.io/v1"
RULES = "/apis/resource.k8s.io/v1beta2/devicetaintrules"


@pytest.mark.parametrize(
    ("plural", "count"), [("flowschemas", 11), ("prioritylevelconfigurations", 8)]
)
def test_every_cluster_has_the_mandatory_and_the_suggested_ones(plural: str, count: int) -> None:
    items = Api().get(f"{FLOW_CONTROL}/{plural}")["items"]

    assert len(items) == count
    assert {"catch-all", "exempt"} <= {each["metadata"]["name"] for each in items}


def test_what_was_deleted_is_there_again_after_a_start() -> None:
    api = Api()
    api.delete(f"{FLOW_CONTROL}/flowschemas/probes")
    again = Api(api.store)

    assert again.get(f"{FLOW_CONTROL}/flowschemas/probes")["spec"]["matchingPrecedence"] == 2


def test_the_range_of_service_addresses_is_told() -> None:
    found = Api().get("/apis/networking.k8s.io/v1/servicecidrs/kubernetes")

    assert found["spec"] == {"cidrs": ["10.0.0.0/24"]}
    (ready,) = found["status"]["conditions"]
    assert (ready["type"], ready["status"]) == ("Ready", "True")


def test_taint_rules_are_served_behind_their_gate() -> None:
    taint = {"key": "broken.example", "effect": "NoSchedule"}
    rule = {"metadata": {"name": "r"}, "spec": {"deviceSelector": {"pool": "p"}, "taint": taint}}

    assert Api().ask("GET", RULES).status == 404
    api = Api(gates=FeatureGates({"DRADeviceTaintRules": True}))
    made = api.create(RULES, rule)
    assert made["spec"]["taint"] == {**taint, "timeAdded": "2026-01-01T00:00:00Z"}
    assert made["metadata"]["generation"] == 1

    api.clock.advance(60)
    changed = api.patch(f"{RULES}/r", {"spec": {"taint": {"effect": "NoExecute"}}})
    assert changed["spec"]["taint"]["timeAdded"] == "2026-01-01T00:01:00Z"
    assert changed["metadata"]["generation"] == 2

    answer = api.ask(
        "POST",
        RULES,
        {"metadata": {"name": "bad"}, "spec": {"taint": {"key": "a b", "effect": "x"}}},
    )
    assert answer.status == 422
    assert [each["field"] for each in answer.body["details"]["causes"]] == [
        "spec.taint.key",
        "spec.taint.effect",
    ]
