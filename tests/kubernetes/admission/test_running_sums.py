"""Sums over the objects of a namespace follow their changes, on a server and without one."""

from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.apiserver.api_calls import PODS, Api

from podium.apiserver.requests.registry import StoreLookup
from podium.golang.errors import ObjectError
from podium.kubernetes.admission.lookup import Lookup, Summaries
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.admission import Admission, served_kinds
from podium.offline.simulate.object_lookup import ObjectLookup


class Total:
    """The sum of `cpu` annotations, and how much work it was."""

    def __init__(self) -> None:
        self.value = 0
        self.steps = 0

    def add(self, summary: int) -> None:
        self.value += summary
        self.steps += 1

    def remove(self, summary: int) -> None:
        self.value -= summary
        self.steps += 1


def amount_of(obj: dict[str, Any]) -> int:
    return int((obj["metadata"].get("annotations") or {}).get("amount", 0))


def total_of(lookup: Lookup, namespace: str = "default") -> Total:
    return lookup.summaries("", "pods", namespace, amount_of).sum("total", Total)


def pod(name: str, amount: int, namespace: str = "default") -> dict[str, Any]:
    annotations = {"amount": str(amount)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "annotations": annotations},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "delete", "look"]), st.sampled_from("abc"), st.integers(0, 9)
    ),
    max_size=25,
)


@given(STEPS)
def test_a_server_s_sum_is_that_of_the_objects_that_it_has(
    steps: Iterable[tuple[str, str, int]],
) -> None:
    api = Api()
    lookup = StoreLookup(api.registry)
    known: dict[str, int] = {}
    for step, name, amount in steps:
        body = pod(name, amount)
        if step == "look":
            assert total_of(lookup).value == sum(known.values())
        elif step == "delete" and known.pop(name, None) is not None:
            api.delete(f"{PODS}/{name}")
        elif step == "put" and name in known:
            annotations = body["metadata"]["annotations"]
            api.patch(f"{PODS}/{name}", {"metadata": {"annotations": annotations}})
            known[name] = amount
        elif step == "put":
            api.create(PODS, body)
            known[name] = amount
    assert total_of(lookup).value == sum(known.values())
    assert dict(lookup.summaries("", "pods", "default", amount_of)) == known


@given(STEPS)
def test_a_sum_without_a_server_is_that_of_the_objects_that_were_put(
    steps: Iterable[tuple[str, str, int]],
) -> None:
    kinds = served_kinds(FeatureGates())
    pods = kinds.table.get_required("pods")
    lookup = ObjectLookup(kinds.table)
    known: dict[str, int] = {}
    for step, name, amount in steps:
        if step == "put":
            lookup.put(pods, pod(name, amount))
            lookup.put(pods, pod(name, 100, "other"))
            known[name] = amount
        elif step == "look":
            assert total_of(lookup).value == sum(known.values())
    assert dict(lookup.summaries("", "pods", "default", amount_of)) == known


def test_one_more_object_is_one_more_step_whatever_is_there() -> None:
    lookup = ObjectLookup(served_kinds(FeatureGates()).table)
    pods = served_kinds(FeatureGates()).table.get_required("pods")
    steps = []
    for number in range(300):
        lookup.put(pods, pod(f"p{number}", 1))
        steps.append(total_of(lookup).steps)
    assert steps == list(range(1, 301))


def test_a_sum_that_is_asked_for_later_has_what_was_there_before() -> None:
    summaries = Summaries([("a", 2), ("b", 3)])
    summaries.remove("a")
    assert summaries.sum("total", Total).value == 3
    summaries.put("b", 3)
    summaries.put("b", 4)
    summaries.remove("nobody")
    assert summaries.sum("total", Total).value == 4
    assert summaries.sum("total", Total).steps == 3


def test_a_manifest_s_pods_are_charged_one_by_one_under_a_quota() -> None:
    admission = Admission(FeatureGates())
    hard = {"requests.cpu": "1", "pods": "9"}
    quota = {"metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": hard}}
    admission.store({"apiVersion": "v1", "kind": "ResourceQuota", **quota})
    refused = []
    for number in range(12):
        body = pod(f"p{number}", 0)
        body["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "150m"}}
        try:
            admission.create_pod(body)
        except ObjectError as problem:
            refused.append(str(problem))
    assert len(refused) == 6
    assert all("used: requests.cpu=900m, limited: requests.cpu=1" in each for each in refused)


def test_a_pod_that_is_being_deleted_is_charged_until_its_grace_period_is_over() -> None:
    api = Api()
    hard = {"pods": "1", "count/pods": "9"}
    quotas = "/api/v1/namespaces/default/resourcequotas"
    api.create(quotas, {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    api.create_pod("leaving", nodeName="n", terminationGracePeriodSeconds=30)
    api.delete(f"{PODS}/leaving")

    refusal = api.ask("POST", PODS, pod("next", 0))
    assert "used: pods=1, limited: pods=1" in refusal.message
    # upstream: the time of deletion has the grace period in it, and it is added once more.
    api.clock.advance(61)
    api.create(PODS, pod("next", 0))
    api.delete(f"{PODS}/leaving", {"gracePeriodSeconds": 0})
    assert "used: pods=1," in api.ask("POST", PODS, pod("more", 0)).message
