"""What the server fills into an object that a client left out.

    set_defaults(resource, obj) -> None      in place, after decoding, at create, update and patch

Contract: defaults are those of Kubernetes v1.36 for the kind; setting them twice changes nothing;
fields that are there keep their values, except that quantities take their canonical form. Nothing
is looked up and no clock is read: what depends on other objects is admission's, what depends on
the request is strategy's.
"""

from podium.golang.json_values import JsonObject
from podium.kubernetes.resources.resource import ApiResource


def set_defaults(resource: ApiResource, obj: JsonObject) -> None:
    """Fill in what the kind's defaults say; objects of custom resources have none here."""
    setter = resource.record.defaults_in(resource.version)
    if setter is not None:
        setter(obj)
