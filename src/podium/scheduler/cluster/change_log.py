"""Which rows changed since some moment, for as far back as anybody needs to know.

A moment is a generation: the number of changes so far. A vector that was right at a generation is
brought up to date by the rows logged after it; one that is too old is made anew.
"""

MAX_LOGGED = 8192


class ChangeLog:
    __slots__ = ("_rows", "generation")

    def __init__(self, generation: int = 0) -> None:
        self.generation = generation
        self._rows: list[int] = []

    def note(self, row: int) -> int:
        """Log a change and give its generation."""
        self.generation += 1
        self._rows.append(row)
        if len(self._rows) > 2 * MAX_LOGGED:
            del self._rows[:MAX_LOGGED]
        return self.generation

    def since(self, generation: int) -> list[int] | None:
        """Rows changed after a generation, possibly repeated; None if that is forgotten."""
        missing = self.generation - generation
        if missing == 0:
            return []
        return self._rows[-missing:] if missing <= len(self._rows) else None
