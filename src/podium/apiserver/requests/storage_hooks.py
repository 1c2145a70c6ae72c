"""What writing an object of some kinds does beyond storing it.

Services take addresses from a pool and give them back; definitions of custom resources change what
is served. Verbs ask for a last word before storing; the registry tells what was stored.
"""

from typing import Protocol

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import FieldError
from podium.kubernetes.strategy import ServiceAddresses


class StorageHooks(Protocol):
    """The hooks of one resource's objects."""

    def settle(self, obj: JsonObject, now: str, *, dry_run: bool) -> list[FieldError]:
        """The last change before an object is stored, in place; errors refuse it."""

    def written(self, obj: JsonObject) -> None:
        """An object was created or changed."""

    def removed(self, obj: JsonObject) -> None:
        """An object is gone."""


class ServiceEffects:
    """Addresses and node ports of services."""

    def __init__(self) -> None:
        self._addresses = ServiceAddresses()

    def settle(self, obj: JsonObject, now: str, *, dry_run: bool) -> list[FieldError]:
        del now
        return self._addresses.allocate(obj, dry_run=dry_run)

    def written(self, obj: JsonObject) -> None:
        """Nothing more: what `settle` allocated is the service's."""

    def adopt(self, obj: JsonObject) -> None:
        """A service that was there before has its addresses already."""
        self._addresses.adopt(obj)

    def removed(self, obj: JsonObject) -> None:
        self._addresses.release(obj)
