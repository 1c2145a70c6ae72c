"""Which version of the configuration a file is of, and what is said to a file that is of none.

Upstream looks a document's apiVersion and kind up in a scheme that holds more than configurations:
the arguments of plugins are kinds of their own, and all of them exist once more in an internal
version without any field names. Files that name one of those are decoded before they are refused,
so their unknown fields are what is complained about first.
"""

from collections.abc import Mapping
from typing import Final

from podium.scheduler.config.decode import UnknownField
from podium.scheduler.config.errors import (
    ConfigurationError,
    FieldProblem,
    invalid,
    joined,
    required,
)
from podium.scheduler.config.header import HEADER_FIELDS, INTERNAL, header_of, not_registered
from podium.scheduler.config.strict_errors import StrictErrors
from podium.scheduler.config.typed_args import ARGS_SUFFIX, decode_args, is_args_kind
from podium.scheduler.config.types import API_GROUP, API_VERSION, KIND
from podium.scheduler.config.versions import V1, Version
from podium.scheduler.config.written import WrittenFile

EMPTY: Final = (
    "the file is empty, as `type: FileOrCreate` makes one; write the configuration into it"
)


def is_empty(written: WrittenFile) -> bool:
    return written.text is not None and not written.text.strip()


def version_of(written: WrittenFile, readers: Mapping[str, Version]) -> Version:
    """Raises ConfigurationError or DecodeError."""
    api_version, kind = header_of(written.value)
    whole = "the configuration" if written.text is None else f"'{written.text}'"
    if not kind:
        raise ConfigurationError(
            f"Object 'Kind' is missing in {whole}",
            (FieldProblem("", "Object 'Kind' is missing"),),
            remedy=EMPTY if is_empty(written) else f"write `kind: {KIND}`",
        )
    if not api_version:
        raise ConfigurationError(
            f"Object 'apiVersion' is missing in {whole}",
            (FieldProblem("", "Object 'apiVersion' is missing"),),
            remedy=f"write `apiVersion: {API_VERSION}`",
        )
    version = readers.get(api_version) if kind == KIND else None
    if version is not None:
        return version
    if kind == KIND or is_args_kind(kind, V1.args_kinds):
        _refuse_other_kinds(written, api_version, kind)
    raise ConfigurationError(
        not_registered(kind, api_version),
        remedy=f"the configuration must be a {KIND} of {API_VERSION}",
    )


def _refuse_other_kinds(written: WrittenFile, api_version: str, kind: str) -> None:
    """Refuse what upstream knows and cannot use."""
    strict = StrictErrors(written.repeated_keys)
    if api_version == f"{API_GROUP}/{INTERNAL}":
        names = (name for name in written.value if name not in HEADER_FIELDS)
        strict.add([UnknownField(name, "") for name in names])
    elif api_version == API_VERSION:
        shape = V1.args_kinds[kind.removesuffix(ARGS_SUFFIX)]
        strict.add(decode_args(written.value, shape).unknown_fields)
    else:
        return
    if strict:
        raise strict.error(())
    if kind != KIND:
        raise ConfigurationError(f"couldn't decode as {KIND}, got {api_version}, Kind={kind}: ")
    # upstream: the internal version has no defaults, so nothing in it is filled in.
    problems = (
        invalid("parallelism", 0, "should be an integer value greater than zero"),
        required("profiles"),
        invalid("podInitialBackoffSeconds", 0, "must be greater than 0"),
    )
    raise ConfigurationError(joined(problems), problems)
