"""Getting one object."""

from podium.apiserver.requests import query
from podium.apiserver.requests.listing import check_not_ahead
from podium.apiserver.requests.query import Parameters
from podium.apiserver.requests.registry import Registry
from podium.apiserver.store.stored import Stored
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import Resource


def get(
    registry: Registry, resource: Resource, namespace: str, name: str, parameters: Parameters
) -> Stored:
    """The newest version; one that is to be newer than the newest is waited for in vain."""
    try:
        wanted = query.revision(query.text(parameters, "resourceVersion"))
    except ValueError as problem:
        raise status_errors.internal(str(problem)) from None
    check_not_ahead(registry, wanted)
    return registry.get(resource, namespace, name)
