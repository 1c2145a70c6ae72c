"""JSON values as YAML in the style of Go's encoder: sorted keys, double quotes where needed.

YAML takes a millisecond for an object the size of a pod, so the items of a list are written a few
at a time: whoever sends them can let others have their turn in between.

JSON and YAML that mean what they meant, without anything that a terminal would obey. What `quoting`
does for a line of text, in the escapes of the two languages: documents hold text that others wrote,
and are printed and logged.
"""

import io
import json
import re
from collections.abc import Callable, Iterator
from typing import Final

import msgspec
import yaml

from podium.golang.json_values import JsonValue
from podium.golang.quoting import escape_unprintable

try:
    from yaml import CSafeDumper as _Dumper
except ImportError:  # pragma: no cover - PyYAML without its C part
    from yaml import SafeDumper as _Dumper  # type: ignore[assignment]

# What YAML 1.1 would read as something else than a text.
_AMBIGUOUS: Final = re.compile(
    r"""(?xi) ^(?: ~ | null | true | false | yes | no | on | off | y | n
    | [-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-f_]+|[0-9][0-9_]*(?::[0-5]?[0-9])*)
    | [-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:e[-+]?[0-9]+)?
    | [-+]?\.inf | \.nan
    | \d{4}-\d\d?-\d\d?(?:[Tt\s].*)?
    )?$"""
)


_NUMBER_STARTS: Final = frozenset("+-.0123456789")


class _GoDumper(_Dumper):
    """Writes texts the way Go's encoder does, and never an alias."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
        return True


def _text(dumper: _GoDumper, value: str) -> yaml.ScalarNode:
    if "\n" in value:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|")
    style = '"' if _is_ambiguous(value) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _is_ambiguous(text: str) -> bool:
    if text[:1] in _NUMBER_STARTS:
        text = text.replace("_", "")  # upstream: numbers may have them anywhere
    return _AMBIGUOUS.match(text) is not None


_GoDumper.add_representer(str, _text)


def as_yaml(value: JsonValue) -> bytes:
    out = io.BytesIO()
    yaml.dump(
        value,
        out,
        Dumper=_GoDumper,
        default_flow_style=False,
        sort_keys=True,
        allow_unicode=True,
        encoding="utf-8",
        width=80,
    )
    # upstream: no mark at the end, not even after a text that ends in empty lines
    text = out.getvalue()
    return text.removesuffix(b"...\n") if text.endswith(b"\n...\n") else text


_LONG: Final = ("items", "rows")
"""Fields of lists and tables that can have thousands of entries."""
_AT_A_TIME: Final = 8
_TOP: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ENTRIES: Final = msgspec.json.Decoder(list[msgspec.Raw])


def yaml_chunks(json_text: bytes) -> Iterator[bytes]:
    """A JSON object as YAML, the same text as at once; entries of a list are decoded when their
    turn comes."""
    fields = _TOP.decode(json_text)
    if not any(name in fields for name in _LONG):
        yield as_yaml(msgspec.json.decode(json_text))
        return
    for name in sorted(fields):
        is_long = name in _LONG and bytes(fields[name]).startswith(b"[")
        entries = _ENTRIES.decode(fields[name]) if is_long else []
        if not entries:
            yield as_yaml({name: msgspec.json.decode(fields[name])})
            continue
        yield f"{name}:\n".encode()
        for start in range(0, len(entries), _AT_A_TIME):
            part = entries[start : start + _AT_A_TIME]
            yield as_yaml([msgspec.json.decode(each) for each in part])


def escape_in_json(text: str) -> str:
    """The document with `\\u` for what cannot be printed."""
    return _escape_each(text, lambda character: json.dumps(character)[1:-1])


def dump_yaml(document: object, dumper: type[yaml.CSafeDumper], *, sort_keys: bool) -> str:
    """A plain value; the dumper writes unprintable scalars in double quotation marks."""
    text = yaml.dump(
        document, Dumper=dumper, sort_keys=sort_keys, allow_unicode=True, width=1000, indent=2
    )
    return _escape_each(text, escape_unprintable)


def _escape_each(text: str, escape: Callable[[str], str]) -> str:
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c == "\n" or c.isprintable() else escape(c) for c in text)
