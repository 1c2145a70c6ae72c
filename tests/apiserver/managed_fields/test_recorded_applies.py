"""Server-side applies that a real API server was sent, and the owners it recorded."""

from typing import Any

from support.apiserver.apiserver_cases import parts_missing, recorded_steps

from podium.apiserver.managed_fields import Writer, apply, track_update
from podium.kubernetes.patching import merge_patch
from podium.kubernetes.schema import decode, schema_of
from podium.kubernetes.status_errors import StatusError

NOW = "2026-01-01T00:00:00Z"
CONFIG_MAP = schema_of("", "v1", "ConfigMap")
POD = schema_of("", "v1", "Pod")


def query(path: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in path.partition("?")[2].split("&") if pair)


def in_order_of_names(entries: list[Any]) -> list[Any]:
    return sorted(entries, key=lambda each: (each["operation"], each["manager"]))


def answer(live: dict[str, Any] | None, step: dict[str, Any]) -> dict[str, Any]:
    """The object after the step, or the Status that refuses it."""
    options = query(step["path"])
    schema = POD if "/pods/" in step["path"] else CONFIG_MAP
    subresource = "status" if "/status" in step["path"] else ""
    writer = Writer(options["fieldManager"], NOW, subresource)
    if "apply" not in step["headers"]["Content-Type"]:
        assert live is not None
        new = decode(merge_patch.apply(live, step["body"]), schema).value
        track_update(live, new, schema, writer)
        return new
    try:
        applied = apply(live, step["body"], schema, writer, options.get("force") == "true")
    except StatusError as error:
        return error.as_object()
    return decode(applied, schema).value


def is_an_apply_of_an_owner(step: dict[str, Any]) -> bool:
    others = ("configmaps/other", "=mmm")  # refused before it comes to applying
    path = step.get("path", "")
    return "fieldManager=" in path and not any(part in path for part in others)


def test_recorded_applies_give_the_recorded_objects_owners_and_conflicts() -> None:
    live: dict[str, dict[str, Any]] = {}
    compared = 0
    for step in recorded_steps("apply-server-side"):
        if step["kind"] != "http":
            continue
        name = "p" if "/pods/" in step["path"] else "cm"
        wanted = step["expect"]["body"]
        if is_an_apply_of_an_owner(step):
            found = answer(live.get(name), step)
            if "has been modified" in wanted.get("message", ""):
                assert found["metadata"]["resourceVersion"] == "1"
                continue
            if found["kind"] == "Status":
                assert found == wanted, step["id"]
            else:
                entries = found["metadata"].pop("managedFields")
                kept = wanted["metadata"]["managedFields"]
                assert in_order_of_names(entries) == in_order_of_names(kept), step["id"]
                found["metadata"].pop("generation", None)
                assert parts_missing(found, wanted) == [], step["id"]
            compared += 1
        if wanted["kind"] != "Status":
            live[name] = wanted
    assert compared >= 13
