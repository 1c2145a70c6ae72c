"""The store together with the rules of each resource: what every verb works on.

Objects go in and out in the form of the resource that was asked for; the registry keeps them in
the form and collection in which they are stored. It also owns the two things that a pure program
must be given: the time and randomness.
"""

import uuid
from collections.abc import Callable
from random import Random

from podium.apiserver.requests.attempted_writes import RegistryForms
from podium.apiserver.requests.compaction import Compaction
from podium.apiserver.requests.definitions import DefinitionRules, Definitions
from podium.apiserver.requests.expiry import EventExpiry
from podium.apiserver.requests.lookup import StoreLookup
from podium.apiserver.requests.role_aggregation import RoleAggregation
from podium.apiserver.requests.storage_hooks import ServiceEffects, StorageHooks
from podium.apiserver.selectors.selectable import reader_of
from podium.apiserver.store.collection import Collection
from podium.apiserver.store.store import Store
from podium.apiserver.store.stored import NO_LABELS, Stored, body_of
from podium.golang.json_values import JsonObject
from podium.golang.quoting import quoted
from podium.kubernetes import conversion, status_errors
from podium.kubernetes.admission import DEFAULT_SETTINGS, AdmissionSettings
from podium.kubernetes.kind_rules import BuiltinRules, ConvertedRules, Rules
from podium.kubernetes.kinds.record import Printer
from podium.kubernetes.resources.resource import Resource
from podium.kubernetes.resources.table import ResourceTable
from podium.kubernetes.rules.timestamps import seconds_of, time_text
from podium.kubernetes.tables import printer_of
from podium.kubernetes.validation.names import path_segment_problems

_NAME_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_MAX_GENERATED = 63


def check_path_name(name: str) -> None:
    """Refuse a name that no object can have, because it means something else in a path."""
    problems = path_segment_problems(name)
    if problems:
        told = f"Name parameter invalid: {quoted(name)}: {';'.join(problems)}"
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
        self._collections: dict[Resource, Collection] = {}
        self._rules: dict[Resource, Rules] = {}
        self._printers: dict[Resource, Printer] = {}
        self.lookup = StoreLookup(self)
        self.forms = RegistryForms(self)
        self.definitions = Definitions(self)
        self.compaction = Compaction(clock)
        self.storage_hooks: dict[Resource, StorageHooks] = {}
        self._second = -1
        self._second_text = ""
        self._restore()

    def _restore(self) -> None:
        """Take note of what is stored already: definitions and the addresses of services."""
        definitions = self.table.named("customresourcedefinitions", "apiextensions.k8s.io")
        self._rules[definitions] = DefinitionRules(definitions)
        self.storage_hooks[definitions] = self.definitions
        for version in self.collection(definitions).current():
            self.definitions.written(self.read(definitions, version))
        services = self.table.named("services")
        addresses = ServiceEffects()
        self.storage_hooks[services] = addresses
        for version in self.collection(services).current():
            addresses.adopt(self.read(services, version))
        roles = self.table.named("clusterroles", "rbac.authorization.k8s.io")
        self.storage_hooks[roles] = RoleAggregation(self)
        self._restore_events()

    def _restore_events(self) -> None:
        events = self.table.named("events")
        expiry = EventExpiry(self, self.clock)
        self.storage_hooks[events] = expiry
        self.storage_hooks[self.table.named("events", "events.k8s.io")] = expiry
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

    def rules(self, resource: Resource) -> Rules:
        found = self._rules.get(resource)
        if found is None:
            found = self._rules[resource] = self._builtin_rules(resource)
        return found

    def _builtin_rules(self, resource: Resource) -> Rules:
        ruling = conversion.ruling_version(resource)
        if ruling == resource.version:
            return BuiltinRules(resource)
        return ConvertedRules(resource, self.table.named(resource.plural, resource.group, ruling))

    def serve(self, resource: Resource, rules: Rules, printer: Printer) -> None:
        """Serve a custom resource by the rules of its definition."""
        self._rules[resource] = rules
        self._printers[resource] = printer
        self.table.add(resource)

    def withdraw(self, resource: Resource) -> None:
        """Serve a custom resource no longer."""
        self.table.remove(resource)
        for known in (self._rules, self._printers, self._collections):
            known.pop(resource, None)

    def collection(self, resource: Resource) -> Collection:
        found = self._collections.get(resource)
        if found is None:
            found = self.store.collection(conversion.storage_name(resource), reader_of(resource))
            self._collections[resource] = found
        return found

    def printer(self, resource: Resource) -> Printer:
        """Shows the objects of a resource as rows of a table."""
        found = self._printers.get(resource)
        if found is None:
            found = self._printers[resource] = printer_of(resource)
        return found

    # --- objects ------------------------------------------------------------------------------

    def find(self, resource: Resource, namespace: str, name: str) -> Stored | None:
        return self.collection(resource).get(namespace, name)

    def get(self, resource: Resource, namespace: str, name: str) -> Stored:
        found = self.collection(resource).get(namespace, name)
        if found is None:
            check_path_name(name)
            raise status_errors.not_found(resource, name)
        return found

    def read(self, resource: Resource, version: Stored) -> JsonObject:
        """The object as the resource shows it; the caller may change it."""
        return conversion.shown(resource, version.decoded(resource))

    def create(
        self, resource: Resource, namespace: str, name: str, obj: JsonObject, *, dry_run: bool
    ) -> Stored:
        if dry_run:
            return self._imagined(resource, namespace, name, obj, 0)
        version = self.store.create(
            self.collection(resource), namespace, name, conversion.kept(resource, obj)
        )
        if resource in self.storage_hooks:
            self.storage_hooks[resource].written(obj)
        return version

    def replace(
        self, resource: Resource, before: Stored, obj: JsonObject, *, dry_run: bool
    ) -> Stored:
        if dry_run:
            return self._imagined(resource, before.namespace, before.name, obj, before.revision)
        version = self.store.replace(
            self.collection(resource), before, conversion.kept(resource, obj)
        )
        if resource in self.storage_hooks:
            self.storage_hooks[resource].written(obj)
        return version

    def remove(self, resource: Resource, before: Stored) -> Stored:
        """Delete an object and give its last sight."""
        body = self.store.delete(self.collection(resource), before)
        gone = Stored(
            before.namespace, before.name, self.store.revision, body, before.labels, before.fields
        )
        if resource in self.storage_hooks:
            self.storage_hooks[resource].removed(self.read(resource, before))
        if resource.is_custom:
            self.definitions.instance_removed(resource)
        return gone

    def _imagined(
        self, resource: Resource, namespace: str, name: str, obj: JsonObject, revision: int
    ) -> Stored:
        """What a dry run answers: an object that was never stored."""
        body = body_of(conversion.kept(resource, obj))
        return Stored(namespace, name, revision, body, NO_LABELS, ())
