"""The option `--html` of commands, and what goes into every report beside its documents."""

import dataclasses
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar, get_args, get_type_hints

from cyclopts import Parameter
from msgspec.structs import replace

from podium.golang.document_structs import Document

D = TypeVar("D", bound=Document)

MAX_ROWS: Final = 20_000
"""In one list of a report."""

Html = Annotated[
    Path | None,
    Parameter(
        name=["--html"],
        metavar="FILE",
        show_default=False,
        help="Write a report for browsers as well: one file that needs no server.",
    ),
]


def command_text(
    command: str,
    files: Iterable[str],
    options: Any,
    more: Iterable[tuple[str, Any]] = (),
    *,
    arguments: Iterable[str] = (),
) -> str:
    """The command line that asks the same: arguments, files, shared options, and further ones in
    order; those that are None or False were not given."""
    parts = (
        f"podium {command}",
        shlex.join(arguments),
        input_text(files, options),
        option_text(more),
    )
    return " ".join(filter(None, parts))


def option_text(options: Iterable[tuple[str, Any]]) -> str:
    """Options as a shell reads them, without those that are None or False."""
    return shlex.join(word for name, value in options for word in _words(name, value))


def bound_lists(document: D, limits: Mapping[str, int]) -> tuple[D, dict[str, int]]:
    """A document with lists that are no longer than these limits, and how long the lists are in
    truth."""
    lists = {name: getattr(document, name) for name in limits}
    bounded = {name: lists[name][:most] for name, most in limits.items()}
    return replace(document, **bounded), {name: len(found) for name, found in lists.items()}


def bound_fields(
    fields: Mapping[str, Any], limits: Mapping[str, int]
) -> tuple[dict[str, Any], dict[str, int]]:
    """The same of a document that is plain data."""
    totals = {name: len(fields[name]) for name in limits}
    return {**fields, **{name: fields[name][:most] for name, most in limits.items()}}, totals


def input_text(files: Iterable[str], options: Any) -> str:
    """Files and shared options as every command that simulates takes them."""
    return shlex.join((*_words("-f", list(files)), *_option_words(options)))


def _option_words(options: Any) -> Iterator[str]:
    """Those that are not as they are by default, but for the files."""
    hints = get_type_hints(type(options), include_extras=True)
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        if dataclasses.is_dataclass(value):
            yield from _option_words(value)
        elif value != field.default and field.name != "filename":
            parameter = next(each for each in get_args(hints[field.name])[1:])
            yield from _words(parameter.name[0], value)


def _words(name: str, value: Any) -> list[str]:
    if value is None or value is False:
        return []
    if value is True:
        return [name]
    values = value if isinstance(value, list | tuple) else [value]
    return [word for each in values for word in (name, str(each))]
