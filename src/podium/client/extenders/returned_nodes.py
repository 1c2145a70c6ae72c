"""Nodes that an extender gives back in full.

They take the place of what the cluster knows for the rest of the cycle, and later extenders are
sent them as they came (`pkg/scheduler/extender.go`, `Filter`). A typed node holds only what
scheduling reads, so one that came back also keeps its bytes.

Names of members count in any capitalisation, at every depth. msgspec knows only the right one, so
nodes whose text has a member that differs from a known one by case alone are read leniently.
"""

import re
from functools import lru_cache
from typing import Final

import msgspec

from podium.client.extenders import wire
from podium.client.extenders.lenient import SHAPES, UNDECODABLE, lenient_decoder, names_within
from podium.kubernetes.kinds.countable import is_countable
from podium.kubernetes.kinds.node import Node

_MEMBER_NAME: Final = re.compile(rb'"([A-Za-z]+)"[ \t\r\n]*:')
_WAY: Final = ((None, "Nodes", None), "items", SHAPES.struct(wire.NodeList))
_NAMES: Final = names_within(Node)
_FOLDED: Final = frozenset(name.casefold() for name in _NAMES)

_exactly: Final = msgspec.json.Decoder(Node)
_leniently: Final = lenient_decoder(Node, way=_WAY)


class ReturnedNode(Node, frozen=True):
    """A node as an extender wrote it."""

    written: bytes = b""


def read_node(raw: msgspec.Raw) -> ReturnedNode:
    """Raises DecodingProblem."""
    written = bytes(raw)
    node = _read_exactly(written) or _leniently(written)
    return ReturnedNode(metadata=node.metadata, spec=node.spec, status=node.status, written=written)


def _read_exactly(written: bytes) -> Node | None:
    """The node, if it is spelled as the API spells it."""
    if any(_is_misspelled(name) for name in set(_MEMBER_NAME.findall(written))):
        return None
    try:
        node = _exactly.decode(written)
    except UNDECODABLE:
        return None
    return node if is_countable(node) else None


@lru_cache(maxsize=4096)
def _is_misspelled(name: bytes) -> bool:
    text = name.decode()
    return text not in _NAMES and text.casefold() in _FOLDED
