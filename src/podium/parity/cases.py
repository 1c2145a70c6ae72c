"""Recorded cases as they stand in files: one JSON document a line, gzipped or plain."""

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from podium.api.errors import InputError

Expectation = dict[str, Any]


class Step(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A pod to schedule; `expect` is what came out, if anyone recorded it."""

    pod: dict[str, Any]
    expect: Expectation | None = None


class Case(msgspec.Struct, kw_only=True):
    """A cluster, a configuration and pods to schedule one after the other."""

    name: str
    kubernetes: str = ""
    config: dict[str, Any] | None = None
    objects: tuple[dict[str, Any], ...] = ()
    steps: tuple[Step, ...] = ()


_decoder = msgspec.json.Decoder(Case)


def read_cases(lines: Iterable[bytes], source: str) -> Iterator[Case]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield _decoder.decode(line)
        except msgspec.DecodeError as problem:
            raise InputError(
                f"not a recorded case: {problem}",
                source=source,
                line=number,
                remedy="each line is one JSON document with name, objects and steps",
            ) from problem


def read_case_file(path: Path) -> Iterator[Case]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
            yield from read_cases(lines, str(path))
    except (OSError, EOFError) as problem:
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


def family_of(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".jsonl")
