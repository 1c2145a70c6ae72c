"""The OpenAPI documents that kubectl reads before it creates, applies and explains.

    OpenApi(table, custom_schemas)
        .v3_index() -> bytes                        `/openapi/v3`, served as text/plain
        .v3_document(path) -> bytes | None          `api/v1`, `apis/apps/v1`; None: not served
        .v2() -> bytes                              `/openapi/v2` as JSON
        .v2_protobuf() -> bytes                     the same as protobuf

`table` is the ResourceTable, `custom_schemas(resource) -> JsonObject | None` gives the
openAPIV3Schema of a custom resource. Documents are built when first asked for and kept until the
table changes.
"""

from podium.apiserver.openapi.documents import OpenApi

__all__ = ["OpenApi"]
