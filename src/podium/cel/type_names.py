"""Names of types that every expression can use as values: `type(x) == int`."""

from podium.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_of,
    optional_of,
    type_of,
)

TYPE_NAMES: dict[str, Type] = {
    "bool": type_of(BOOL),
    "bytes": type_of(BYTES),
    "double": type_of(DOUBLE),
    "google.protobuf.Duration": type_of(DURATION),
    "google.protobuf.Timestamp": type_of(TIMESTAMP),
    "int": type_of(INT),
    "list": type_of(list_of(DYN)),
    "map": type_of(map_of(DYN, DYN)),
    "null_type": type_of(NULL),
    "optional_type": type_of(optional_of(DYN)),
    "string": type_of(STRING),
    "type": type_of(DYN),
    "uint": type_of(UINT),
}
"""Identifiers that name a type, with the type they have as values."""
