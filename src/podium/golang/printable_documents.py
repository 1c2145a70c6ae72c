"""JSON and YAML that mean what they meant, without anything that a terminal would obey.

What `quoting` does for a line of text, in the escapes of the two languages: documents hold text
that others wrote, and are printed and logged.
"""

import json
from collections.abc import Callable

import yaml

from podium.golang.quoting import escape_unprintable


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
