"""Objects that a real API server was asked to create, read from a file instead: a simulation stores
what the server stored, and refuses what it refused, in its words."""

from typing import Any

import pytest
from support.apiserver.apiserver_cases import recorded_steps
from support.apiserver.recorded_writes import comparable, place_of
from support.offline.simulate.simulator_and_server import GATES, admit, without_made_up

from podium.golang.errors import ObjectError
from podium.offline.simulate.admission import served_kinds
from podium.offline.simulate.inputs import READ_KINDS

Json = dict[str, Any]


def creations_of(case: str) -> list[tuple[str, Json, Json, list[Json]]]:
    """(step, what was sent, what was answered, what had been created before) of each creation of a
    kind that simulations read."""
    there: dict[tuple[str, str, str], Json] = {}
    found = []
    for step in recorded_steps(case):
        if step["kind"] == "kubectl" and step["args"][:2] == ["create", "priorityclass"]:
            made = _class_of_command(step["args"])
            there["PriorityClass", "", made["metadata"]["name"]] = made
        if step["kind"] == "kubectl" and step["args"][:2] == ["delete", "pc"]:
            for name in step["args"][2:]:
                there.pop(("PriorityClass", "", name), None)
        place = place_of(step["path"]) if step["kind"] == "http" else None
        if place is None or "rawBody" in step or place.subresource:
            continue
        kind, answer = place.resource.kind, step["expect"].get("body")
        if step["method"] == "DELETE":
            there.pop((kind, place.namespace, place.name), None)
        if step["method"] != "POST" or place.name or not answer or "?" in step["path"]:
            continue
        written = {**step["body"], "metadata": dict(step["body"].get("metadata") or {})}
        if (place.resource.api_version, kind) not in READ_KINDS or written.get("kind") != kind:
            continue
        if place.resource.namespaced:
            written["metadata"].setdefault("namespace", place.namespace)
        name = written["metadata"].get("name", "")
        status = step["expect"].get("status")
        if not name or status not in (201, 403, 422) or _has_unknown_fields(written):
            continue
        found.append((step["id"], written, answer, list(there.values())))
        if status == 201 and kind != "Pod":  # nobody looks pods up in these cases
            there[kind, written["metadata"].get("namespace", ""), name] = written
    return found


def _class_of_command(arguments: list[str]) -> Json:
    value = int(arguments[3].partition("=")[2])
    kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    return {**kind, "metadata": {"name": arguments[2]}, "value": value}


def _has_unknown_fields(written: Json) -> bool:
    """Which the requests of these cases did not forbid, and files do."""
    try:
        decoded = served_kinds(GATES).decode(written)
    except ObjectError:
        return False
    return decoded is not None and bool(decoded.strict)


def _comparable(obj: Json) -> Json:
    """What a file says of a node's status is kept as it is."""
    shown = comparable(without_made_up(obj))
    return {name: shown[name] for name in shown if (obj["kind"], name) != ("Node", "status")}


@pytest.mark.parametrize(
    ("case", "at_least"),
    [
        ("create-errors", 36),
        ("pod-defaults", 8),
        ("pods-crud", 3),
        ("nodes-crud", 3),
        ("pdbs-leases-events", 3),
        ("priority-classes", 14),
        ("resource-claims", 10),
        ("services-and-storage", 10),
    ],
)
def test_recorded_creations_have_the_recorded_outcome_offline(case: str, at_least: int) -> None:
    creations = creations_of(case)
    assert len(creations) >= at_least
    for step, written, answer, before in creations:
        outcome = admit(written, before)
        if answer["kind"] == "Status":
            causes = (answer.get("details") or {}).get("causes") or ()
            if answer["code"] == 422:
                wanted = tuple((each.get("field", ""), each["message"]) for each in causes)
                assert outcome.causes == wanted, step
            else:
                assert outcome.message == answer["message"], step
        else:
            assert outcome.stored is not None, (step, outcome)
            assert _comparable(outcome.stored) == _comparable(answer), step
