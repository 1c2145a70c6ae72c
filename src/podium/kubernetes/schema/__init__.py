"""The fields of every served kind, and how Kubernetes' Go types read and write them.

    schema_of(group, version, kind) -> Schema       KeyError: no such built-in kind
    decode(obj, schema) -> Decoded                  raises DecodeError
        .value      a new object: unknown fields gone, nulls gone, quantities and times in the form
                    in which the server writes them; what Go omits when empty is omitted, what it
                    always writes is there (`resources: {}`, `status: {}`, and `null` for a list or
                    map without a value, such as `spec.containers`)
        .problems   `unknown field "spec.foo"`, ... in the order of the document: warnings, or
                    together the text after `strict decoding error: `
    decode_patched(obj, schema) -> Decoded          the same after a strategic merge, whose result
                                                    upstream reads with another reader and words

`DecodeError` has the text after `Pod in version "v1" cannot be handled as a Pod: `. Fields that
occur twice are the JSON reader's to tell. Nothing is changed in place; the result shares no list
or object with the input except values of fields without a schema. Custom resources have a Schema
too (`crds.schema_of_definition`), but are not decoded: `crds.prune` and `crds.validate` do that.
"""

from podium.golang.decoding import zero, zero_struct
from podium.kubernetes.schema.catalogue import Schema, schema_of
from podium.kubernetes.schema.decoding import Decoded, DecodeError, decode, decode_patched

__all__ = [
    "DecodeError",
    "Decoded",
    "Schema",
    "decode",
    "decode_patched",
    "schema_of",
    "zero",
    "zero_struct",
]
