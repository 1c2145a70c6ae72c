"""No object is stored that etcd would not take, however many writes it was put together by.

upstream: etcd refuses requests of more than 1.5 MiB, and the server answers 500 with its words.
Before that it tries without `managedFields`, which can be larger than the object, unless the write
is an apply, which needs them. Built-in kinds are measured as the protobuf that etcd would get;
their JSON, which is larger, is looked at first because it is quick to make.
"""

from typing import Final

from podium.apiserver import protobuf
from podium.apiserver.store.stored import body_of
from podium.golang.json_values import JsonObject, encode
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import Resource
from podium.kubernetes.schema import Schema

_MAX_STORED_BYTES: Final = 1536 * 1024
_KEPT_AS_JSON: Final = frozenset({"apiextensions.k8s.io"})


def fit_storage(
    resource: Resource, schema: Schema, obj: JsonObject, *, keep_managed_fields: bool
) -> None:
    """Refuse an object that is too large; one that is so by its managedFields loses them."""
    size = len(body_of(obj))
    if size <= _MAX_STORED_BYTES:
        return
    metadata: JsonObject = obj["metadata"]
    entries = metadata.get("managedFields")
    entries_size = len(encode(entries)) if entries else 0  # JSON inside of protobuf, too
    rest = {key: value for key, value in metadata.items() if key != "managedFields"}
    if resource.is_custom or resource.group in _KEPT_AS_JSON:
        rest_size = size - entries_size
    else:
        rest_size = len(protobuf.encode(schema, {**obj, "metadata": rest}))
    if rest_size + entries_size <= _MAX_STORED_BYTES:
        return
    if keep_managed_fields or rest_size > _MAX_STORED_BYTES:
        raise status_errors.internal("etcdserver: request is too large")
    obj["metadata"] = rest
