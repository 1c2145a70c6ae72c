"""Which kind of body a request has, and the options that a DELETE may carry in it."""

from typing import Final

from podium.apiserver.answers.content_negotiation import JSON, PROTOBUF, YAML
from podium.apiserver.http.messages import Request
from podium.apiserver.requests import body_decoding, delete_options, patches, query
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.delete_options import DeleteOptions
from podium.apiserver.requests.query import WriteOptions
from podium.kubernetes import status_errors
from podium.kubernetes.patching import STRATEGIC_MERGE_PATCH
from podium.kubernetes.resources.resource import Resource

_ACCEPTED: Final = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
_ACCEPTED_CUSTOM_PATCHES: Final = (
    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
)
_UNKNOWN_FORMAT: Final = (
    "the body of the request was in an unknown format - accepted media types include: "
)


def media_type_of(request: Request) -> str:
    """The media type of the body, without parameters."""
    return request.header(b"content-type").partition(";")[0].strip()


def object_type(request: Request) -> str:
    """The media type of a body that holds an object; JSON if it is not said."""
    found = media_type_of(request) or JSON
    if found not in (JSON, YAML, PROTOBUF):
        raise status_errors.unsupported_media_type(_UNKNOWN_FORMAT + _ACCEPTED)
    return found


def patch_type(request: Request, resource: Resource) -> str:
    """The kind of a patch; it must be said."""
    found = media_type_of(request)
    if found not in patches.PATCH_TYPES:
        raise status_errors.unsupported_media_type("415: Unsupported Media Type", details={})
    if resource.is_custom and found == STRATEGIC_MERGE_PATCH:
        raise status_errors.unsupported_media_type(_UNKNOWN_FORMAT + _ACCEPTED_CUSTOM_PATCHES)
    return found


def patch_options(request: Request, media_type: str) -> WriteOptions:
    return query.write_options(
        request.parameters, "PatchOptions", apply=media_type == patches.APPLY_PATCH
    )


def options_of_delete(request: Request, call: Call) -> DeleteOptions:
    """The options of a deletion: those of the body if there is one, else those of the query."""
    if not request.body:
        return delete_options.from_parameters(request.parameters)
    return delete_options.from_object(
        body_decoding.take_delete_options(request.body, object_type(request), call)
    )
