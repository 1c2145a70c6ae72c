"""Columns that a definition of custom resources names."""

from typing import Any

import pytest
from support.yardstick import interrupt_beyond, measure_work

from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.tables import columns, custom_printer
from podium.kubernetes.tables.custom import JsonPath, JsonPathError

WIDGET = ApiResource("g", "v1", "Widget", "widgets", "widget", True, is_custom=True)
MAX_YARDSTICKS = 10
NOW = 1_767_225_600.0
OBJECT: dict[str, Any] = {
    "metadata": {
        "name": "w",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": {"app.kubernetes.io/name": "x"},
    },
    "spec": {"count": 3, "ratio": 0.5, "on": True, "parts": [{"id": "a"}, {"id": "b"}]},
    "status": {
        "conditions": [
            {"type": "Ready", "status": "True", "n": 1},
            {"type": "Other", "status": "False"},
        ]
    },
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".spec.count", [3]),
        ("{.spec.count}", [3]),
        ("$.spec.count", [3]),
        (".metadata.labels['app.kubernetes.io/name']", ["x"]),
        (".metadata.labels.app\\.kubernetes\\.io/name", ["x"]),
        ('.metadata["name"]', ["w"]),
        (".spec.parts[0].id", ["a"]),
        (".spec.parts[-1].id", ["b"]),
        (".spec.parts[7].id", []),
        (".spec.parts[*].id", ["a", "b"]),
        (".spec.parts.*.id", ["a", "b"]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type=='Ready')].status", ["True"]),
        ('.status.conditions[?(@.type!="Ready")].status', ["False"]),
        (".status.conditions[?(@.n)].type", ["Ready"]),
        (".status.conditions[?(@.n==1)].type", ["Ready"]),
        (".status.conditions[?( @.type == 'Ready' )].status", ["True"]),
        (".metadata.labels['[?(@.x==y)]']", []),
        (".spec.absent.below", []),
        (".spec.count.below", []),
    ],
)
def test_paths_lead_to_fields(path: str, found: list[Any]) -> None:
    assert JsonPath(path).find(OBJECT) == found


@pytest.mark.parametrize(
    "path",
    [
        "spec",
        ".spec[",
        ".a[b]",
        ".a[?(@.x>1)]",
        ".a[?(@.x==y)]",
        ".a[?(@.x== )]",
        ".a[?(@.x==1)].b[?(@.x==y)]",
        "..",
        ".*a",
        ".a[" + "9" * 5_000 + "]",
        ".a[?(@.x==" + "[" * 100_000 + ")]",
    ],
    ids=lambda path: path[:30],
)
def test_paths_that_cannot_be_read_are_refused(path: str) -> None:
    with pytest.raises(JsonPathError):
        JsonPath(path)


@pytest.mark.parametrize(
    "path",
    [
        ".a" * 600_000,
        "[0]" * 400_000,
        "[?(@.a==1)]" * 100_000,
        ".a[?(@.a==" + " " * 1_000_000 + "]",
        ".a[?(@.a" + " " * 1_000_000 + "]",
        ".a[?(@" + ".a" * 500_000 + "]",
        ".a['" + "x" * 1_000_000,
    ],
    ids=lambda path: path[:9],
)
def test_a_path_as_long_as_an_object_may_be_is_read_within_a_budget(path: str) -> None:
    def read() -> list[Any]:
        try:
            return JsonPath(path).find(OBJECT)
        except JsonPathError:
            return []

    with interrupt_beyond(MAX_YARDSTICKS):
        found, yardsticks = measure_work(read)

    assert found == []
    assert yardsticks < MAX_YARDSTICKS


def cell(kind: str, path: str) -> Any:
    printer = custom_printer([{"name": "X", "type": kind, "jsonPath": path}])
    return printer.cells(OBJECT, NOW + 5)[1]


@pytest.mark.parametrize(
    ("kind", "path", "shown"),
    [
        ("integer", ".spec.count", 3),
        ("integer", ".spec.on", None),
        ("number", ".spec.ratio", 0.5),
        ("boolean", ".spec.on", True),
        ("boolean", ".spec.count", None),
        ("string", ".spec.count", "3"),
        ("string", ".spec.on", "true"),
        ("string", ".spec.parts", '[{"id":"a"},{"id":"b"}]'),
        ("string", ".spec.absent", None),
        ("date", ".metadata.creationTimestamp", "5s"),
        ("date", ".metadata.name", "<invalid>"),
        ("date", ".spec.count", None),
    ],
)
def test_cells_are_of_the_type_of_their_column(kind: str, path: str, shown: Any) -> None:
    assert cell(kind, path) == shown


def test_columns_keep_name_format_and_priority_and_follow_the_name() -> None:
    definition = {
        "name": "Min",
        "type": "integer",
        "format": "int32",
        "priority": 1,
        "jsonPath": ".spec.count",
        "description": "least",
    }
    printer = custom_printer([definition])
    assert [each["name"] for each in printer.columns] == ["Name", "Min"]
    assert printer.columns[1] == {
        "name": "Min",
        "type": "integer",
        "format": "int32",
        "priority": 1,
        "description": "least",
    }


def test_without_columns_name_and_age_are_shown() -> None:
    assert [each["name"] for each in columns(WIDGET)] == ["Name", "Age"]
    assert custom_printer(None).cells(OBJECT, NOW + 60) == ["w", "60s"]
    assert custom_printer([]).cells({"metadata": {"name": "w"}}, NOW) == ["w", None]


def test_columns_behind_one_that_cannot_be_read_are_not_shown() -> None:
    good = {"name": "A", "type": "integer", "jsonPath": ".spec.count"}
    bad = {"name": "B", "type": "integer", "jsonPath": ".spec["}
    printer = custom_printer([good, bad, good])
    assert printer.cells(OBJECT, NOW) == ["w", 3]
