"""Binding, eviction and the other paths below a pod."""

import pytest
from support.apiserver.api_calls import PODS, STRATEGIC, Api, Json

BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


def binding(name: str, node: str = "n1", **metadata: object) -> Json:
    return {"metadata": {"name": name, **metadata}, "target": {"kind": "Node", "name": node}}


def test_binding_assigns_the_node_and_says_that_the_pod_is_scheduled() -> None:
    api = Api()
    api.create_pod("p")
    api.patch(f"{PODS}/p/status", {"status": {"nominatedNodeName": "n2"}}, STRATEGIC)

    answer = api.ask("POST", f"{PODS}/p/binding", binding("p", annotations={"why": "x"}))
    found = api.get(f"{PODS}/p")

    assert (answer.status, answer.body["status"]) == (201, "Success")
    assert found["spec"]["nodeName"] == "n1"
    assert found["metadata"]["annotations"] == {"why": "x"}
    assert found["status"]["conditions"][0]["type"] == "PodScheduled"
    assert "nominatedNodeName" not in found["status"]


@pytest.mark.parametrize(
    ("prepare", "text"),
    [
        ("bound", 'pod p is already assigned to node "n1"'),
        ("gated", "pod p has non-empty .spec.schedulingGates"),
        ("dying", "pod p is being deleted, cannot be assigned to a host"),
    ],
)
def test_a_pod_that_is_not_free_refuses_a_binding(prepare: str, text: str) -> None:
    api = Api()
    if prepare == "gated":
        api.create_pod("p", schedulingGates=[{"name": "a.dev/g"}])
    else:
        api.create_pod("p")
    if prepare == "bound":
        api.ask("POST", f"{PODS}/p/binding", binding("p"))
    if prepare == "dying":
        api.patch(f"{PODS}/p", {"metadata": {"finalizers": ["a.dev/f"]}})
        api.delete(f"{PODS}/p")

    answer = api.ask("POST", f"{PODS}/p/binding", binding("p", "n2"))

    assert answer.status == 409
    assert answer.message == f'Operation cannot be fulfilled on pods/binding "p": {text}'


def test_bindings_that_make_no_sense_are_refused() -> None:
    api = Api()
    api.create_pod("p")
    path = f"{PODS}/p/binding"

    other = api.ask("POST", path, binding("q"))
    nowhere = api.ask("POST", path, binding("p", ""))
    wrong_uid = api.ask("POST", path, binding("p", uid="nope"))
    a_pod = api.ask("POST", path, {"apiVersion": "v1", "kind": "Pod"})

    assert other.message == "name in URL does not match name in Binding object"
    assert (nowhere.status, nowhere.message) == (500, "target.name: Required value")
    assert wrong_uid.status == 409
    assert "cannot be handled as a Binding" in a_pod.message


def test_a_dry_run_binds_nothing_and_the_old_path_binds_too() -> None:
    api = Api()
    api.create_pod("p")

    api.ask("POST", f"{PODS}/p/binding?dryRun=All", binding("p"))
    free = api.get(f"{PODS}/p")
    api.ask("POST", "/api/v1/namespaces/default/bindings", binding("p"))

    assert "nodeName" not in free["spec"]
    assert api.get(f"{PODS}/p")["spec"]["nodeName"] == "n1"


def guarded(allowed: int, *, generation: int = 1, healthy: int = 3) -> Api:
    api = Api()
    for name in ("a", "b"):
        api.create_pod(name, labels={"app": "web"}, nodeName="n", terminationGracePeriodSeconds=0)
        ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        api.patch(f"{PODS}/{name}/status", {"status": ready})
    selector = {"matchLabels": {"app": "web"}}
    api.create(
        BUDGETS, {"metadata": {"name": "guard"}, "spec": {"minAvailable": 2, "selector": selector}}
    )
    status = {
        "observedGeneration": generation,
        "disruptionsAllowed": allowed,
        "currentHealthy": healthy,
        "desiredHealthy": 2,
        "expectedPods": 3,
    }
    api.patch(f"{BUDGETS}/guard/status", {"status": status})
    return api


def evict(api: Api, name: str, query: str = "", **options: object) -> int:
    body = {"metadata": {"name": name}, "deleteOptions": options}
    return api.ask("POST", f"{PODS}/{name}/eviction{query}", body).status


def test_an_eviction_uses_up_a_disruption() -> None:
    api = guarded(1)

    first = evict(api, "a")
    second = api.ask("POST", f"{PODS}/b/eviction", {"metadata": {"name": "b"}})
    status = api.get(f"{BUDGETS}/guard")["status"]

    assert first == 201
    assert api.ask("GET", f"{PODS}/a").status == 404
    assert second.status == 429
    assert "does not allow evicting pods currently" in str(second.body["details"])
    assert status["disruptionsAllowed"] == 0
    assert status["disruptedPods"] == {"a": "2026-01-01T00:00:00Z"}
    assert status["conditions"][0]["reason"] == "InsufficientPods"


def test_a_budget_that_is_not_worked_out_yet_asks_to_come_back() -> None:
    answer = guarded(1, generation=0).ask("POST", f"{PODS}/a/eviction", {"metadata": {"name": "a"}})

    assert answer.status == 429
    assert answer.header("retry-after") == ["10"]


def test_a_budget_tells_how_many_it_needs() -> None:
    answer = guarded(0, healthy=2).ask("POST", f"{PODS}/a/eviction", {"metadata": {"name": "a"}})

    assert "needs 2 healthy pods and has 2 currently" in str(answer.body["details"])


def test_a_pod_that_is_not_ready_may_go_when_enough_others_are() -> None:
    api = guarded(0)
    api.patch(f"{PODS}/a/status", {"status": {"conditions": []}})

    assert evict(api, "a") == 201


def test_two_budgets_are_one_too_many() -> None:
    api = guarded(1)
    api.create(BUDGETS, {"metadata": {"name": "second"}, "spec": {"selector": {}}})

    assert evict(api, "a") == 500


def test_pods_that_have_not_begun_go_without_asking() -> None:
    api = guarded(0)
    api.create_pod("new", labels={"app": "web"})

    assert evict(api, "new") == 201
    assert evict(api, "a", "?dryRun=All") == 429
    assert evict(api, "nope") == 404


def test_an_eviction_keeps_the_preconditions_of_its_deletion() -> None:
    api = guarded(1)

    assert evict(api, "a", preconditions={"uid": "nope"}) == 409


def test_an_evicted_pod_says_why_it_goes() -> None:
    api = Api()
    api.create_pod("p", nodeName="n")

    evict(api, "p")

    condition = api.get(f"{PODS}/p")["status"]["conditions"][0]
    assert (condition["type"], condition["reason"]) == ("DisruptionTarget", "EvictionByEvictionAPI")


@pytest.mark.parametrize("subresource", ["exec", "attach", "portforward"])
def test_what_needs_a_running_container_is_not_supported(subresource: str) -> None:
    api = Api()
    api.create_pod("p", nodeName="n")

    answer = api.ask("GET", f"{PODS}/p/{subresource}")

    assert answer.status == 405
    assert "is not supported" in answer.message


@pytest.mark.parametrize(
    ("status", "text"),
    [
        ({"disruptionsAllowed": -1}, "pdb disruptions allowed is negative"),
        (
            {"disruptedPods": {f"p{n}": "2026-01-01T00:00:00Z" for n in range(2001)}},
            "DisruptedPods map too big",
        ),
    ],
)
def test_a_budget_in_disorder_forbids_evictions(status: Json, text: str) -> None:
    api = guarded(1)
    stored = api.store.collection("poddisruptionbudgets.policy").get("default", "guard")
    assert stored is not None
    budgets = api.registry.table.get_required("poddisruptionbudgets", "policy")
    budget = api.registry.read(budgets, stored)
    budget["status"] |= status
    api.registry.replace(budgets, stored, budget, dry_run=False)

    answer = api.ask("POST", f"{PODS}/a/eviction", {"metadata": {"name": "a"}})

    assert answer.status == 403
    assert text in answer.message


def test_a_condition_that_holds_already_keeps_its_time() -> None:
    api = Api()
    api.create_pod("p", nodeName="n")
    evict(api, "p")
    first = api.get(f"{PODS}/p")["status"]["conditions"][0]
    api.clock.advance(5)

    evict(api, "p")

    assert api.get(f"{PODS}/p")["status"]["conditions"] == [first]


def test_the_name_of_an_eviction_is_the_pods() -> None:
    api = Api()
    api.create_pod("p")

    answer = api.ask("POST", f"{PODS}/p/eviction", {"metadata": {"name": "q"}})

    assert answer.message == "name in URL does not match name in Eviction object"
