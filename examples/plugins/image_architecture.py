"""Keep pods off nodes whose processor their images were not built for.

A pod says what it runs on: `example.com/architectures: amd64,arm64`. Without that it runs anywhere.
"""

from podium.plugin import NodeFilterPlugin, NodeView, Pod, Status, unresolvable

ANNOTATION = "example.com/architectures"
OTHER = unresolvable("node(s) had another architecture than the image")


class ImageArchitecture(NodeFilterPlugin):
    name = "ImageArchitecture"

    def filter_node(self, pod: Pod, node: NodeView) -> Status | None:
        built_for = (pod.metadata.annotations or {}).get(ANNOTATION)
        if built_for is None or node.labels.get("kubernetes.io/arch") in built_for.split(","):
            return None
        return OTHER
