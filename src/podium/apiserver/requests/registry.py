"""The store together with the rules of each resource: what every verb works on.

Objects go in and out in the form of the resource that was requested; the registry keeps them in
the form and collection in which they are stored. It also owns the two things that a pure program
must be given: the time and randomness.

The view into the store that admission has: decoded objects, kept while they do not change.
Every new pod asks for its namespace and for the priority classes. Both are decoded once per
version, and what is derived from a whole collection is worked out once per change of it.

What writing an object of some kinds does beyond storing it. Services take addresses from a pool
and give them back; definitions of custom resources change what is served. Verbs ask for a last
word before storing; the registry tells what was stored.

Events are
forgotten after a while, so that they do not fill the memory. Upstream lets etcd expire them after
an hour. Here old ones go when new ones come: a server that gets no events keeps the last ones.

Pages of a list go on showing its first moment, but not for ever. Upstream has etcd forget old
revisions every five minutes, and clients are made for that: they get 410, and a token to go on
with what is there now. Memory would allow more here, as long as little is written; that
programs meet 410 only on a busy server would help nobody.
"""

import uuid
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final, Protocol, TypeVar

from podium.apiserver.requests.attempted_writes import RegistryForms
from podium.apiserver.requests.definitions import Definitions
from podium.apiserver.requests.role_aggregation import RoleAggregation
from podium.apiserver.selectors import reader_of
from podium.apiserver.store.collection import Collection, HistoryLost
from podium.apiserver.store.store import Store
from podium.apiserver.store.stored import NO_LABELS, Stored, body_of
from podium.golang.json_values import JsonObject
from podium.golang.quoting import go_quote
from podium.kubernetes import conversion, status_errors
from podium.kubernetes.admission import DEFAULT_SETTINGS, AdmissionSettings
from podium.kubernetes.admission.lookup import Summaries
from podium.kubernetes.crds import DefinitionRules
from podium.kubernetes.kind_rules import Rules, rules_of
from podium.kubernetes.kinds.record import Printer
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.resources.table import ResourceTable
from podium.kubernetes.rules.field_errors import FieldError
from podium.kubernetes.rules.timestamps import seconds_of, time_text
from podium.kubernetes.strategy import ServiceAddresses
from podium.kubernetes.tables import printer_of
from podium.kubernetes.validation.names import path_segment_problems

T = TypeVar("T")
_MAX_OBJECTS: Final = 1024


class StoreLookup:
    """Reads other objects on behalf of admission; what it gives is not to be changed."""

    def __init__(self, registry: "Registry") -> None:
        self._registry = registry
        self._objects: dict[tuple[str, str, str, str], tuple[Stored, JsonObject]] = {}
        self._derived: dict[tuple[str, str, Any], tuple[int, Any]] = {}
        self._summaries: dict[tuple[str, str, str, Any], _Followed] = {}

    def find(
        self, group: str, plural: str, namespace: str, name: str, version: str = "v1"
    ) -> JsonObject | None:
        resource = self._registry.table.find(group, version, plural)
        if resource is None:
            return None
        stored = self._registry.collection(resource).get(namespace, name)
        key = (group, plural, namespace, name)
        if stored is None:
            self._objects.pop(key, None)
            return None
        kept = self._objects.get(key)
        if kept is not None and kept[0] is stored:
            return kept[1]
        if len(self._objects) >= _MAX_OBJECTS:
            self._objects.clear()
        value = self._registry.read(resource, stored)
        self._objects[key] = (stored, value)
        return value

    def get_derived(
        self, group: str, plural: str, derive: Callable[[Sequence[JsonObject]], T]
    ) -> T:
        resource = self._registry.table.find(group, "v1", plural)
        if resource is None:
            return derive(())
        collection = self._registry.collection(resource)
        key = (group, plural, derive)
        kept = self._derived.get(key)
        if kept is not None and kept[0] == collection.history.end:
            found: T = kept[1]
            return found
        objects = [self._registry.read(resource, each) for each in collection.current()]
        found = derive(objects)
        self._derived[key] = (collection.history.end, found)
        return found

    def summaries(
        self,
        group: str,
        plural: str,
        namespace: str,
        summarise: Callable[[JsonObject], T],
        version: str = "v1",
    ) -> Summaries[T]:
        resource = self._registry.table.find(group, version, plural)
        if resource is None:
            return Summaries()
        collection = self._registry.collection(resource)
        history, read = collection.history, self._registry.read
        key = (group, plural, namespace, summarise)
        kept = self._summaries.get(key)
        try:
            if kept is None or kept.collection is not collection:
                changes = None
            else:
                changes = history.since(kept.place, limit=history.end - kept.place)
        except HistoryLost:
            changes = None
        if kept is None or changes is None:
            summaries = Summaries(
                (stored.name, summarise(read(resource, stored)))
                for stored in collection.current(namespace)
            )
            kept = self._summaries[key] = _Followed(collection, summaries)
        else:
            # What has changed more than once is read once.
            for stored in {each.version.key: each.version for each in changes}.values():
                if stored.namespace == namespace:
                    now = collection.items.get(stored.key)
                    if now is None:
                        kept.summaries.remove(stored.name)
                    else:
                        kept.summaries.put(stored.name, summarise(read(resource, now)))
        kept.place = history.end
        return kept.summaries


@dataclass(slots=True)
class _Followed:
    """Summaries of a collection, and the place in its history up to which they are true."""

    collection: Collection
    summaries: Summaries[Any]
    place: int = 0


class StorageHooks(Protocol):
    """The hooks of one resource's objects."""

    def settle(self, obj: JsonObject, now: str, *, dry_run: bool) -> list[FieldError]:
        """The last change before an object is stored, in place; errors refuse it."""

    def after_write(self, obj: JsonObject) -> None:
        """An object was created or changed."""

    def after_delete(self, obj: JsonObject) -> None:
        """An object is gone."""


class ServiceEffects:
    """Addresses and node ports of services."""

    def __init__(self) -> None:
        self._addresses = ServiceAddresses()

    def settle(self, obj: JsonObject, now: str, *, dry_run: bool) -> list[FieldError]:
        del now
        return self._addresses.allocate(obj, dry_run=dry_run)

    def after_write(self, obj: JsonObject) -> None:
        """Nothing more: what `settle` allocated is the service's."""

    def adopt(self, obj: JsonObject) -> None:
        """A service that was there before has its addresses already."""
        self._addresses.adopt(obj)

    def after_delete(self, obj: JsonObject) -> None:
        self._addresses.release(obj)


_NAME_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_MAX_GENERATED = 63


def check_path_name(name: str) -> None:
    """Refuse a name that no object can have, because it means something else in a path."""
    problems = path_segment_problems(name)
    if problems:
        told = f"Name parameter invalid: {go_quote(name)}: {';'.join(problems)}"
        raise status_errors.bad_request(told)


class Registry:
    """All objects, by resource, with their rules."""

    def __init__(
        self,
        store: Store,
        table: ResourceTable,
        *,
        clock: Callable[[], float],
        randomness: Random,
        settings: AdmissionSettings = DEFAULT_SETTINGS,
    ) -> None:
        self.store = store
        self.table = table
        self.clock = clock
        """Seconds since the epoch."""
        self.settings = settings
        self.randomness = randomness
        self._collections: dict[ApiResource, Collection] = {}
        self._rules: dict[ApiResource, Rules] = {}
        self._printers: dict[ApiResource, Printer] = {}
        self.lookup = StoreLookup(self)
        self.forms = RegistryForms(self)
        self.definitions = Definitions(self)
        self.compaction = Compaction(clock)
        self.storage_hooks: dict[ApiResource, StorageHooks] = {}
        self._second = -1
        self._second_text = ""
        self._restore()

    def _restore(self) -> None:
        """Take note of what is stored already: definitions and the addresses of services."""
        definitions = self.table.get_required("customresourcedefinitions", "apiextensions.k8s.io")
        self._rules[definitions] = DefinitionRules(definitions)
        self.storage_hooks[definitions] = self.definitions
        for version in self.collection(definitions).current():
            self.definitions.after_write(self.read(definitions, version))
        services = self.table.get_required("services")
        addresses = ServiceEffects()
        self.storage_hooks[services] = addresses
        for version in self.collection(services).current():
            addresses.adopt(self.read(services, version))
        roles = self.table.get_required("clusterroles", "rbac.authorization.k8s.io")
        self.storage_hooks[roles] = RoleAggregation(self)
        self._restore_events()

    def _restore_events(self) -> None:
        events = self.table.get_required("events")
        expiry = EventExpiry(self, self.clock)
        self.storage_hooks[events] = expiry
        self.storage_hooks[self.table.get_required("events", "events.k8s.io")] = expiry
        found = [self.read(events, version) for version in self.collection(events).current()]
        for event in sorted(found, key=lambda each: str(each["metadata"]["creationTimestamp"])):
            expiry.adopt(event, seconds_of(event["metadata"]["creationTimestamp"]))

    # --- time and randomness ------------------------------------------------------------------

    def now(self) -> str:
        """The time as objects write it, to the second."""
        second = int(self.clock())
        if second != self._second:
            self._second = second
            self._second_text = time_text(second)
        return self._second_text

    def new_uid(self) -> str:
        return str(uuid.UUID(int=self.randomness.getrandbits(128), version=4))

    def name_from(self, prefix: str) -> str:
        """A name that starts with `prefix`, cut so that a generated part fits behind it."""
        suffix = "".join(self.randomness.choices(_NAME_CHARACTERS, k=_SUFFIX_LENGTH))
        return prefix[: _MAX_GENERATED - _SUFFIX_LENGTH] + suffix

    # --- resources ----------------------------------------------------------------------------

    def rules(self, resource: ApiResource) -> Rules:
        found = self._rules.get(resource)
        if found is None:
            found = self._rules[resource] = rules_of(resource, self.table.find)
        return found

    def serve(self, resource: ApiResource, rules: Rules, printer: Printer) -> None:
        """Serve a custom resource by the rules of its definition."""
        self._rules[resource] = rules
        self._printers[resource] = printer
        self.table.add(resource)

    def withdraw(self, resource: ApiResource) -> None:
        """Serve a custom resource no longer."""
        self.table.remove(resource)
        for known in (self._rules, self._printers, self._collections):
            known.pop(resource, None)

    def collection(self, resource: ApiResource) -> Collection:
        found = self._collections.get(resource)
        if found is None:
            found = self.store.collection(conversion.storage_name(resource), reader_of(resource))
            self._collections[resource] = found
        return found

    def printer(self, resource: ApiResource) -> Printer:
        """Shows the objects of a resource as rows of a table."""
        found = self._printers.get(resource)
        if found is None:
            found = self._printers[resource] = printer_of(resource)
        return found

    # --- objects ------------------------------------------------------------------------------

    def find(self, resource: ApiResource, namespace: str, name: str) -> Stored | None:
        return self.collection(resource).get(namespace, name)

    def get(self, resource: ApiResource, namespace: str, name: str) -> Stored:
        found = self.collection(resource).get(namespace, name)
        if found is None:
            check_path_name(name)
            raise status_errors.not_found(resource, name)
        return found

    def read(self, resource: ApiResource, version: Stored) -> JsonObject:
        """The object as the resource shows it; the caller may change it."""
        return conversion.to_served(resource, version.decode(resource))

    def create(
        self, resource: ApiResource, namespace: str, name: str, obj: JsonObject, *, dry_run: bool
    ) -> Stored:
        if dry_run:
            return self._build_dry_run(resource, namespace, name, obj, 0)
        version = self.store.create(
            self.collection(resource), namespace, name, conversion.to_stored(resource, obj)
        )
        if resource in self.storage_hooks:
            self.storage_hooks[resource].after_write(obj)
        return version

    def replace(
        self, resource: ApiResource, before: Stored, obj: JsonObject, *, dry_run: bool
    ) -> Stored:
        if dry_run:
            return self._build_dry_run(
                resource, before.namespace, before.name, obj, before.revision
            )
        version = self.store.replace(
            self.collection(resource), before, conversion.to_stored(resource, obj)
        )
        if resource in self.storage_hooks:
            self.storage_hooks[resource].after_write(obj)
        return version

    def remove(self, resource: ApiResource, before: Stored) -> Stored:
        """Delete an object and give its last sight."""
        body = self.store.delete(self.collection(resource), before)
        gone = Stored(
            before.namespace, before.name, self.store.revision, body, before.labels, before.fields
        )
        if resource in self.storage_hooks:
            self.storage_hooks[resource].after_delete(self.read(resource, before))
        if resource.is_custom:
            self.definitions.instance_removed(resource)
        return gone

    def _build_dry_run(
        self, resource: ApiResource, namespace: str, name: str, obj: JsonObject, revision: int
    ) -> Stored:
        """What a dry run answers: an object that was never stored."""
        body = body_of(conversion.to_stored(resource, obj))
        return Stored(namespace, name, revision, body, NO_LABELS, ())


LIFE_S: Final = 3600.0
_MAX_AT_ONCE: Final = 100
"""So that one event never pays for the removal of very many."""


class EventExpiry:
    """Removes events an hour after they were created."""

    def __init__(self, registry: "Registry", clock: Callable[[], float]) -> None:
        self._registry = registry
        self._clock = clock
        self._living: deque[tuple[float, str, str, str]] = deque()
        self._known: set[str] = set()

    def settle(self, obj: JsonObject, now: str, *, dry_run: bool) -> list[FieldError]:
        del obj, now, dry_run
        return []

    def after_write(self, obj: JsonObject) -> None:
        self.adopt(obj, self._clock())
        self._expire()

    def after_delete(self, obj: JsonObject) -> None:
        self._known.discard(obj["metadata"]["uid"])

    def adopt(self, obj: JsonObject, born: float) -> None:
        """Note when an event is to go; later versions of it do not live longer."""
        metadata = obj["metadata"]
        uid = metadata["uid"]
        if uid not in self._known:
            self._known.add(uid)
            self._living.append((born + LIFE_S, metadata["namespace"], metadata["name"], uid))

    def _expire(self) -> None:
        events = self._registry.table.get_required("events")
        now = self._clock()
        for _ in range(_MAX_AT_ONCE):
            if not self._living or self._living[0][0] > now:
                return
            _, namespace, name, uid = self._living.popleft()
            if uid in self._known:
                found = self._registry.find(events, namespace, name)
                if found is not None:
                    self._registry.remove(events, found)


KEPT_S: Final = 300.0
_BETWEEN_S: Final = 10.0


class Compaction:
    """Notes from time to time, whenever somebody lists, which revision it is."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._noted: deque[tuple[float, int]] = deque()
        self._forgotten = 0

    def oldest(self, revision: int) -> int:
        """The oldest revision that lists may ask for; it is `revision` by now."""
        now = self._clock()
        if not self._noted or now - self._noted[-1][0] >= _BETWEEN_S:
            self._noted.append((now, revision))
        while now - self._noted[0][0] >= KEPT_S:
            self._forgotten = self._noted.popleft()[1]
        return self._forgotten
