"""Go source text: strings, constants, brackets and imports, as gofmt writes them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_CONSTANT: Final = re.compile(
    r"""^\s*(?:const\ )?(\w+)                           # name
    (?:\s+([\w.]+))?\s*=\s*                           # its type
    (?:"([^"\n]*)"|([\w.]+)\((?:"([^"\n]*)"|([\w.]+))\))  # a text, or T(text), or T(other constant)
    """,
    re.M | re.X,
)
_IMPORT: Final = re.compile(r'^\s*(?:import )?(?:(\w+) )?"([\w./-]+)"$', re.M)


class SourceError(ValueError):
    """A source that is missing, or written in a way that this reader does not know."""


def read(path: Path) -> str:
    """Raises SourceError."""
    try:
        return path.read_text()
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from error


def go_files(folder: Path) -> list[Path]:
    """The files of a package, without its tests. Raises SourceError when there are none."""
    files = sorted(path for path in folder.glob("*.go") if not path.name.endswith("_test.go"))
    if not files:
        raise SourceError(f"{folder}: no Go files")
    return files


def without_comments(text: str) -> str:
    """Line comments removed; a `//` inside a string stays."""
    return re.sub(r'("(?:[^"\\\n]|\\.)*"|`[^`]*`)|//[^\n]*', lambda m: m[1] or "", text)


def constants(text: str) -> dict[str, tuple[str, str]]:
    """Text constants by name: type (or ""), value; a value that is another constant is its name
    behind an `=`."""
    found: dict[str, tuple[str, str]] = {}
    for match in _CONSTANT.finditer(without_comments(text)):
        name, kind, plain, converted, inner, other = match.groups()
        value = next((v for v in (plain, inner) if v is not None), f"={other}")
        found[name] = (converted or kind or "", value)
    return found


def imports(text: str) -> dict[str, str]:
    """Import paths by the name under which the file knows them."""
    head = text.partition("\ntype ")[0].partition("\nfunc ")[0].partition("\nvar ")[0]
    return {m[1] or m[2].rpartition("/")[2]: m[2] for m in _IMPORT.finditer(head)}


def bracketed(text: str, start: int) -> str:
    """What is between the bracket at `start` and the one that closes it. Raises SourceError."""
    depth, quote, at = 0, "", start
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\" and quote == '"':
                at += 1
            elif char == quote:
                quote = ""
        elif char in "\"`'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                return text[start + 1 : at]
        at += 1
    raise SourceError(f"unclosed bracket: {text[start : start + 60]!r}")


def after(text: str, opening: str) -> str:
    """The inside of the bracket with which `opening` ends. Raises SourceError."""
    found = text.find(opening)
    if found < 0:
        raise SourceError(f"not found: {opening!r}")
    return bracketed(text, found + len(opening) - 1)


def items(text: str) -> Iterator[str]:
    """The parts between commas that are in no bracket."""
    depth, quote, part = 0, "", ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in '"`':
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 0:
            if part.strip():
                yield part.strip()
            part = ""
            continue
        part += char
    if part.strip():
        yield part.strip()
