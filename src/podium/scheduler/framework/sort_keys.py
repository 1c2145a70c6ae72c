"""What the scheduling queue orders pods by: anything that can be compared with its like."""

from typing import Any, Protocol


class SortKey(Protocol):
    """A number, a text, a tuple of them, or a class of the plugin's own."""

    def __lt__(self, other: Any, /) -> bool: ...  # type: ignore[explicit-any]  # its like
