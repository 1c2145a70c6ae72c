"""JSON values as YAML in the style of Go's encoder: sorted keys, double quotes where needed.

YAML takes a millisecond for an object the size of a pod, so the items of a list are written a few
at a time: whoever sends them can let others have their turn in between.
"""

import io
import re
from collections.abc import Iterator
from typing import Final

import msgspec
import yaml

from podium.golang.json_values import JsonValue

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
