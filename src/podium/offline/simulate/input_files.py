"""The files that an input is read from, and their bytes.

A path leads to a file, to a directory (every *.yaml, *.yml and *.json below it, sorted) or, as `-`,
to standard input; each may be packed with gzip.

Contract: each file comes once, in the order in which it is first met.
"""

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from podium.golang.errors import InputError
from podium.net.files.bounded_files import MAGIC, MAX_CLUSTER_BYTES, STDIN, read_input, unpack_gzip
from podium.offline.simulate.problems import Problems

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
