"""Selectors over attributes that are lists (gate DRAListTypeAttributes)."""

import pytest

from podium.kubernetes.cel import CelError, CompileError, compile_selector, device_view
from podium.kubernetes.kinds.devices import DeviceAttribute

DEVICE = device_view(
    "d.io",
    multiple=False,
    attributes={
        "one": DeviceAttribute(int_=3),
        "ints": DeviceAttribute(ints=(1, 2, 3)),
        "names": DeviceAttribute(strings=("fish", "bird")),
        "flags": DeviceAttribute(bools=(True, True)),
        "versions": DeviceAttribute(versions=("1.0.0", "2.1.0")),
        "none": DeviceAttribute(strings=()),
    },
    capacity=None,
    lists=True,
)


def attribute(rest: str) -> str:
    return f'device.attributes["d.io"].{rest}'


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("ints.includes(2)", True),
        ("ints.includes(2.0)", True),
        ("ints.includes(4)", False),
        ('ints.includes("2")', False),
        ("one.includes(3)", True),
        ('names.includes("bird")', True),
        ("flags.includes(false)", False),
        ('versions.includes(semver("2.1.0"))', True),
        ('versions.includes("2.1.0")', False),
        ('none.includes("x")', False),
        ("ints.exists(x, x > 2)", True),
        ('names.all(x, x.startsWith("f"))', False),
        ("ints.size() == 3", True),
        ("ints == [1, 2, 3]", True),
        ('versions[0].isLessThan(semver("1.5.0"))', True),
        ("flags[0]", True),
        ("ints.filter(x, x != 2).size() == 2", True),
    ],
)
def test_a_list_is_looked_into(expression: str, expected: bool) -> None:
    assert compile_selector(attribute(expression), lists=True).matches(DEVICE) is expected


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("one.exists(x, x == 3)", "got 'types.Int', expected iterable type"),
        ("one.all(i, v, v == 3)", "unsupported comprehension range type: types.Int"),
        ("ints > 2", "no such overload"),
        ("ints[7] == 1", "index out of bounds: 7"),
    ],
)
def test_what_does_not_fit_says_why(expression: str, problem: str) -> None:
    with pytest.raises(CelError) as found:
        compile_selector(attribute(expression), lists=True).matches(DEVICE)
    assert str(found.value) == problem


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        (attribute("one"), 4),
        (attribute("one.includes(1)"), 4 + 48),
        (attribute('one.includes(semver("1.0.0"))'), 4 + 48 + 1),
        (attribute("one.exists(x, x == 3)"), 389),
    ],
)
def test_costs_are_estimated_as_if_every_attribute_were_a_list(expression: str, cost: int) -> None:
    assert compile_selector(expression, lists=True).max_cost == cost


def test_includes_looks_at_48_values_at_most() -> None:
    assert compile_selector("lists.range(60).includes(5)", lists=True).matches(DEVICE)
    with pytest.raises(CelError, match="lists longer than 48 values"):
        compile_selector("lists.range(60).includes(55)", lists=True).matches(DEVICE)


def test_without_the_gate_a_list_spoils_the_device() -> None:
    with pytest.raises(CelError, match="attribute a: unsupported attribute value"):
        device_view(
            "d.io", multiple=False, attributes={"a": DeviceAttribute(ints=(1,))}, capacity=None
        )
    with pytest.raises(CompileError, match="cannot be range of a comprehension"):
        compile_selector(attribute("ints.exists(x, true)"))
