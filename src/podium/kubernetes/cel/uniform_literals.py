"""Elements of a list and keys and values of a map are of one type, `dyn` being one of its own.

What `format` is given is exempt. Known only when all types are solved, so it is looked at last.
"""

from collections.abc import Callable, Iterator

from podium.kubernetes.cel.errors import IssueError
from podium.kubernetes.cel.syntax import Node
from podium.kubernetes.cel.types import Type


class UniformLiterals:
    """The parts of an expression's literals."""

    def __init__(self) -> None:
        self._literals: list[list[tuple[Node, Type]]] = []

    def begin(self) -> list[tuple[Node, Type]]:
        """A list for parts that have to be of one type."""
        parts: list[tuple[Node, Type]] = []
        self._literals.append(parts)
        return parts

    def issues(self, solved: Callable[[Type], Type]) -> Iterator[IssueError]:
        for parts in self._literals:
            wanted = solved(parts[0][1]) if parts else None
            for node, found in parts[1:]:
                if solved(found) != wanted:
                    told = f"expected type '{wanted}' but found '{solved(found)}'"
                    yield IssueError(told, node.offset)
                    break
