"""What is stored all the same, but its writer should know of: texts for `Warning` headers.

    on_create(resource, obj) -> Iterator[str]
    on_update(resource, new, old) -> Iterator[str]   not for subresources
    on_delete(resource, *, says_how) -> list[str]    `says_how`: with what depends on the object
    on_use(resource) -> list[str]                    for every request about a resource

Contract: texts are made as they are requested, and finding out that there is none takes time in
proportion to the object, whatever is in it: two of n ports can collide in n² ways, of which an
answer carries some fifty. The object is valid and final; nothing is changed and nothing is looked
up. Texts and their order are upstream's; kubectl shows them, and a client that treats them as
errors must see the same ones as with any other server.
"""

from collections.abc import Iterator

from podium.golang.json_values import JsonObject
from podium.kubernetes.resources.resource import ApiResource


def on_create(resource: ApiResource, obj: JsonObject) -> Iterator[str]:
    about = resource.record.warnings
    if about.create is not None:
        yield from about.create(obj)
    if about.always is not None:
        yield from about.always(obj)


def on_update(resource: ApiResource, new: JsonObject, old: JsonObject) -> Iterator[str]:
    about = resource.record.warnings
    if about.update is not None:
        yield from about.update(new, old)
    if about.always is not None:
        yield from about.always(new)


def on_delete(resource: ApiResource, *, says_how: bool) -> list[str]:
    orphans = resource.record.warnings.orphans
    return [orphans] if orphans and not says_how else []


def on_use(resource: ApiResource) -> list[str]:
    """What to tell everybody who asks for objects of a resource."""
    text = resource.deprecation or resource.record.warnings.use
    return [text] if text else []
