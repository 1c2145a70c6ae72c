"""Plugins by name, and what cannot be one."""

import pytest
from fake_plugins import Arrival, Binder, filter_by

from podium.framework.points import POINTS, FilterPlugin, Plugin, serves
from podium.framework.registry import Registry, RegistryError


def test_plugins_are_found_by_name() -> None:
    registry = Registry([Arrival, Binder])
    assert registry.get("Binder") is Binder
    assert "Arrival" in registry
    assert "Other" not in registry
    assert list(registry) == ["Arrival", "Binder"]


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(RegistryError) as caught:
        Registry([Arrival, Binder]).get("Bindre")
    assert str(caught.value) == 'plugin "Bindre" does not exist; known: Arrival, Binder'


def test_a_plugin_needs_a_name() -> None:
    class Nameless(FilterPlugin):
        pass

    with pytest.raises(RegistryError, match="Nameless has no name"):
        Registry([Nameless])


def test_a_plugin_serves_some_point() -> None:
    class Idle(Plugin):
        name = "Idle"

    with pytest.raises(RegistryError, match="plugin Idle serves no extension point"):
        Registry([Idle])


def test_a_name_belongs_to_one_class() -> None:
    first, second = filter_by("Same", {}), filter_by("Same", {})
    registry = Registry([first, first])
    with pytest.raises(RegistryError, match=r"plugin name Same is taken by fake_plugins\."):
        registry.register(second)
    assert registry.get("Same") is first


def test_more_plugins_make_a_new_registry() -> None:
    registry = Registry([Arrival])
    larger = registry.with_plugins(Binder)
    assert "Binder" in larger
    assert "Binder" not in registry


def test_a_class_serves_the_points_it_inherits() -> None:
    assert [point for point in POINTS if serves(Binder, point)] == ["bind"]
    assert not serves(Binder, "unknown point")
