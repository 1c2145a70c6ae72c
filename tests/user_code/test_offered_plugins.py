"""Plugins that installed packages offer by entry point."""

import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest
from support.commands.command_line import Write, writer
from support.user_code.plugin_files import SAYS_NO, Source

from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.types import API_VERSION, KIND
from podium.scheduler.plugins import in_tree_registry
from podium.user_code.plugins import equip

pytestmark = pytest.mark.usefixtures("own_modules")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


class Offers:
    """Stands in for installed packages."""

    def __init__(self, **values: str) -> None:
        self._offers = [EntryPoint(name, value, "podium.plugins") for name, value in values.items()]

    def add(self, name: str, value: str) -> None:
        self._offers.append(EntryPoint(name, value, "podium.plugins"))

    def __call__(self, *, group: str) -> EntryPoints:
        return EntryPoints(offer for offer in self._offers if offer.group == group)


@pytest.fixture
def offers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: Source) -> Offers:
    source(SAYS_NO, "installed_rules.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = Offers(SaysNo="installed_rules:SaysNo")
    monkeypatch.setattr("importlib.metadata.entry_points", found)
    return found


def naming(plugin: str) -> Any:
    plugins = {"filter": {"enabled": [{"name": plugin}]}}
    raw = {"apiVersion": API_VERSION, "kind": KIND, "profiles": [{"plugins": plugins}]}
    return equip(load_configuration(raw, gates=FeatureGates()), in_tree_registry(), [])


def test_a_plugin_of_an_installed_package_is_found_by_its_name(offers: Offers) -> None:
    assert "SaysNo" in naming("SaysNo").registry
    assert naming("SaysNo").notes == ()


def test_a_package_that_is_really_installed_is_found(
    tmp_path: Path, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    source(SAYS_NO, "real_rules.py")
    source("Metadata-Version: 2.1\nName: rules\nVersion: 1.0\n", "rules-1.0.dist-info/METADATA")
    source("[podium.plugins]\nSaysNo = real_rules:SaysNo\n", "rules-1.0.dist-info/entry_points.txt")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "SaysNo" in naming("SaysNo").registry


def test_a_package_is_not_loaded_unless_its_plugin_is_named(offers: Offers) -> None:
    offers.add("NodeName", "does_not_exist:X")
    assert "SaysNo" not in naming("NodeName").registry
    assert "installed_rules" not in sys.modules


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("Gone", "does_not_exist:X", "plugin Gone (does_not_exist:X): cannot be loaded: "),
        (
            "Odd",
            "podium.kubernetes.kinds.pod:Pod",
            "plugin Odd (podium.kubernetes.kinds.pod:Pod): is not a plugin class",
        ),
        (
            "Other",
            "installed_rules:SaysNo",
            "the class calls itself 'SaysNo', its entry point 'Other'",
        ),
        ("SaysNo", "elsewhere:SaysNo", "several packages offer a plugin named SaysNo: elsewhere"),
    ],
)
def test_an_offer_that_cannot_be_taken_says_why(
    offers: Offers, name: str, value: str, told: str
) -> None:
    offers.add(name, value)
    with pytest.raises(InputError) as caught:
        naming(name)
    assert told in str(caught.value)


def test_packages_are_looked_through_once_however_many_plugins_are_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[str] = []

    def look(*, group: str) -> EntryPoints:
        looks.append(group)
        return EntryPoints()

    monkeypatch.setattr("importlib.metadata.entry_points", look)
    names = [{"name": f"Unknown{number}"} for number in range(1_000)]
    profile = {"plugins": {"filter": {"enabled": names}}}
    raw = {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile]}
    equip(load_configuration(raw, gates=FeatureGates()), in_tree_registry(), [])
    assert looks == ["podium.plugins"]
