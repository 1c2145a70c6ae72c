"""What a new filter costs that reads a new field of pods: the field, a folder, a registration."""

import json
from pathlib import Path

from support.kubernetes.source_tree import SourceTree

PLUGIN = '''
"""HostnamePrefix: pods on nodes that are named like their hostname."""

from collections.abc import Iterable, Sequence

import numpy as np

from podium.plugin import (
    AttemptView, Cycle, Dependence, FilterPlugin, Finding, ProposedChange, Registration, Rows,
    Situation, Verdict, indices, rejecting, unresolvable,
)

OTHER_PREFIX = unresolvable("node(s) didn't begin with the pod's hostname")


class HostnamePrefix(FilterPlugin):
    name = "HostnamePrefix"

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        wanted = cycle.pod.pod.spec.hostname
        names = [cycle.nodes.names[row] for row in indices(rows)]
        return rejecting(np.array([not name.startswith(wanted) for name in names]), OTHER_PREFIX)

    def filter_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(cycle.pod.shape.first.spec.hostname, usage=False, of_shape=True)

    def events(self) -> Sequence[Registration]:
        return ()

    def explain_rejections(self, view: AttemptView, among: object) -> list[Finding]:
        from podium.scheduler.plugins.hostname_prefix.causes import find_other_names

        return find_other_names(view, among)

    def propose_for(self, situation: Situation) -> Iterable[ProposedChange]:
        from podium.scheduler.plugins.hostname_prefix.proposals import propose_no_hostname

        return propose_no_hostname(situation)
'''
CAUSES = """
from podium.plugin import Finding


def find_other_names(view, among):
    wanted = view.pod.spec.hostname
    clause = f"{view.say(among, 'does', 'do')} not begin with {wanted}"
    return [Finding("other-prefix", wanted, among, clause, clause)]
"""
PROPOSALS = """
from msgspec.structs import replace

from podium.plugin import ChangeKind, ProposedChange


def propose_no_hostname(situation):
    if situation.nodes_near("HostnamePrefix"):
        pod = replace(situation.pod, spec=replace(situation.pod.spec, hostname=""))
        yield ProposedChange(
            "drop-hostname", "drop the hostname", ChangeKind.DROP_REQUIREMENT, pod
        )
"""
CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"plugins": {"filter": {"enabled": [{"name": "HostnamePrefix"}]}}}],
}


def add_field(text: str) -> str:
    text = text.replace('            "hostname",\n', "", 1)
    return text.replace(
        '    node_name: str = ""\n', '    node_name: str = ""\n    hostname: str = ""\n'
    )


def register(text: str) -> str:
    text += "\nfrom podium.scheduler.plugins.hostname_prefix.plugin import HostnamePrefix\n"
    return text + "\nIN_TREE = (*IN_TREE, HostnamePrefix)\n"


def node(name: str) -> dict[str, object]:
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def manifest(name: str, hostname: str) -> dict[str, object]:
    container = {"name": "c", "image": "i"}
    spec = {"hostname": hostname, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def test_a_new_field_and_its_filter_are_known_to_commands_at_once(tmp_path: Path) -> None:
    tree = SourceTree(tmp_path / "tree")
    tree.edit("kubernetes/kinds/pod.py", add_field)
    tree.edit("scheduler/plugins/__init__.py", register)
    tree.add("scheduler/plugins/hostname_prefix/__init__.py", "")
    tree.add("scheduler/plugins/hostname_prefix/plugin.py", PLUGIN)
    tree.add("scheduler/plugins/hostname_prefix/causes.py", CAUSES)
    tree.add("scheduler/plugins/hostname_prefix/proposals.py", PROPOSALS)
    assert {
        path for path in tree.edited if not path.startswith("scheduler/plugins/hostname_prefix/")
    } == {
        "kubernetes/kinds/pod.py",
        "scheduler/plugins/__init__.py",
    }
    pods = [manifest("r", "red"), manifest("b", "blue"), manifest("g", "green")]
    listed = {"apiVersion": "v1", "kind": "List", "items": [node("red-1"), node("blue-1"), *pods]}
    cluster, config = tmp_path / "cluster.json", tmp_path / "scheduler.json"
    cluster.write_text(json.dumps(listed))
    config.write_text(json.dumps(CONFIGURATION))
    inputs = ["-f", str(cluster), "--config", str(config)]
    commands = [
        ["simulate", *inputs, "-o", "json"],
        ["explain", "g", *inputs],
        ["why", "g", *inputs],
        ["what-if", *inputs, "--drain", "red-1"],
    ]
    told = json.loads(tree.run("support.scheduler.plugins.commands_at_work", json.dumps(commands)))
    simulated, explained, why, what_if = (text for _, text in told)

    # Pods of equal templates share answers: these differ in the new field alone.
    assert {pod["name"]: pod["node"] for pod in json.loads(simulated)["pods"]} == {
        "r": "red-1",
        "b": "blue-1",
        "g": None,
    }
    assert "All 2 nodes do not begin with green." in explained
    assert "drop the hostname" in why
    assert "default/r" in what_if
