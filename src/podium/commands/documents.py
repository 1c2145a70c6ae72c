"""The one way to standard output for JSON and YAML of Podium's own.

A document cannot be printed without its kind; `apiVersion` and `kind` are added here. Formats of
others (scheduler configurations, recorded cases) are not printed this way.
"""

import sys
from typing import Any

import msgspec
import yaml

from podium.golang.document_structs import Document
from podium.golang.yaml_writer import dump_yaml, escape_in_json
from podium.net.files.versioned_documents import (
    DocumentList,
    ReceivedDocument,
    add_version_to,
)


def print_struct(document: Document | DocumentList | ReceivedDocument, form: str) -> None:
    """A document as JSON or YAML."""
    versioned = add_version_to(document)
    if form == "json":
        text = msgspec.json.format(msgspec.json.encode(versioned), indent=2).decode() + "\n"
        sys.stdout.write(escape_in_json(text))
    else:
        sys.stdout.write(dump_yaml(versioned, _DocumentDumper, sort_keys=False))


class _DocumentDumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes what is not one printable line in double quotation marks, with escapes."""


def _represent_text(dumper: Any, text: str) -> Any:
    style = None if text.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_DocumentDumper.add_representer(str, _represent_text)
