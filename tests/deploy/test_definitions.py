"""The definitions of custom kinds that are shipped are those that Podium has, and all of them."""

import yaml
from support.deploy.shipped_manifests import DEPLOY

from podium.framework.watched_kind import unique_kinds
from podium.scheduler_plugins import COLLECTION, find_plugin

COMPONENT = DEPLOY / "components" / "scheduler-plugins"
WATCHED = unique_kinds(
    kind
    for name in sorted(COLLECTION)
    if (plugin := find_plugin(name)) is not None
    for kind in plugin.watched_kinds
)


def test_shipped_definitions_are_those_of_the_plugins() -> None:
    shipped = {path.stem: yaml.safe_load(path.read_text()) for path in COMPONENT.glob("crds/*")}
    defined = [kind.definition() for kind in WATCHED if kind.definition is not None]
    assert shipped == {each["metadata"]["name"]: each for each in defined}


def test_every_definition_and_the_rights_are_in_the_component() -> None:
    listed = yaml.safe_load((COMPONENT / "kustomization.yaml").read_text())["resources"]
    files = {str(path.relative_to(COMPONENT)) for path in COMPONENT.rglob("*.yaml")}
    assert {*listed, "kustomization.yaml"} == files


def test_the_role_of_the_component_has_every_kind_that_a_plugin_reads() -> None:
    role, _ = yaml.safe_load_all((COMPONENT / "cluster-role.yaml").read_text())
    granted = {
        (group, resource)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    assert granted == {(kind.group, kind.plural) for kind in WATCHED}
