"""Values that expressions make: `Name{field: value}`."""

from typing import Any

import pytest

from podium.kubernetes.cel.environment import Environment
from podium.kubernetes.cel.errors import CompileError
from podium.kubernetes.cel.structs import StructType
from podium.kubernetes.cel.types import DYN, INT, STRING, map_of

POINT = StructType("Point", {"x": INT, "y": INT, "name": STRING})


def find(name: str) -> StructType | None:
    if name == "Point":
        return POINT
    return StructType(name, other_fields=DYN) if name.split(".", maxsplit=1)[0] == "Open" else None


ENVIRONMENT = Environment({"m": map_of(STRING, DYN)}, structs=find)


def value_of(expression: str) -> Any:
    return ENVIRONMENT.compile(expression).run({"n": 3})


def problem_of(expression: str) -> str:
    with pytest.raises(CompileError) as found:
        ENVIRONMENT.compile(expression)
    return str(found.value).splitlines()[0]


def test_a_value_has_its_type_and_its_fields() -> None:
    found = value_of("Point{x: 1, y: m.n}")

    assert found.type is POINT
    assert found.fields == {"x": 1, "y": 3}


def test_a_type_may_have_any_fields_and_a_name_with_dots() -> None:
    found = value_of("Open{a: Open.a{b: [1, 2]}}")

    assert found.fields["a"].type.name == "Open.a"
    assert found.fields["a"].fields == {"b": [1, 2]}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("Point{x: 1}.x", 1),
        ("Point{x: 1}.y", 0),
        ("Point{}.name", ""),
        ("has(Point{x: 1}.x) && !has(Point{x: 1}.y)", True),
        ("Point{x: 1} == Point{x: 1}", True),
        ("Point{x: 1} == Point{x: 2}", False),
        ("dyn(Open{}) == dyn(Open.a{})", False),
        ("dyn(Point{}) == dyn(1)", False),
        ("Point{x: 1} in [Point{x: 2}, Point{x: 1}]", True),
        ("type(Point{}) == Point", True),
        ("[3, 4].map(i, Point{x: i}).map(p, p.x)", [3, 4]),
    ],
)
def test_made_values_can_be_read_and_compared(expression: str, expected: object) -> None:
    assert value_of(expression) == expected


def test_an_optional_field_is_left_out_when_there_is_none() -> None:
    found = value_of("Open{?a: m[?'n'], ?b: m[?'nope']}")

    assert found.fields == {"a": 3}


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("Point{x: 'a'}", "1:8: expected type of field 'x' is 'int' but provided type is 'string'"),
        ("Point{z: 1}", "1:8: undefined field 'z'"),
        ("Other{}", "1:6: undeclared reference to 'Other' (in container '')"),
        ("string{}", "1:7: 'string' is not a message type"),
        ("m{}", "1:2: 'map(string, dyn)' is not a type"),
        ("Point{?x: 1}", "1:11: expected type 'optional_type(int)' but found 'int'"),
        ("Point{x: nope}", "1:10: undeclared reference to 'nope' (in container '')"),
        ("Point{x: 1}.z", "1:12: undefined field 'z'"),
        ("true ? Point{} : Open{}", "1:6: found no matching overload for '_?_:_' applied to"),
        ("Point{x}", "1:8: Syntax error: mismatched input '}' expecting ':'"),
        ("Point{1: 2}", "1:7: Syntax error: mismatched input '1' expecting {'}', ',', '?',"),
        ("Point{}.x{}", "1:10: Syntax error: mismatched input '{' expecting <EOF>"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(expression: str, problem: str) -> None:
    assert problem_of(expression).startswith(f"ERROR: <input>:{problem}")


def test_without_types_there_is_nothing_to_make() -> None:
    with pytest.raises(CompileError, match="undeclared reference to 'Point'"):
        Environment({}).compile("Point{}")


def test_bindings_are_no_macro_where_there_are_none() -> None:
    with pytest.raises(CompileError) as found:
        Environment({}, has_bindings=False).compile("cel.bind(x, 1, x == 1)")

    places = [line.split(": ")[1] for line in str(found.value).splitlines() if "ERROR" in line]
    assert places == ["<input>:1:1", "<input>:1:9", "<input>:1:10", "<input>:1:16"]
