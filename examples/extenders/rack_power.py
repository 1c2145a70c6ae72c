"""Keep pods out of racks that have no power to spare, and prefer those with the most.

A pod says what it draws (`example.com/watts: "350"`), a node what its rack can still give
(`example.com/spare-watts: "1200"`). A real one would ask the building instead of a label.
"""

from podium.addons.extenders import Extender, Nodes, Unresolvable
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod


class RackPower(Extender):
    def filter(self, pod: Pod, nodes: Nodes) -> dict[str, str]:
        needed = int((pod.metadata.annotations or {}).get("example.com/watts", "0"))
        reason = Unresolvable(f"rack(s) cannot give {needed} W more")
        return {node.metadata.name: reason for node in nodes if spare_watts(node) < needed}

    def prioritize(self, pod: Pod, nodes: Nodes) -> dict[str, int]:
        return {node.metadata.name: min(spare_watts(node) // 200, 10) for node in nodes}


def spare_watts(node: Node) -> int:
    return int((node.metadata.labels or {}).get("example.com/spare-watts", "0"))
