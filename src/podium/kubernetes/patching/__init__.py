"""The three patches: RFC 6902, RFC 7386 and Kubernetes' strategic merge.

    json_patch.apply(document, patch) -> document
    json_patch.problems(patch) -> list[str]         fields of operations that nobody knows
    merge_patch.apply(document, patch) -> document
    strategic_merge.apply(document, patch, schema) -> document
    unreadable(media_type, why) -> PatchError       the patch is no JSON; `why` in Go's words
    not_decodable(media_type, patch, document, why) -> PatchError
        the patched document is no object of its kind; `why` is the DecodeError's message, or
        `strict decoding error: ` and the problems

`patch` is the JSON value as it came, of whatever type; wrong types are refused here. Neither
argument is changed; the result may share unchanged parts with both. `PatchError` is a StatusError
with the code, reason and text of the answer. The result is still to be decoded: with
`schema.decode` after a JSON or merge patch, `schema.decode_patched` after a strategic one.
"""

from podium.kubernetes.patching import json_patch, merge_patch, strategic_merge
from podium.kubernetes.patching.refusals import (
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
    FailedTestOperation,
    PatchError,
    not_decodable,
    unreadable,
)

__all__ = [
    "JSON_PATCH",
    "MERGE_PATCH",
    "STRATEGIC_MERGE_PATCH",
    "FailedTestOperation",
    "PatchError",
    "json_patch",
    "merge_patch",
    "not_decodable",
    "strategic_merge",
    "unreadable",
]
