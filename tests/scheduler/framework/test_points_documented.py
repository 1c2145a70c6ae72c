"""Every extension point explains itself, with an example that works."""

import inspect
import textwrap
from typing import Any

import pytest

from podium import plugin as surface
from podium.scheduler.framework.points import POINTS, Plugin
from podium.scheduler.framework.registry import PluginRegistry
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_handle

CLASSES = sorted(
    (
        kind
        for kind in vars(surface).values()
        if isinstance(kind, type) and issubclass(kind, Plugin) and kind is not Plugin
    ),
    key=lambda kind: kind.__name__,
)


def example_of(kind: type[Plugin]) -> str:
    """The indented part of a docstring."""
    lines = inspect.cleandoc(kind.__doc__ or "").split("\n")
    return textwrap.dedent("\n".join(line for line in lines if not line or line[0] == " "))


def test_all_points_are_offered_to_plugin_authors() -> None:
    assert set(POINTS.values()) <= set(CLASSES)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_a_point_has_an_example_that_can_be_registered_and_built(kind: type[Plugin]) -> None:
    assert "__doc__" in vars(kind)
    made: dict[str, Any] = {name: getattr(surface, name) for name in surface.__all__}
    exec(example_of(kind), made)
    (own,) = (
        found
        for name, found in made.items()
        if isinstance(found, type) and issubclass(found, kind) and name not in surface.__all__
    )
    assert own.name in PluginRegistry([own])
    assert own.name not in in_tree_registry()
    assert own(None, make_handle()).name == own.name


@pytest.mark.parametrize("kind", [Plugin, *CLASSES], ids=lambda kind: kind.__name__)
def test_every_method_of_a_point_says_what_it_is_for(kind: type[Plugin]) -> None:
    silent = [
        name
        for name, method in vars(kind).items()
        if inspect.isfunction(method) and not name.startswith("_") and not _described(kind, name)
    ]
    assert silent == []


def _described(kind: type[Plugin], name: str) -> bool:
    """By itself or by the point that it serves."""
    found = (vars(parent).get(name) for parent in kind.__mro__)
    return any(getattr(method, "__doc__", None) for method in found)
