"""Recorded cases as they are in files: one JSON document a line, gzipped or plain."""

import gzip
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import msgspec

from podium.golang.documents import DEFAULT_LIMITS, is_deeper_than
from podium.golang.errors import InputError
from podium.net.files.bounded_files import read_lines

MAX_CASE_BYTES = 64 * 1024 * 1024
RECORDED = "tests/recorded/parity-*"
"""Where a clone of the project has recorded cases, a directory for each release of Kubernetes."""

Expectation = dict[str, Any]


class CaseStep(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A pod to schedule; `expect` is what came out, if anyone recorded it."""

    pod: dict[str, Any]
    expect: Expectation | None = None


class Case(msgspec.Struct, kw_only=True):
    """A cluster, a configuration and pods to schedule one after the other."""

    name: str
    kubernetes: str = ""
    config: dict[str, Any] | None = None
    objects: tuple[dict[str, Any], ...] = ()
    steps: tuple[CaseStep, ...] = ()


_decoder = msgspec.json.Decoder(Case)


def read_cases(file: BinaryIO, source: str) -> Iterator[Case]:
    """Case by case, as far as they have come. Raises InputError."""
    for number, line in enumerate(read_lines(file, MAX_CASE_BYTES, source), start=1):
        if not line.strip():
            continue
        try:
            case = _decoder.decode(line)
        except msgspec.DecodeError as problem:
            raise InputError(
                f"not a recorded case: {problem}",
                source=source,
                line=number,
                remedy="each line is one JSON document with name, objects and steps",
            ) from problem
        except RecursionError:
            raise _too_deep(source, number) from None
        steps = [(step.pod, step.expect) for step in case.steps]
        if any(
            is_deeper_than(DEFAULT_LIMITS.depth, each)
            for each in (case.config, *case.objects, *(part for step in steps for part in step))
        ):
            raise _too_deep(source, number)
        yield case


def _too_deep(source: str, line: int) -> InputError:
    return InputError(
        f"nested more than {DEFAULT_LIMITS.depth} levels deep", source=source, line=line
    )


def read_case_file(path: Path) -> Iterator[Case]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
            yield from read_cases(cast("BinaryIO", lines), str(path))
    except (OSError, EOFError, zlib.error) as problem:
        raise InputError(f"cannot be read: {problem}", source=str(path)) from problem


def case_files(paths: Iterable[Path]) -> list[Path]:
    """Files as given; a directory stands for the case files in it."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted({*path.glob("*.jsonl.gz"), *path.glob("*.jsonl")})
            if not inside:
                raise InputError("holds no *.jsonl or *.jsonl.gz files", source=str(path))
            found.extend(inside)
        elif path.exists():
            found.append(path)
        else:
            raise InputError("no such file or directory", source=str(path))
    return found


def find_recorded_cases(*starts: Path) -> list[Path]:
    """The directories of recorded cases in the nearest clone around one of `starts`.

    The first start that is inside a clone decides. Raises InputError when none is.
    """
    for start in starts:
        here = start.resolve()
        for directory in (here, *here.parents):
            found = sorted(path for path in directory.glob(RECORDED) if path.is_dir())
            if found:
                return found
    raise InputError(
        f"no recorded cases are given, and there is no {RECORDED} here or in a directory above",
        remedy="name case files or directories of them, or run it in a clone of Podium",
    )


def family_of(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".jsonl")
