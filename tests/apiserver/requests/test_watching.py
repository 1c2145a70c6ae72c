"""Watches: where they start, what they see, and when they cannot go on."""

import pytest
from support.apiserver.api_calls import PODS, Api, Watching

from podium.apiserver.requests.watching import Overtaken
from podium.apiserver.store.collection import History
from podium.kubernetes.status_errors import StatusError


def started(api: Api, query: str = "") -> Watching:
    return api.watch(f"{PODS}?watch=true{query}")


def test_a_watch_without_a_revision_starts_with_what_is_there() -> None:
    api = Api()
    api.create_pod("a")
    watching = started(api)
    api.create_pod("b")

    assert watching.seen() == [("ADDED", "a"), ("ADDED", "b")]


def test_a_watch_from_a_revision_sees_only_what_comes_after() -> None:
    api = Api()
    api.create_pod("a")
    revision = api.store.revision
    api.create_pod("b")
    api.patch(f"{PODS}/a", {"metadata": {"labels": {"x": "y"}}})

    watching = started(api, f"&resourceVersion={revision}")

    assert watching.seen() == [("ADDED", "b"), ("MODIFIED", "a")]


def test_an_object_that_stops_matching_is_deleted_for_the_watcher() -> None:
    api = Api()
    api.create_pod("a", labels={"app": "x"})
    watching = started(api, f"&resourceVersion={api.store.revision}&labelSelector=app%3Dx")

    api.patch(f"{PODS}/a", {"metadata": {"labels": {"app": "z"}}})
    api.patch(f"{PODS}/a", {"metadata": {"labels": {"app": "x"}}})
    (gone, back) = watching.events()

    assert (gone["type"], back["type"]) == ("DELETED", "ADDED")
    assert gone["object"]["metadata"]["labels"] == {"app": "x"}
    assert int(gone["object"]["metadata"]["resourceVersion"]) < int(
        back["object"]["metadata"]["resourceVersion"]
    )


def test_a_watch_of_one_namespace_sees_no_other() -> None:
    api = Api()
    api.create("/api/v1/namespaces", {"metadata": {"name": "other"}})
    watching = started(api)
    everywhere = api.watch("/api/v1/pods?watch=true")

    api.create(
        "/api/v1/namespaces/other/pods",
        {"spec": {"containers": [{"name": "c", "image": "x"}]}, "metadata": {"name": "far"}},
    )

    assert watching.seen() == []
    assert everywhere.seen() == [("ADDED", "far")]


def test_initial_events_can_be_left_out_or_asked_for() -> None:
    api = Api()
    api.create_pod("a")
    query = "&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"

    wanted = started(api, f"{query}&sendInitialEvents=true")
    unwanted = started(api, f"{query}&sendInitialEvents=false")

    assert wanted.seen() == [("ADDED", "a")]
    assert wanted.watch.tells_end_of_initial
    assert unwanted.seen() == []
    assert not unwanted.watch.tells_end_of_initial


def test_a_watch_of_the_future_waits_for_it() -> None:
    api = Api()
    watching = started(api, f"&resourceVersion={api.store.revision + 1}")

    api.create_pod("a")
    api.create_pod("b")

    assert watching.seen() == [("ADDED", "b")]


def test_a_watch_from_before_the_history_is_told_so() -> None:
    api = Api()
    api.store.collection("pods").history = History(api.store.revision + 10)

    answer = api._respond(
        "GET", f"{PODS}?watch=true&resourceVersion=2", None, "a-token-for-tests", "", "", {}
    )

    problem = getattr(answer, "watch", None)
    assert isinstance(problem, StatusError)
    assert (problem.code, problem.reason) == (410, "Expired")
    assert problem.message.startswith("too old resource version: 2 (")


def test_a_watcher_that_the_history_overtakes_is_cut_off() -> None:
    api = Api()
    api.store.collection("pods").history = History(api.store.revision, max_changes=3)
    watching = started(api, f"&resourceVersion={api.store.revision}")

    for number in range(10):
        api.create_pod(f"p{number}")

    assert watching.watch.is_behind
    with pytest.raises(Overtaken):
        watching.events()


def test_a_resumed_watch_misses_nothing() -> None:
    api = Api()
    first = started(api)
    api.create_pod("a")
    seen = first.events()
    api.create_pod("b")
    api.delete(f"{PODS}/a")

    again = started(api, f"&resourceVersion={seen[-1]['object']['metadata']['resourceVersion']}")

    assert again.seen() == [("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "a")]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("&sendInitialEvents=true", 422),
        ("&resourceVersionMatch=NotOlderThan&resourceVersion=1", 422),
        ("&continue=x", 422),
        ("&resourceVersion=abc", 500),
        ("&labelSelector=%3D", 400),
    ],
)
def test_a_watch_that_makes_no_sense_is_refused(query: str, status: int) -> None:
    assert Api().ask("GET", f"{PODS}?watch=true{query}").status == status


def test_tables_are_watched_with_columns_in_the_first_event_only() -> None:
    api = Api()
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
    watching = api.watch(f"{PODS}?watch=true", accept=accept)
    api.create_pod("a")
    api.create_pod("b")

    first, second = watching.events()

    assert first["object"]["columnDefinitions"][0]["name"] == "Name"
    assert second["object"]["columnDefinitions"] is None
    assert second["object"]["rows"][0]["cells"][0] == "b"
