"""The collection: every name leads to a plugin of that name, and every add-on to what it offers."""

import inspect
from importlib import import_module
from pkgutil import walk_packages

import pytest

import podium.addons.collection
import podium.addons.gpu.plugin
from podium.plugin import Plugin
from podium.user_code.plugins import find_plugin
from podium.user_code.shipped import ENTRY_POINTS, SHIPPED_PLUGINS, load_entry_point


def test_every_name_leads_to_the_plugin_that_has_it() -> None:
    for name in sorted(SHIPPED_PLUGINS):
        found = find_plugin(name)
        assert found is not None
        assert found.name == name


def test_other_names_lead_nowhere() -> None:
    assert find_plugin("NodeName") is None
    assert find_plugin("") is None


def test_every_plugin_that_add_ons_have_is_found_by_its_name() -> None:
    packages = (podium.addons.collection, podium.addons.gpu.plugin)
    names = [
        module.name
        for package in packages
        for module in walk_packages(package.__path__, f"{package.__name__}.")
    ]
    found = {
        kind.__dict__["name"]
        for name in names
        for kind in vars(import_module(name)).values()
        if inspect.isclass(kind) and issubclass(kind, Plugin) and kind.__module__ == name
        if kind.__dict__.get("name")
    }

    assert found == SHIPPED_PLUGINS


@pytest.mark.parametrize("group", ENTRY_POINTS)
def test_every_entry_point_can_be_loaded(group: str) -> None:
    for name in ENTRY_POINTS[group]:
        assert load_entry_point(group, name) is not None
