"""Deletion: grace, finalizers, propagation, preconditions, collections."""

import pytest
from support.apiserver.api_calls import CONFIG_MAPS, PODS, Api, Json, config_map, pod

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
TEMPLATE: Json = {
    "metadata": {"labels": {"app": "d"}},
    "spec": {"containers": [{"name": "c", "image": "x"}]},
}
DEPLOYMENT = {
    "metadata": {"name": "d"},
    "spec": {"selector": {"matchLabels": {"app": "d"}}, "template": TEMPLATE},
}


def test_an_object_without_grace_is_gone_at_once() -> None:
    api = Api()
    uid = api.create(CONFIG_MAPS, config_map("c"))["metadata"]["uid"]

    status = api.delete(f"{CONFIG_MAPS}/c")

    assert status["details"] == {"name": "c", "kind": "configmaps", "uid": uid}
    assert api.ask("GET", f"{CONFIG_MAPS}/c").status == 404


def test_a_pod_without_a_node_goes_at_once_and_watchers_see_two_steps() -> None:
    api = Api()
    api.create_pod("p")
    watching = api.watch(f"{PODS}?watch=true&resourceVersion={api.store.revision}")

    shown = api.delete(f"{PODS}/p")

    assert shown["metadata"]["deletionGracePeriodSeconds"] == 0
    assert shown["metadata"]["generation"] == 2
    assert watching.seen() == [("MODIFIED", "p"), ("DELETED", "p")]


def test_a_pod_on_a_node_waits_for_its_grace_period() -> None:
    api = Api()
    api.create_pod("p", nodeName="n", terminationGracePeriodSeconds=40)

    shown = api.delete(f"{PODS}/p")

    assert shown["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:40Z"
    assert api.get(f"{PODS}/p")["metadata"]["deletionGracePeriodSeconds"] == 40


def test_a_grace_period_can_be_shortened_and_not_extended() -> None:
    api = Api()
    api.create_pod("p", nodeName="n")
    api.delete(f"{PODS}/p")
    api.clock.advance(3)

    shorter = api.delete(f"{PODS}/p", {"gracePeriodSeconds": 5})
    longer = api.delete(f"{PODS}/p", {"gracePeriodSeconds": 50})
    api.delete(f"{PODS}/p", {"gracePeriodSeconds": 0})

    assert shorter["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:05Z"
    assert longer["metadata"] == shorter["metadata"]
    assert api.ask("GET", f"{PODS}/p").status == 404


def test_a_pod_that_has_ended_needs_no_grace() -> None:
    api = Api()
    api.create_pod("p", nodeName="n")
    api.patch(f"{PODS}/p/status", {"status": {"phase": "Succeeded"}})

    api.delete(f"{PODS}/p")

    assert api.ask("GET", f"{PODS}/p").status == 404


def test_finalizers_hold_an_object_until_the_last_is_taken_away() -> None:
    api = Api()
    obj = config_map("c")
    obj["metadata"]["finalizers"] = ["a.dev/x", "a.dev/y"]
    api.create(CONFIG_MAPS, obj)

    held = api.delete(f"{CONFIG_MAPS}/c")
    api.patch(f"{CONFIG_MAPS}/c", {"metadata": {"finalizers": ["a.dev/y"]}})
    still = api.get(f"{CONFIG_MAPS}/c")
    api.patch(f"{CONFIG_MAPS}/c", {"metadata": {"finalizers": None}})

    assert held["metadata"]["deletionGracePeriodSeconds"] == 0
    assert still["metadata"]["deletionTimestamp"] == held["metadata"]["deletionTimestamp"]
    assert api.ask("GET", f"{CONFIG_MAPS}/c").status == 404


@pytest.mark.parametrize(
    ("options", "finalizers"),
    [
        ({"propagationPolicy": "Foreground"}, ["foregroundDeletion"]),
        ({"propagationPolicy": "Orphan"}, ["orphan"]),
        ({"orphanDependents": True}, ["orphan"]),
    ],
)
def test_propagation_is_left_to_finalizers(
    options: dict[str, object], finalizers: list[str]
) -> None:
    api = Api()
    api.create(DEPLOYMENTS, DEPLOYMENT)

    shown = api.delete(f"{DEPLOYMENTS}/d", options)

    assert shown["metadata"]["finalizers"] == finalizers
    assert shown["metadata"]["generation"] == 2


def test_a_later_background_deletion_overrides_a_foreground_one() -> None:
    api = Api()
    api.create(DEPLOYMENTS, DEPLOYMENT)
    api.delete(f"{DEPLOYMENTS}/d", {"propagationPolicy": "Foreground"})

    status = api.delete(f"{DEPLOYMENTS}/d", {"propagationPolicy": "Background"})

    assert status["status"] == "Success"
    assert api.ask("GET", f"{DEPLOYMENTS}/d").status == 404


@pytest.mark.parametrize(
    ("preconditions", "text"),
    [
        ({"uid": "nope"}, "the UID in the precondition (nope) does not match"),
        ({"resourceVersion": "1"}, "the ResourceVersion in the precondition (1) does not match"),
    ],
)
def test_preconditions_must_hold(preconditions: dict[str, str], text: str) -> None:
    api = Api()
    api.create_pod("p")

    answer = api.ask("DELETE", f"{PODS}/p", {"preconditions": preconditions})

    assert answer.status == 409
    assert text in answer.message
    assert api.ask("GET", f"{PODS}/p").status == 200


def test_a_dry_run_deletes_nothing() -> None:
    api = Api()
    api.create_pod("p")
    revision = api.store.revision

    shown = api.delete(f"{PODS}/p?dryRun=All")

    assert "deletionTimestamp" in shown["metadata"]
    assert api.store.revision == revision


def test_options_that_contradict_each_other_are_refused() -> None:
    api = Api()

    both = {"orphanDependents": True, "propagationPolicy": "Orphan"}
    answer = api.ask("DELETE", f"{PODS}/p", both)
    odd = api.ask("DELETE", f"{PODS}/p?propagationPolicy=Never")

    assert "cannot be both set" in answer.message
    assert 'supported values: "Foreground", "Background", "Orphan", "nil"' in odd.message


def test_a_collection_is_deleted_by_selector() -> None:
    api = Api()
    for name, label in (("a", "x"), ("b", "y"), ("c", "x")):
        api.create(PODS, pod(name, labels={"k": label}))

    deleted = api.delete(f"{PODS}?labelSelector=k%3Dx")

    assert [item["metadata"]["name"] for item in deleted["items"]] == ["a", "c"]
    assert [item["metadata"]["name"] for item in api.get(PODS)["items"]] == ["b"]


def test_a_namespace_is_marked_and_goes_with_its_finalizers() -> None:
    api = Api()
    path = "/api/v1/namespaces/n"
    api.create("/api/v1/namespaces", {"metadata": {"name": "n"}})

    marked = api.delete(path)
    refused = api.ask("POST", f"{path}/pods", pod("late"))
    api.ask("PUT", f"{path}/finalize", {"metadata": {"name": "n"}, "spec": {"finalizers": []}})

    assert marked["status"]["phase"] == "Terminating"
    assert refused.status == 403
    assert api.ask("GET", path).status == 404


def test_system_namespaces_stay() -> None:
    answer = Api().ask("DELETE", "/api/v1/namespaces/kube-system")

    assert answer.status == 403
    assert "this namespace may not be deleted" in answer.message


def test_jobs_orphan_their_pods_unless_told_otherwise() -> None:
    api = Api()
    path = "/apis/batch/v1/namespaces/default/jobs"
    spec = {"template": {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}}
    api.create(path, {"metadata": {"name": "j"}, "spec": spec})
    api.create(path, {"metadata": {"name": "k"}, "spec": spec})

    orphaning = api.delete(f"{path}/j")
    api.delete(f"{path}/k", {"propagationPolicy": "Background"})

    assert orphaning["metadata"]["finalizers"] == ["orphan"]
    assert api.ask("GET", f"{path}/k").status == 404


def test_a_deletion_that_waits_may_be_answered_as_accepted() -> None:
    api = Api()
    api.create_pod("p", nodeName="n")

    assert api.ask("DELETE", f"{PODS}/p", {"orphanDependents": False}).status == 202


def test_claims_are_shown_once_more_when_they_go() -> None:
    api = Api()
    path = "/api/v1/namespaces/default/serviceaccounts"
    api.create(path, {"metadata": {"name": "s"}})

    assert api.delete(f"{path}/s")["kind"] == "ServiceAccount"


def test_a_finalizer_can_be_set_on_a_namespace() -> None:
    api = Api()
    api.create("/api/v1/namespaces", {"metadata": {"name": "n"}})

    marked = api.delete("/api/v1/namespaces/n", {"propagationPolicy": "Foreground"})
    again = api.delete("/api/v1/namespaces/n")

    assert marked["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert again["metadata"] == marked["metadata"]
