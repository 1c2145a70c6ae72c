"""Custom objects are shown with the defaults of their definition as it is now.

Upstream fills them in whenever an object is read. Here objects are bytes that answers are made of,
so they are filled in once, when a definition changes. What was written is kept beside: a default
that goes leaves nothing behind in objects that nobody has written since.
"""

from podium.apiserver.crds import CustomRules
from podium.apiserver.store.collection import Collection
from podium.apiserver.store.stored import Stored, body_of
from podium.kubernetes.resources.resource import Resource
from podium.kubernetes.status_errors import StatusError


class StoredDefaults:
    """Keeps the versions that were written of those objects that are shown filled in."""

    def __init__(self) -> None:
        self._written: dict[tuple[str, str], tuple[Stored, Stored]] = {}
        """By collection and key: the version that is shown, and the one that was written."""

    def fill(self, resource: Resource, collection: Collection, rules: CustomRules) -> None:
        for key, shown in list(collection.items.items()):
            place = (collection.name, key)
            known, written = self._written.pop(place, (None, shown))
            if known is not shown:
                written = shown
            filled = _filled(resource, written, rules)
            collection.items[key] = filled
            if filled is not written:
                self._written[place] = (filled, written)

    def forget(self, collection: str) -> None:
        """Of a collection that is gone."""
        for place in [each for each in self._written if each[0] == collection]:
            del self._written[place]


def _filled(resource: Resource, version: Stored, rules: CustomRules) -> Stored:
    obj = version.decoded(resource)
    try:
        rules.set_defaults(obj)
    except StatusError:
        return version
    body = body_of(obj)
    if body == version.body:
        return version
    return Stored(
        version.namespace, version.name, version.revision, body, version.labels, version.fields
    )
