"""Tables that a real API server answered, against the cells of the same objects."""

from typing import Any

from support.apiserver.apiserver_cases import recorded_steps
from support.apiserver.recorded_writes import place_of, writes_of
from support.apiserver.written_objects import Object, Shelf

from podium.kubernetes.tables import cells, columns, row_conditions

NOW = 1_767_225_600.0  # the time that the objects of the shelf were made
AGES = {"Age", "First Seen", "Last Seen", "Duration"}
NOT_CREATED_ALONE = {"t1"}  # its deletion is not replayed


def without_descriptions(definitions: list[Object]) -> list[Object]:
    return [{key: each[key] for key in each if key != "description"} for each in definitions]


def row_of(resource: Any, obj: Object) -> dict[str, Any]:
    shown = [
        "<AGE>" if definition["name"] in AGES else cell
        for definition, cell in zip(columns(resource), cells(resource, obj, NOW), strict=True)
    ]
    conditions = row_conditions(resource, obj)
    return {"cells": shown, **({"conditions": conditions} if conditions else {})}


def test_recorded_tables_have_the_cells_that_the_stored_objects_give() -> None:
    shelf, compared = Shelf(), 0
    for _ in writes_of("tables", shelf):
        pass
    for step in recorded_steps("tables"):
        table = step["expect"].get("body") or {}
        place = place_of(step.get("path", "/api/v1/nodes"))
        if table.get("kind") != "Table" or place is None:
            continue
        assert columns(place.resource)
        if "columnDefinitions" in table:
            recorded = without_descriptions(table["columnDefinitions"])
            assert without_descriptions(columns(place.resource)) == recorded, step["id"]
        for row in table["rows"]:
            name = row["cells"][0]
            obj = shelf.find(place.resource.group, place.resource.plural, place.namespace, name)
            if obj is None or name in NOT_CREATED_ALONE:
                continue
            wanted = {key: row[key] for key in ("cells", "conditions") if key in row}
            assert row_of(place.resource, obj) == wanted, (step["id"], name)
            compared += 1
    assert compared >= 20
