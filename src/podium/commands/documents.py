"""The one way to standard output for JSON and YAML of Podium's own.

A document cannot be printed without its kind; `apiVersion` and `kind` are added here. Formats of
others (scheduler configurations, recorded cases) are not printed this way.
"""

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import yaml

from podium.golang.document_structs import Document
from podium.golang.yaml_writer import dump_yaml, escape_in_json
from podium.net.files.versioned_documents import (
    DocumentList,
    Kind,
    ListedKind,
    ReceivedDocument,
    add_version,
    add_version_to,
    make_list,
)


def print_document(kind: Kind, fields: Mapping[str, object], form: str) -> None:
    """A document as JSON or YAML."""
    _print(add_version(kind, fields), form)


def print_struct(document: Document | DocumentList | ReceivedDocument, form: str) -> None:
    """The same of a document that is a struct."""
    _print(add_version_to(document), form)


def print_list(kind: ListedKind, items: Iterable[Mapping[str, object]], form: str) -> None:
    """Documents of one kind, as one."""
    _print(make_list(kind, items), form)


def _print(document: dict[str, object], form: str) -> None:
    if form == "json":
        text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
        sys.stdout.write(escape_in_json(text))
    else:
        sys.stdout.write(dump_yaml(document, _DocumentDumper, sort_keys=False))


class _DocumentDumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes what is not one printable line in double quotation marks, with escapes."""


def _represent_text(dumper: Any, text: str) -> Any:
    style = None if text.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_DocumentDumper.add_representer(str, _represent_text)
