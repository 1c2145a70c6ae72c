"""What is stored all the same, but its writer should know of: texts for `Warning` headers.

    on_create(resource, obj) -> Iterator[str]
    on_update(resource, new, old) -> Iterator[str]   not for subresources
    on_delete(resource, *, says_how) -> list[str]    `says_how`: with what depends on the object
    on_use(resource) -> list[str]                    for every request about a resource

Contract: texts are made as they are asked for, and finding out that there is none takes time in
proportion to the object, whatever is in it: two of n ports can collide in n² ways, of which an
answer carries some fifty. The object is valid and final; nothing is changed and nothing is looked
up. Texts and their order are upstream's; kubectl shows them, and a client that treats them as
errors must see the same ones as with any other server.
"""

from podium.apiserver.warnings.kinds import on_create, on_delete, on_update, on_use

__all__ = ["on_create", "on_delete", "on_update", "on_use"]
