"""Variables as they are declared: their types, and how large their values can get."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Optional

from podium.kubernetes.cel.costs.sizes import Size
from podium.kubernetes.cel.types import STRING, Type

ITEMS: Final = "@items"
KEYS: Final = "@keys"
VALUES: Final = "@values"
INDICES: Final = "@indices"

SizeOfPath = Callable[[Sequence[str]], Size | None]
"""The size of what a path leads to: a variable, then fields, `@items`, `@keys` and `@values`."""


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """A type with its sizes; `fields` for objects, `element` for lists and maps.

    `min_bytes` is the least that a value takes in JSON.
    """

    type: Type
    max_elements: int = 0
    min_bytes: int = 2
    fields: Mapping[str, "Declared"] = field(default_factory=dict)
    key: Optional["Declared"] = None
    element: Optional["Declared"] = None


DECLARED_KEY: Final = Declared(STRING)
# upstream: keys of maps count as empty, since their declaration has no length


def size_of_path(root: Declared) -> SizeOfPath:
    """Sizes below one variable.

    upstream: the first part of a path is taken for the variable, whatever it is.
    """

    def find(path: Sequence[str]) -> Size | None:
        node: Declared | None = root
        for name in path[1:]:
            if node is None:
                return None
            if name in (ITEMS, VALUES):
                node = node.element
            elif name == KEYS:
                node = node.key
            else:
                node = node.fields.get(name)
        return None if node is None else Size(0, node.max_elements)

    return find
