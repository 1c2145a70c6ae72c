"""Everything that is wrong with an input, shown together.

Somebody who fixes a file wants to fix it once. Problems are collected over all files and raised as
one error; nothing is simulated with half an input.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from podium.api.errors import InputError, ObjectError
from podium.api.json_list_items import Located

MAX_SHOWN = 20


class InputProblems(InputError):
    """Several problems of one input, in the order in which they were met."""

    def __init__(self, problems: list[InputError]) -> None:
        super().__init__(f"{len(problems)} problems in the input")
        self.problems = tuple(problems)

    @property
    def lines(self) -> tuple[str, ...]:
        shown = [f"  {problem}" for problem in self.problems[:MAX_SHOWN]]
        left = len(self.problems) - len(shown)
        if left > 0:
            shown.append(f"  ... and {left} more")
        return (f"{self.problem}:", *shown)


class Problems:
    """Collects errors while the reading goes on."""

    def __init__(self) -> None:
        self._found: list[InputError] = []

    def add(self, problem: InputError) -> None:
        self._found.append(problem)

    @contextmanager
    def of(self, document: Located) -> Iterator[None]:
        """Keep what is raised about one document and carry on behind the block."""
        try:
            yield
        except InputError as problem:
            self.add(problem)
        except ObjectError as problem:
            for each in (problem, *problem.others):
                self.add(document.error(each.problem, path=each.path, remedy=each.remedy))

    def raise_if_any(self) -> None:
        if len(self._found) == 1:
            raise self._found[0]
        if self._found:
            raise InputProblems(self._in_reading_order())

    def _in_reading_order(self) -> list[InputError]:
        """File by file in the order in which they were met, document by document."""
        files = {source: at for at, source in enumerate(p.source for p in reversed(self._found))}
        return sorted(self._found, key=lambda p: (-files[p.source], p.document or 0))
