"""The files that an input is read from, and their bytes.

A path leads to a file, to a directory (every *.yaml, *.yml and *.json below it, sorted) or, as `-`,
to standard input; each may be packed with gzip.

Contract: each file comes once, in the order in which it is first met.

Everything that is wrong with an input, shown together. Somebody who fixes a file wants to fix it
once. Problems are collected over all files and raised as one error; nothing is simulated with half
an input.
"""

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from podium.golang.documents import Located
from podium.golang.errors import InputError, ObjectError
from podium.net.files.bounded_files import MAGIC, MAX_CLUSTER_BYTES, STDIN, read_input, unpack_gzip

MAX_SHOWN = 20
MAX_KEPT = 1_000
"""Further problems are counted: a file of a million mistakes is not worth a gigabyte."""


class InputProblems(InputError):
    """Several problems of one input, in the order in which they were met."""

    def __init__(self, problems: list[InputError], count: int | None = None) -> None:
        self._count = len(problems) if count is None else count
        super().__init__(f"{self._count} problems in the input")
        self.problems = tuple(problems)

    @property
    def lines(self) -> tuple[str, ...]:
        shown = [f"  {problem}" for problem in self.problems[:MAX_SHOWN]]
        left = self._count - len(shown)
        if left > 0:
            shown.append(f"  ... and {left} more")
        return (f"{self.problem}:", *shown)


class Problems:
    """Collects errors while the reading goes on."""

    def __init__(self) -> None:
        self._found: list[InputError] = []
        self._count = 0

    def add(self, problem: InputError) -> None:
        self._count += 1
        if len(self._found) < MAX_KEPT:
            self._found.append(problem)

    def of(self, document: Located) -> "_ProblemsOf":
        """Keep what is raised about one document and carry on behind the block."""
        return _ProblemsOf(self, document)

    def raise_if_any(self) -> None:
        if len(self._found) == 1:
            raise self._found[0]
        if self._found:
            raise InputProblems(self._in_reading_order(), self._count)

    def _in_reading_order(self) -> list[InputError]:
        """File by file in the order in which they were met, document by document."""
        files = {source: at for at, source in enumerate(p.source for p in reversed(self._found))}
        return sorted(self._found, key=lambda p: (-files[p.source], p.document or 0))


class _ProblemsOf:
    """A context manager; there is one for every object of a large cluster, so it is a small one."""

    __slots__ = ("_document", "_problems")

    def __init__(self, problems: Problems, document: Located) -> None:
        self._problems = problems
        self._document = document

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, problem: object, trace: object) -> bool:
        if isinstance(problem, InputError):
            self._problems.add(problem)
            return True
        if isinstance(problem, ObjectError):
            for each in (problem, *problem.others):
                self._problems.add(
                    self._document.error(each.problem, path=each.path, remedy=each.remedy)
                )
            return True
        return False


_SUFFIXES = tuple(
    f"{kind}{packed}" for kind in (".yaml", ".yml", ".json") for packed in ("", ".gz")
)
_ADDRESS = re.compile(r"[a-z]+://", re.IGNORECASE)


def find_files(paths: Iterable[str], problems: Problems) -> Iterator[str]:
    """Each file once; what cannot be found goes to `problems`."""
    seen: set[str] = set()
    for path in paths:
        try:
            for found in _below(path):
                identity = found if found == STDIN else os.path.realpath(found)
                if identity not in seen:
                    seen.add(identity)
                    yield found
        except OSError as problem:
            problems.add(_unreadable(path, problem))
        except InputError as problem:
            problems.add(problem)


def _below(path: str) -> list[str]:
    if _ADDRESS.match(path):
        remedy = f"curl -fsSL {shlex.quote(path)} | podium simulate -f -"
        raise InputError("is an address, and nothing is fetched", source=path, remedy=remedy)
    if path == STDIN or not Path(path).is_dir():
        return [path]
    found = sorted(p for p in Path(path).rglob("*") if p.name.endswith(_SUFFIXES) and p.is_file())
    if not found:
        raise InputError("holds no .yaml, .yml or .json files", source=path)
    return [str(p) for p in found]


def read_unpacked(path: str) -> bytes:
    """Raises InputError."""
    shown = display_path(path)
    data = read_input(path, MAX_CLUSTER_BYTES, source=shown)
    return unpack_gzip(data, MAX_CLUSTER_BYTES, shown) if data.startswith(MAGIC) else data


def _unreadable(path: str, problem: OSError) -> InputError:
    text = (problem.strerror or str(problem)).lower()
    return InputError(f"cannot be read: {text}", source=display_path(path))


def display_path(path: str) -> str:
    """What a file is called where it is told of."""
    return "standard input" if path == STDIN else path
