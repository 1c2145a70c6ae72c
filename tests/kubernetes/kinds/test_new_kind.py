"""What a new built-in API kind costs: its record, and its fields in the release's data."""

import json
from pathlib import Path

from support.kubernetes.source_tree import SourceTree

RECORD = """

def _set_defaults(window):
    window.setdefault("spec", {}).setdefault("minutes", 60)


def _errors(window, _old=None):
    minutes = window["spec"].get("minutes")
    return [] if minutes > 0 else [invalid("spec.minutes", minutes, "must be positive")]


def _about_length(window):
    if window["spec"]["minutes"] >= 60:
        yield "spec.minutes: an hour is long"


def _cells(window, _now):
    return [window["metadata"]["name"], window["spec"]["minutes"]]


KINDS = (
    *KINDS,
    Kind(
        "policy",
        "MaintenanceWindow",
        "maintenancewindows",
        ("mw",),
        description="When a node may be taken down.",
        has_status=True,
        defaults=_set_defaults,
        validation=Validation(_errors, _errors),
        strategy=WriteStrategy(empty_status={"phase": "Shut"}, counted=("spec",)),
        printer=Printer(columns_of("Name", "Minutes:integer"), _cells),
        warnings=Warnings(always=_about_length),
        selectable_fields=read_texts("spec.nodeName"),
        selector_refusal="windows have no {field}",
    ),
)
"""
IMPORTS = """
from podium.kubernetes.kinds.record import Printer, Warnings
from podium.kubernetes.kinds.record import read_texts
from podium.kubernetes.rules.field_errors import invalid
from podium.kubernetes.tables.printer import columns_of
"""
TYPES = {
    "MaintenanceWindow": {
        "fields": [
            {"name": "TypeMeta", "inline": True},
            {"name": "metadata", "number": 1, "type": "ObjectMeta"},
            {"name": "spec", "number": 2, "type": "MaintenanceWindowSpec"},
            {"name": "status", "number": 3, "type": "MaintenanceWindowStatus"},
        ]
    },
    "MaintenanceWindowSpec": {
        "fields": [
            {"name": "nodeName", "number": 1, "type": "string"},
            {"name": "start", "number": 2, "type": "string"},
            {"name": "minutes", "number": 3, "type": "int32"},
        ]
    },
    "MaintenanceWindowStatus": {"fields": [{"name": "phase", "number": 1, "type": "string"}]},
}


def add_record(text: str) -> str:
    return text + IMPORTS + RECORD


def add_types(text: str) -> str:
    release = json.loads(text)
    release["types"]["policy"].update(TYPES)
    return json.dumps(release)


def test_a_new_kind_is_its_record_and_its_fields(tmp_path: Path) -> None:
    tree = SourceTree(tmp_path)
    tree.edit("kubernetes/kinds/groups/policy.py", add_record)
    tree.edit("kubernetes/releases/v1_36.json", add_types)
    assert len(tree.edited) <= 2

    told = json.loads(tree.run("support.kubernetes.maintenance_windows"))

    assert told["resource"]["shortNames"] == ["mw"]
    assert told["resource"]["verbs"] == [
        *("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
    ]
    created = told["created"]
    assert created["spec"] == {"nodeName": "n1", "start": "22:00", "minutes": 60}
    assert created["status"] == {"phase": "Shut"}
    assert created["metadata"]["generation"] == 1
    assert told["warnings"] == ['299 - "spec.minutes: an hour is long"']
    assert told["unknown field"].endswith('strict decoding error: unknown field "spec.x"')
    assert told["refused"] == (
        'MaintenanceWindow.policy "c" is invalid: spec.minutes: Invalid value: -1: must be positive'
    )
    assert told["refused update"] == told["refused"].replace('"c"', '"a"')
    assert [each["metadata"]["name"] for each in told["selected"]["items"]] == ["b"]
    assert told["not selectable"] == "windows have no spec.start"
    assert told["patched"]["metadata"]["generation"] == 2
    assert (told["status"]["spec"]["minutes"], told["status"]["status"]) == (5, {"phase": "Open"})
    owned = {
        each["manager"]: each["fieldsV1"] for each in told["applied"]["metadata"]["managedFields"]
    }
    assert owned["tests"] == {"f:spec": {"f:minutes": {}}}
    assert [row["cells"] for row in told["table"]["rows"]] == [["a", 6], ["b", 60]]
    assert told["explained"] == "When a node may be taken down."
    assert told["protobuf"] == [200, told["applied"]["spec"]]
    changes = ["ADDED", "MODIFIED", "MODIFIED", "MODIFIED", "DELETED"]
    assert told["watched"] == [[change, "a"] for change in changes]
