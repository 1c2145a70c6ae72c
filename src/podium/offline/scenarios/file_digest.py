"""A digest of a scenario, so that results of runs can tell which one they came from.

Contract: it follows from the bytes of the file and of all files that it names, directories with
all that is in them, wherever they lie.
"""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from podium.net.files.bounded_files import MAX_CLUSTER_BYTES, read_input
from podium.offline.scenarios.arrivals import find_beside
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.written import read_written


def digest_scenario(data: bytes, source: str, folder: str) -> str:
    """Raises InputError."""
    try:
        written = read_written(data).value
    except ConfigurationError as problem:
        raise problem.found_in(source) from None
    found = sha256(sha256(data).digest())
    for name in sorted({*_named_files(written)}):
        for path in _files_in(find_beside(name, folder)):
            found.update(sha256(read_input(path, MAX_CLUSTER_BYTES)).digest())
    return found.hexdigest()


def _named_files(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "file" and isinstance(inner, str):
                yield inner
            elif key == "files" and isinstance(inner, list):
                yield from (each for each in inner if isinstance(each, str))
            else:
                yield from _named_files(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _named_files(inner)


def _files_in(path: str) -> list[str]:
    if not Path(path).is_dir():
        return [path]
    return sorted(str(each) for each in Path(path).rglob("*") if each.is_file())
