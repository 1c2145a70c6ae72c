"""What a new controller costs: its file, and its name in the registry."""

import json
from pathlib import Path

from support.kubernetes.source_tree import SourceTree

CONTROLLER = '''
"""Node marks: every node says that somebody has seen it."""

from podium.kubernetes.controllers.controller import NOTHING, Plan, metadata_patch
from podium.kubernetes.controllers.controller import Wake
from podium.kubernetes.controllers.ownership import wake_changed
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.resources.resource_types import NODES
from podium.kubernetes.rules.timestamps import Moment

MARK = "example.com/seen"


class NodeMarks:
    name = "nodemarks"

    def __init__(self, stores: Stores) -> None:
        self._nodes = stores.nodes

    def watch(self, wake: Wake) -> None:
        wake_changed(self._nodes, wake)

    def plan(self, key: tuple[str, str], moment: Moment) -> Plan:
        node = self._nodes.find(key)
        if node is None or node.metadata.label(MARK):
            return NOTHING
        return Plan([metadata_patch(NODES, node, {"labels": {MARK: "yes"}})])
'''
REGISTERED = """
    "nodemarks": lambda context: node_marks.NodeMarks(context.informers),
    "podgc": """


def register(text: str) -> str:
    text = text.replace("        pod_gc,\n", "        node_marks,\n        pod_gc,\n", 1)
    deferred = '    node_marks = defer("podium.kubernetes.controllers.node_marks")\n'
    text = text.replace("else:\n", f"else:\n{deferred}", 1)
    return text.replace('\n    "podgc": ', REGISTERED, 1)


def test_a_new_controller_is_its_file_and_its_name(tmp_path: Path) -> None:
    tree = SourceTree(tmp_path)
    tree.add("kubernetes/controllers/node_marks.py", CONTROLLER)
    tree.edit("simulated/controller_registry.py", register)
    assert len(tree.edited) <= 2

    told = json.loads(
        tree.run("support.simulated.controller_at_work", "nodemarks", "example.com/seen")
    )

    assert told["labels"]["example.com/seen"] == "yes"
    assert "nodemarks" in told["known"]  # as `--controllers` of commands takes it
