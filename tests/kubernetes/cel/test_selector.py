"""Device selectors: the conformance table, and what a device looks like to an expression."""

import pytest

from podium.kubernetes.cel import (
    CelError,
    CompileError,
    compile_selector,
    device_view,
)
from podium.kubernetes.kinds.devices import DeviceAttribute, DeviceCapacity

DEVICE = device_view(
    "d.io",
    multiple=False,
    attributes={
        "s": DeviceAttribute(string="A100"),
        "i": DeviceAttribute(int_=3),
        "b": DeviceAttribute(bool_=True),
        "v": DeviceAttribute(version="1.3.0"),
        "other.io/s": DeviceAttribute(string="x"),
    },
    capacity={"mem": DeviceCapacity(value="80Gi")},
)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('device.driver == "d.io" && device.attributes["d.io"].s == "A100"', True),
        ('device.capacity["d.io"].mem.compareTo(quantity("40Gi")) >= 0', True),
        ('device.attributes["d.io"].v.isGreaterThan(semver("1.2.9"))', True),
        ('device.attributes["d.io"].v.isGreaterThan(semver("v1.2", true))', True),
        ('cel.bind(a, device.attributes["d.io"], a.s == "A100" && a.i > 2)', True),
        ('device.attributes["d.io"].b', True),
        ('"x" in device.attributes', False),
        ('"d.io" in device.attributes', True),
        ('device.attributes["d.io"].nope == 1 || true', True),
        ('device.attributes["d.io"].nope == 1 && device.driver == "x"', False),
        ('device.attributes["d.io"].s == 5', False),
        ('device.attributes["d.io"].i > 2.5', True),
        ('device.attributes["d.io"].i == 3.0', True),
        ('device.attributes["d.io"].v != "1.3.0"', True),
        ('device.attributes["d.io"].exists_one(k, k == "s")', True),
        ('device.attributes["d.io"].s.matches("^A[0-9]+$")', True),
        ('device.attributes["d.io"].s.lowerAscii().startsWith("a")', True),
        ('device.attributes["other.io"].s == "x"', True),
        ('device.attributes["d.io"].?numa.orValue(7) == 7', True),
        ('device.attributes["d.io"].s in ["T4", "A100"]', True),
        ('device.attributes["d.io"].i in ["T4"]', False),
        ('has(device.attributes["d.io"].s)', True),
        ('has(device.attributes["d.io"].nope)', False),
        ('has(device.attributes["x"].nope)', False),
        ('device.attributes["x"] == {}', True),
        ("has(device.attributes.x)", True),
        ("size(device.attributes) == 2", True),
        ('device.attributes.exists(k, k == "x")', False),
        ("device.allowMultipleAllocations", False),
        ('device.capacity["d.io"].mem == quantity("81920Mi")', True),
        ('device.attributes["d.io"].s.includes("A100")', True),
        ("true", True),
    ],
)
def test_a_selector_accepts_or_refuses(expression: str, expected: bool) -> None:
    assert compile_selector(expression).matches(DEVICE) is expected


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ('device.attributes["d.io"].nope == 1', "no such key: nope"),
        ('device.attributes["x"].nope == 1', "no such key: nope"),
        ('device.attributes["d.io"].s > 5', "no such overload"),
        ('device.attributes["d.io"].v == "1.3.0"', "no such overload"),
        ('device.attributes["d.io"].s.isGreaterThan(semver("1.0.0"))', "no such overload"),
        ('device.attributes["d.io"].s && true', "no such overload"),
        (
            'device.attributes["d.io"].s',
            "CEL result of type string could not be converted to bool: type conversion error from"
            " 'string' to 'bool'",
        ),
        ('quantity("x") == quantity("1")', "quantities must match the regular expression"),
        ('semver("1.2").major() == 1', "No Major.Minor.Patch elements found"),
        (
            'quantity("1") == quantity("1").add(0)',
            "no such overload",
        ),
    ],
)
def test_what_fails_on_a_device_says_why(expression: str, problem: str) -> None:
    with pytest.raises(CelError) as found:
        compile_selector(expression).matches(DEVICE)
    assert str(found.value).startswith(problem)


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("1", "must evaluate to bool or the unknown type, not int"),
        ('dyn("x")', "must evaluate to bool or the unknown type, not dyn"),
        ('device.capacity["d.io"].mem', "must evaluate to bool or the unknown type, not kubern"),
        ("device.nope", "undefined field 'nope'"),
        ("nope == 1", "undeclared reference to 'nope' (in container '')"),
        ('device.capacity["d.io"].mem == "80Gi"', "found no matching overload for '_==_' applied"),
        ('device.capacity["d.io"].mem > 5', "found no matching overload for '_>_' applied to"),
        ('device.attributes["d.io"].s.exists(c, true)', "expression of type 'any' cannot be range"),
        ('[1, "a"] == []', "expected type 'int' but found 'string'"),
        ('"a".matches("(")', "invalid matches argument"),
        ("device.driver == ", "Syntax error: mismatched input '<EOF>'"),
        ("device.driver == 'a", "Syntax error: token recognition error"),
        ("for == 1", "reserved identifier: for"),
        ("device.all(1, true)", "argument must be a simple name"),
        ("has(device)", "invalid argument to has() macro"),
    ],
)
def test_what_makes_no_sense_does_not_compile(expression: str, problem: str) -> None:
    with pytest.raises(CompileError) as found:
        compile_selector(expression)
    assert problem in str(found.value)


def test_a_compile_error_points_at_its_place() -> None:
    with pytest.raises(CompileError) as found:
        compile_selector('device.driver == "a" &&\n  device.nope')
    assert str(found.value) == (
        "compilation failed: ERROR: <input>:2:9: undefined field 'nope'\n"
        " |   device.nope\n"
        " | ........^"
    )


@pytest.mark.parametrize(
    ("attribute", "problem"),
    [
        (DeviceAttribute(version="1.2"), "attribute a: parse semantic version: No Major.Minor"),
        (DeviceAttribute(), "attribute a: unsupported attribute value"),
        (DeviceAttribute(strings=("x",)), "attribute a: unsupported attribute value"),
    ],
)
def test_an_attribute_without_a_usable_value_spoils_the_device(
    attribute: DeviceAttribute, problem: str
) -> None:
    with pytest.raises(CelError) as found:
        device_view("d.io", multiple=False, attributes={"a": attribute}, capacity=None)
    assert str(found.value).startswith(problem)


NUMBERS = "lists.range(400)"
LONG = "a" * 3000
DOUBLED = "".join(f"cel.bind(x{n + 1}, x{n} + x{n}, " for n in range(40))


@pytest.mark.parametrize(
    "expression",
    [
        f"{NUMBERS}.all(a, {NUMBERS}.all(b, {NUMBERS}.all(c, a + b + c >= 0))) || true",
        f'"{LONG}".replace("a", "{LONG}").replace("a", "{LONG}") == ""',
        f"cel.bind(x0, '{LONG}', {DOUBLED} x40 == ''{')' * 41}",
        f"cel.bind(x0, [1], {DOUBLED} x40 == []{')' * 41}",
        "lists.range(1000000000) == []",
        f"'{LONG * 3}'.matches('{LONG * 3}') || true",
    ],
)
def test_work_without_end_runs_into_the_cost_limit(expression: str) -> None:
    with pytest.raises(CelError) as found:
        compile_selector(expression).matches(DEVICE)
    assert str(found.value) == "operation cancelled: actual cost limit exceeded"


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        ('device.driver == ""', 2),
        ('device.driver == "dra.example.com"', 4),
        ('"dra.example.com" in device.attributes', 3),
        ('device.attributes["dra.example.com"].name', 4),
        ('device.attributes["dra.example.com"]["name"]', 4),
        ('cel.bind(dra, device.attributes["dra.example.com"], dra.name)', 15),
        ('device.attributes["dra.example.com"].name > 0', 5),
        ('device.attributes["dra.example.com"].name == "fish"', 5),
        ('device.attributes["no-such-domain"].noSuchAttr.isGreaterThan(quantity("0"))', 6),
    ],
)
def test_the_cost_of_a_selector_is_estimated_as_upstream_does(expression: str, cost: int) -> None:
    assert compile_selector(expression).max_cost == cost
