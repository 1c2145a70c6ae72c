"""The definitions of custom kinds that are shipped are those that Podium has, and all of them."""

from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml
from support.deploy.shipped_manifests import DEPLOY

from podium.scheduler.framework.events import WatchedKind, unique_kinds
from podium.user_code.plugins import find_plugin
from podium.user_code.shipped import SHIPPED_PLUGINS

COMPONENT = DEPLOY / "components" / "scheduler-plugins"
APART = {"GPUShare": DEPLOY / "components" / "gpu-share" / "roles.yaml"}
"""Plugins whose rights are a component of their own."""


def watched(names: Iterable[str]) -> tuple[WatchedKind, ...]:
    return unique_kinds(
        kind
        for name in sorted(names)
        if (plugin := find_plugin(name)) is not None
        for kind in plugin.watched_kinds
    )


def granted(roles: Path) -> set[tuple[str, str]]:
    """What the first role of a file allows to watch."""
    role = next(yaml.safe_load_all(roles.read_text()))
    return {
        (group, resource)
        for rule in role["rules"]
        if "watch" in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


WATCHED = watched(SHIPPED_PLUGINS)


def test_shipped_definitions_are_those_of_the_plugins() -> None:
    shipped = {path.stem: yaml.safe_load(path.read_text()) for path in COMPONENT.glob("crds/*")}
    defined = [kind.definition() for kind in WATCHED if kind.definition is not None]
    assert shipped == {each["metadata"]["name"]: each for each in defined}


def test_every_definition_and_the_rights_are_in_the_component() -> None:
    listed = yaml.safe_load((COMPONENT / "kustomization.yaml").read_text())["resources"]
    files = {str(path.relative_to(COMPONENT)) for path in COMPONENT.rglob("*.yaml")}
    assert {*listed, "kustomization.yaml"} == files


def test_the_role_of_the_component_has_every_kind_that_a_plugin_reads() -> None:
    kinds = watched(SHIPPED_PLUGINS - APART.keys())
    assert granted(COMPONENT / "cluster-role.yaml") == {(kind.group, kind.plural) for kind in kinds}


@pytest.mark.parametrize("name", APART)
def test_a_plugin_with_a_component_of_its_own_has_its_kinds_there(name: str) -> None:
    assert granted(APART[name]) == {(kind.group, kind.plural) for kind in watched([name])}
