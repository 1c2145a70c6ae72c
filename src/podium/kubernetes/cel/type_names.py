"""Types that every expression can name, `type(x) == int`, and those of its literals."""

from podium.kubernetes.cel.types import (
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
from podium.kubernetes.cel.values import Uint

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

LITERAL_TYPES: dict[type, Type] = {
    bool: BOOL,
    int: INT,
    Uint: UINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
    type(None): NULL,
}
