"""Plugins of a user's own, as the text of a file."""

from collections.abc import Callable

SAYS_NO = """
    from podium.plugin import NodeFilterPlugin

    class SaysNo(NodeFilterPlugin):
        name = "SaysNo"

        def filter_node(self, pod, node):
            return "said no" if pod.metadata.name.startswith("bad") else None
"""

UNORDERED = """
from podium.plugin import QueueSortPlugin

class Unordered(QueueSortPlugin):
    name = "Unordered"

    def less(self, one, other):
        raise LookupError("no order")
"""

Source = Callable[..., str]
"""Writes a file of Python and gives its path."""
