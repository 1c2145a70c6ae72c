"""A Policy in a ConfigMap is a Policy."""

import json
from typing import Any

import pytest
from support.scheduler.config.known_plugins import in_tree

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.examine import Examination, examine
from podium.scheduler.config.load import load_file

POLICY = """\
kind: Policy
apiVersion: v1
predicates:
- name: HostName
priorities:
- name: NodeAffinityPriority
  weight: 3
"""


def config_map(policy: str, key: str = "policy.cfg") -> str:
    body = "".join(f"    {line}\n" for line in policy.splitlines())
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: p\ndata:\n  {key}: |\n{body}"


def examined(text: str) -> Examination:
    return examine(text.encode(), in_tree(), gates=FeatureGates())


def test_it_loads_to_the_same_configuration() -> None:
    assert load_file(config_map(POLICY).encode(), gates=FeatureGates()) == load_file(
        POLICY.encode(), gates=FeatureGates()
    )


@pytest.mark.parametrize("kind", [POLICY, json.dumps({"kind": "Policy", "apiVersion": "v1"})])
def test_the_policy_may_be_yaml_or_json(kind: str) -> None:
    document: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap"}
    document["data"] = {"policy.cfg": kind}
    assert examined(json.dumps(document)).loads


def test_lines_are_those_of_the_file() -> None:
    (mistake,) = examined(config_map(POLICY + "foo: 1\n")).mistakes
    assert mistake.line == 14


def test_lines_are_left_out_where_they_cannot_be_known() -> None:
    document = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"policy.cfg": POLICY + "foo: 1"}}
    (mistake,) = examined(json.dumps(document)).mistakes
    assert (mistake.path, mistake.line) == ("foo", None)


@pytest.mark.parametrize("text", [config_map(POLICY, "other"), "apiVersion: v1\nkind: ConfigMap\n"])
def test_one_without_a_policy_is_refused_as_upstream_did(text: str) -> None:
    assert examined(text).message == 'missing policy config map value at key "policy.cfg"'
