"""No object is stored that etcd would not take, however many writes it was put together by.

upstream: etcd refuses requests of more than 1.5 MiB, and the server answers 500 with its words.
Before that it tries without `managedFields`, which can be larger than the object, unless the write
is an apply, which needs them. Built-in kinds are measured as the protobuf that etcd would get;
their JSON, which is larger, is looked at first because it is quick to make.
"""

from typing import Final

from podium.apiserver import protobuf, status_errors
from podium.apiserver.json_values import JsonObject
from podium.apiserver.resources.resource import Resource
from podium.apiserver.schema import Schema
from podium.apiserver.store.stored import body_of

_MAX_STORED_BYTES: Final = 1536 * 1024
_KEPT_AS_JSON: Final = frozenset({"apiextensions.k8s.io"})


def fit_storage(
    resource: Resource, schema: Schema, obj: JsonObject, *, keep_managed_fields: bool
) -> None:
    """Refuse an object that is too large; one that is so by its managedFields loses them."""
    if _fits(resource, schema, obj):
        return
    if not keep_managed_fields:
        obj["metadata"].pop("managedFields", None)
        if _fits(resource, schema, obj):
            return
    raise status_errors.internal("etcdserver: request is too large")


def _fits(resource: Resource, schema: Schema, obj: JsonObject) -> bool:
    if len(body_of(obj)) <= _MAX_STORED_BYTES:
        return True
    if resource.is_custom or resource.group in _KEPT_AS_JSON:
        return False
    return len(protobuf.encode(schema, obj)) <= _MAX_STORED_BYTES
