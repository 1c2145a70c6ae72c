"""Records of kinds: where they are found, and what finding one loads."""

from support.kubernetes.source_tree import run_python

from podium.kubernetes.kinds.catalogue import CUSTOM, GROUPS, all_kinds, find_kind

LOADED = """
import sys
from podium.kubernetes import conversion, defaulting, kind_rules, strategy
from podium.kubernetes import tables, validation, warnings
from podium.kubernetes.kinds.catalogue import find_kind
prefix = "podium.kubernetes.kinds.groups."
print([name for name in sys.modules if name.startswith(prefix)])
find_kind("policy", "PodDisruptionBudget")
print([name.removeprefix(prefix) for name in sys.modules if name.startswith(prefix)])
print("podium.kubernetes.validation.pods" in sys.modules)
"""


def test_only_groups_that_were_asked_for_are_loaded() -> None:
    assert run_python(LOADED).splitlines() == ["[]", "['policy']", "False"]


def test_a_kind_is_found_by_group_and_name() -> None:
    assert find_kind("apps", "Deployment").plural == "deployments"
    assert find_kind("", "Event") is not find_kind("events.k8s.io", "Event")


def test_kinds_that_are_not_built_in_have_nothing_special() -> None:
    assert find_kind("apps", "Widget") is find_kind("example.com", "Deployment") is CUSTOM


def test_each_kind_has_one_record_in_the_module_of_its_group() -> None:
    keys = [(each.group, each.kind) for each in all_kinds()]
    assert len(set(keys)) == len(keys)
    assert {group for group, _ in keys} == set(GROUPS)
