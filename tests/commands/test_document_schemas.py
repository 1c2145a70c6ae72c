"""The schemas in `docs/schemas`: complete, coherent, and strict."""

import importlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from support.commands.command_line import EXAMPLE, ROOT, podium
from support.commands.document_schemas import SCHEMAS, kinds, load, problems, resolve

from podium.offline.simulate import PodOutcome
from podium.scheduler.framework.status import Code


def schemas_within(schema: Any) -> Iterator[Any]:
    """A schema and all that it is made of."""
    if isinstance(schema, dict):
        yield schema
        for keyword in ("properties", "$defs"):
            for inner in schema.get(keyword, {}).values():
                yield from schemas_within(inner)
        for keyword in ("items", "additionalProperties"):
            yield from schemas_within(schema.get(keyword))
        for keyword in ("anyOf", "oneOf", "prefixItems"):
            for inner in schema.get(keyword, ()):
                yield from schemas_within(inner)


@pytest.mark.parametrize("file", sorted(path.name for path in SCHEMAS.glob("*.json")))
def test_a_schema_describes_every_property_and_refers_to_what_is_there(file: str) -> None:
    schema = load(file)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for each in schemas_within(schema):
        for name, inner in each.get("properties", {}).items():
            target = resolve(inner["$ref"], file)[0] if "$ref" in inner else {}
            assert inner.get("description") or target.get("description"), name
        if "properties" in each:
            assert {*each.get("required", ())} <= {*each["properties"]}
        if "$ref" in each:
            resolve(each["$ref"], file)


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "tools")
    return importlib.import_module("document_schemas")


def test_every_kind_has_a_schema_and_every_schema_a_kind(generator: Any) -> None:
    structs = generator.find_documents()
    listed = {f"{kind}List" for kind, struct in structs.items() if struct.LISTED}
    assert kinds() == {*structs, *listed}


def test_schemas_are_what_the_structs_of_documents_say(generator: Any) -> None:
    """If this fails, `python tools/document_schemas.py` writes them anew."""
    said = generator.write_schemas()
    assert {"Capacity.json", "PluginList.json"} <= said.keys()
    assert {path.name for path in SCHEMAS.iterdir()} == said.keys()
    for name, text in said.items():
        assert (SCHEMAS / name).read_text() == text, name
        assert json.loads(text)["title"] == name.removesuffix(".json")


def test_a_schema_has_the_text_below_a_field_and_requires_what_is_always_written(
    generator: Any,
) -> None:
    schema = generator.schema_of(generator.find_documents()["Capacity"])
    node = schema["$defs"]["NodeRoom"]
    assert node["required"] == ["name", "fits", "reasons"]
    assert node["properties"]["fits"] == {
        "type": "integer",
        "minimum": 0,
        "description": "Copies that it takes.",
    }
    assert node["additionalProperties"] is False


def test_enumerations_are_those_of_the_code() -> None:
    parts = load("Explanation.json")["$defs"]
    assert parts["PodOutcome"]["enum"] == [outcome.value for outcome in PodOutcome]
    for part, field in (("PluginStatus", "code"), ("PostFilterAnswer", "status")):
        assert parts[part]["properties"][field]["enum"] == [code.label for code in Code]


def test_a_part_that_comes_in_several_forms_is_exactly_one_of_them(generator: Any) -> None:
    schema = generator.schema_of(generator.find_documents()["Explanation"])
    forms = schema["$defs"]["ExplainedNode"]["oneOf"]
    assert forms == [{"$ref": "#/$defs/FittingNode"}, {"$ref": "#/$defs/RejectedNode"}]
    fits = [schema["$defs"][name]["properties"]["fits"] for name in ("FittingNode", "RejectedNode")]
    assert [each["const"] for each in fits] == [True, False]


def test_story_knows_every_outcome_and_what_pods_that_ran_may_come_to() -> None:
    outcomes = load("Story.json")["properties"]["outcome"]["enum"]
    assert {*outcomes} == {*(outcome.value for outcome in PodOutcome), "running", "evicted"}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"more": 1}, ".more: not allowed"),
        ({"notes": None}, ".notes: None is no array"),
        ({"kind": "Story"}, ": lacks outcome"),
        ({"summary": {}}, ".summary: lacks nodes"),
        ({"pods": [{"outcome": "lost"}]}, ".pods[0].outcome: 'lost' is none of"),
        ({"evictions": [{"pod": "web"}]}, ".evictions[0].pod: 'web' does not match"),
        ({"incomplete": [{"kind": 7}]}, ".incomplete[0].kind: 7 is no string"),
        ({"apiVersion": "v2"}, ".apiVersion: 'v2' is not 'podium.dev/v1'"),
    ],
)
def test_a_document_that_is_not_so_is_noticed(
    change: dict[str, Any], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    document = podium(capsys, "simulate", *EXAMPLE, "-o", "json").decoded()
    assert any(each.startswith(problem) for each in problems({**document, **change}))
