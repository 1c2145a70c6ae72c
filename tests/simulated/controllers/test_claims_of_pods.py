"""Claims that are made for a pod and go with it."""

from typing import Any

from support.simulated.controller_objects import (
    build,
    creations,
    moment,
    owned_by,
    patches,
    pod,
    shown,
    timestamp,
)

from podium.kubernetes.controllers.pod_templates import POD_CLAIM, ResourceClaimTemplate
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.resource_claims import (
    FINALIZER,
    EphemeralVolumes,
    ResourceClaims,
    decide,
    device_claims,
    volume_claims,
)
from podium.kubernetes.kinds.devices import ResourceClaim
from podium.simulated.informers import Informers

EPHEMERAL = {
    "name": "scratch",
    "ephemeral": {
        "volumeClaimTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": {"x": 1}},
    },
}
GPU = {"name": "gpu", "resourceClaimTemplateName": "one-gpu"}
TEMPLATE = build(
    ResourceClaimTemplate,
    "one-gpu",
    spec={"metadata": {"labels": {"l": "v"}}, "spec": {"devices": {"requests": []}}},
)


def claim(**fields: Any) -> ResourceClaim:
    metadata = {"annotations": {POD_CLAIM: "gpu"}, **fields.pop("metadata", {})}
    return build(ResourceClaim, "web-gpu-x1", metadata=metadata, **fields)


def reserved(*names: str, **more: Any) -> dict[str, Any]:
    consumers = [{"resource": "pods", "name": name, "uid": f"uid-{name}"} for name in names]
    return {"reservedFor": consumers, "allocation": {"devices": {}}, **more}


def test_an_ephemeral_volume_gets_a_claim_that_goes_with_the_pod() -> None:
    web = pod("web", spec={"volumes": [EPHEMERAL]})
    (made,) = volume_claims(web, lambda _: False)
    assert shown([made]) == ["+persistentvolumeclaims web-scratch"]
    body = made.body  # type: ignore[union-attr]
    assert body["metadata"]["labels"] == {"a": "b"}
    assert body["metadata"]["ownerReferences"][0]["uid"] == "uid-web"
    assert body["spec"] == {"x": 1}
    assert volume_claims(web, lambda name: name == "web-scratch") == []
    informers = Informers()
    controller = EphemeralVolumes(informers)
    woken: list[tuple[str, str]] = []
    controller.watch(woken.append)
    informers.pods.put(web)
    assert shown(controller.plan(woken[0], moment())) == ["+persistentvolumeclaims web-scratch"]


def test_a_template_becomes_a_claim_and_the_pod_is_told_its_name() -> None:
    web = pod("web", spec={"resourceClaims": [GPU]})
    (made,) = device_claims(web, [], lambda _: TEMPLATE)
    assert shown([made]) == ["+resourceclaims web-gpu-*"]
    body = made.body  # type: ignore[union-attr]
    assert body["metadata"]["annotations"] == {POD_CLAIM: "gpu"}
    assert body["spec"] == {"devices": {"requests": []}}
    (told,) = device_claims(web, [claim()], lambda _: TEMPLATE)
    status = told.body["status"]  # type: ignore[union-attr]
    assert status["resourceClaimStatuses"] == [{"name": "gpu", "resourceClaimName": "web-gpu-x1"}]
    statuses = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "web-gpu-x1"}]}
    knowing = pod("web", spec={"resourceClaims": [GPU]}, status=statuses)
    assert device_claims(knowing, [claim()], lambda _: TEMPLATE) == []
    assert device_claims(web, [], lambda _: None) == []


def finder(*pods: Pod) -> Any:
    return {each.name: each for each in pods}.get


def test_pods_that_are_through_lose_their_reservation() -> None:
    shared = claim(status=reserved("web", "other"))
    made = decide(shared, finder(pod("web", "Succeeded"), pod("other")))
    (patch,) = patches(made)
    assert patch.body["status"]["reservedFor"] == [
        {"resource": "pods", "name": "other", "uid": "uid-other"}
    ]
    assert "allocation" not in patch.body["status"]
    (last,) = patches(decide(claim(status=reserved("web")), finder()))
    assert last.body["status"] == {"reservedFor": None, "allocation": None, "devices": None}
    assert shown(decide(shared, finder(pod("web"), pod("other")))) == []


def test_a_claim_that_was_made_for_a_pod_goes_with_it_step_by_step() -> None:
    owner = {"ownerReferences": owned_by("Pod", "web"), "finalizers": [FINALIZER]}
    unreserved = claim(metadata=owner, status={"allocation": {"devices": {}}})
    assert shown(decide(unreserved, finder())) == ["~resourceclaims/status web-gpu-x1"]
    free = claim(metadata=owner)
    assert shown(decide(free, finder())) == ["~resourceclaims web-gpu-x1"]
    unheld = claim(metadata={"ownerReferences": owned_by("Pod", "web")})
    assert shown(decide(unheld, finder())) == ["-resourceclaims web-gpu-x1"]
    assert shown(decide(unheld, finder(pod("web")))) == []
    going = claim(metadata={"deletionTimestamp": timestamp()})
    assert shown(decide(going, finder())) == []


def test_pods_claims_and_templates_wake_each_other() -> None:
    informers = Informers()
    controller = ResourceClaims(informers)
    woken: list[tuple[str, str, str]] = []
    controller.watch(woken.append)
    web = pod("web", spec={"resourceClaims": [GPU]})
    informers.pods.put(web)
    assert woken == [("pod", "ns", "web")]
    assert shown(controller.plan(woken.pop(), moment())) == []
    informers.claim_templates.put(TEMPLATE)
    assert shown(controller.plan(woken.pop(), moment())) == ["+resourceclaims web-gpu-*"]
    informers.resource_claims.put(claim(status=reserved("web")))
    woken.clear()
    informers.pods.drop(web)
    assert woken == [("claim", "ns", "web-gpu-x1")]
    assert creations(controller.plan(woken[0], moment())) == []
