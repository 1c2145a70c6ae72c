"""The command line that asks the same, from the arguments that a command was called with.

Which options there are and what they are by default is read off the command itself: an option that
is not as it is by default is written out, under its first name. What belongs to the question comes
along; options of `HowOptions` say where it is answered and what the answer looks like, and do not.

    podium capacity -f cluster.json -f web.yaml --seed 3 --until 90%

Order: what stands by its place, files, options that several commands share, the command's own.
"""

import dataclasses
import inspect
import shlex
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, get_args, get_type_hints

from cyclopts import Parameter

_FILES: Final = "filename"
"""The parameter of `-f`."""


class HowOptions:
    """Options that are no part of a question: how it is answered, and how that is printed."""


@dataclasses.dataclass(frozen=True, slots=True)
class WrittenOption:
    """An option and its value, where one parameter has several names."""

    option: str
    value: str


def same_command(name: str, command: Callable[..., Any], bound: inspect.BoundArguments) -> str:
    """The command line as a shell reads it."""
    hints = get_type_hints(command, include_extras=True)
    arguments: list[str] = []
    files: list[str] = []
    shared: list[str] = []
    own: list[str] = []
    for parameter in bound.signature.parameters.values():
        value = bound.arguments.get(parameter.name, parameter.default)
        match parameter.kind:
            case parameter.VAR_POSITIONAL:
                files += () if value is parameter.empty else value
                continue
            case parameter.POSITIONAL_ONLY | parameter.POSITIONAL_OR_KEYWORD:
                arguments += () if value is None else (str(value),)
                continue
        if isinstance(value, HowOptions):
            continue
        if dataclasses.is_dataclass(value):
            files = [*(getattr(value, _FILES, None) or ()), *files]
            shared += _group_words(value)
        elif parameter.name == _FILES:
            files = [*(value or ()), *files]
        elif value != parameter.default:
            own += _words(_option_name(parameter.name, hints[parameter.name]), value)
    words = (*arguments, *_words("-f", files), *shared, *own)
    return " ".join(("podium", name, *map(shlex.quote, words)))


def input_text(files: Iterable[str], options: Any) -> str:
    """Files and shared options as every command that simulates takes them."""
    return shlex.join((*_words("-f", list(files)), *_group_words(options)))


def _group_words(options: Any) -> Iterator[str]:
    """Those that are not as they are by default, but for the files."""
    hints = get_type_hints(type(options), include_extras=True)
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        if dataclasses.is_dataclass(value):
            yield from _group_words(value)
        elif value != field.default and field.name != _FILES:
            yield from _words(_option_name(field.name, hints[field.name]), value)


def _option_name(name: str, hint: Any) -> str:
    """The first of an option's names, as cyclopts finds them."""
    parameter = next((each for each in get_args(hint)[1:] if isinstance(each, Parameter)), None)
    names = tuple(parameter.name or ()) if parameter is not None else ()
    return names[0] if names else f"--{name.replace('_', '-')}"


def _words(name: str, value: Any) -> list[str]:
    if value is None or value is False:
        return []
    if value is True:
        return [name]
    values = value if isinstance(value, list | tuple) else [value]
    return [word for each in values for word in _pair(name, each)]


def _pair(name: str, value: Any) -> tuple[str, str]:
    if isinstance(value, WrittenOption):
        return value.option, value.value
    return name, str(value)
