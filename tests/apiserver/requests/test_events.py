"""Events are one collection in two forms, and do not live for ever."""

from support.apiserver.api_calls import Api, Json

OLDER = "/api/v1/namespaces/default/events"
NEWER = "/apis/events.k8s.io/v1/namespaces/default/events"


def event(name: str) -> Json:
    return {
        "metadata": {"name": name},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
        "reason": "Scheduled",
        "note": "Successfully assigned",
        "action": "Binding",
        "type": "Normal",
        "reportingController": "default-scheduler",
        "reportingInstance": "here",
    }


def test_an_event_of_one_group_is_seen_in_the_other() -> None:
    api = Api()
    api.create(NEWER, event("e"))

    older = api.get(f"{OLDER}/e")
    watching = api.watch(f"{NEWER}?watch=true")

    assert older["message"] == "Successfully assigned"
    assert older["involvedObject"]["name"] == "p"
    assert older["reportingComponent"] == "default-scheduler"
    assert watching.events()[0]["object"]["note"] == "Successfully assigned"
    assert api.get(NEWER)["items"][0]["regarding"]["name"] == "p"


def test_a_patch_through_one_group_is_seen_in_the_other() -> None:
    api = Api()
    api.create(NEWER, event("e"))

    api.patch(f"{OLDER}/e", {"count": 3})

    assert api.get(f"{NEWER}/e")["deprecatedCount"] == 3


def test_events_are_forgotten_after_an_hour() -> None:
    api = Api()
    api.create(NEWER, event("first"))
    api.clock.advance(1800)
    api.create(NEWER, event("second"))
    api.patch(f"{OLDER}/first", {"count": 2})
    api.clock.advance(1801)

    api.create(NEWER, event("third"))

    names = [each["metadata"]["name"] for each in api.get(OLDER)["items"]]
    assert names == ["second", "third"]
