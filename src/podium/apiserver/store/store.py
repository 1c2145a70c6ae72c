"""All collections under one revision counter, and the order in which writes become visible.

Every write gets the next revision, whatever it writes, as in etcd. In memory a write is visible at
once. With a write-ahead log it is applied at once, so that the next request builds on it, but
counts as `published` only when the log has it on disk: until then watchers are not told and whoever
answers clients waits (`published_revision`). So nobody ever saw what a crash could take back.

The store is synchronous and belongs to one thread. Reading, deciding and writing without giving way
in between is what makes a request atomic; there are no locks.
"""

from collections.abc import Callable

from podium.apiserver.store.collection import Collection, FieldReader, no_fields
from podium.apiserver.store.stored import NO_LABELS, Loaded, Record, Stored, plain
from podium.golang.json_values import JsonObject


class Store:
    """The state of the cluster."""

    def __init__(self, loaded: Loaded | None = None) -> None:
        self.revision = loaded.revision if loaded else 1
        """The revision of the latest write."""
        self.published_revision = self.revision
        """The revision up to which everything is on disk and may be seen."""
        self._collections: dict[str, Collection] = {}
        self._loaded = loaded.objects if loaded else {}
        self._durable = loaded is not None
        self._unpublished: list[tuple[int, Collection]] = []
        self._records: list[Record] = []
        self.on_write: Callable[[], None] | None = None
        """Called after a write that waits for the write-ahead log."""

    def collection(self, name: str, read_fields: FieldReader = no_fields) -> Collection:
        """The collection of a resource; made, or brought up from the log, when first asked."""
        found = self._collections.get(name)
        if found is None:
            found = Collection(name, read_fields, self.revision)
            for row in self._loaded.pop(name, ()):
                found.load(_version_from(row, read_fields))
            self._collections[name] = found
        return found

    def drop_collection(self, name: str) -> None:
        """Forget a collection that has no objects any more."""
        self._collections.pop(name, None)

    def names(self) -> list[str]:
        """The collections that hold objects or once did."""
        return sorted({*self._collections, *self._loaded})

    def create(
        self, collection: Collection, namespace: str, name: str, value: JsonObject
    ) -> Stored:
        """Write a new object; the caller has made sure that the name is free."""
        return self._put(collection, namespace, name, value)

    def replace(self, collection: Collection, before: Stored, value: JsonObject) -> Stored:
        return self._put(collection, before.namespace, before.name, value)

    def delete(self, collection: Collection, before: Stored) -> bytes:
        """Remove an object and give its last sight, which carries the deletion's revision."""
        self.revision += 1
        change = collection.remove(before.key, self.revision)
        self._note_write(collection, Record(collection.name, before.key, self.revision, None))
        return change.departed

    def _put(self, collection: Collection, namespace: str, name: str, value: JsonObject) -> Stored:
        version = collection.version_of(namespace, name, value, self.revision + 1)
        self.revision += 1
        collection.put(version)
        self._note_write(
            collection, Record(collection.name, version.key, self.revision, version.body)
        )
        return version

    def _note_write(self, collection: Collection, record: Record) -> None:
        if not self._durable:
            self.published_revision = self.revision
            for listener in tuple(collection.listeners.values()):
                listener()
            return
        self._records.append(record)
        self._unpublished.append((self.revision, collection))
        if self.on_write is not None:
            self.on_write()

    # --- for whoever runs the log -------------------------------------------------------------

    def take_records(self) -> list[Record]:
        """The writes that the log does not have yet; they are the caller's from now on."""
        records, self._records = self._records, []
        return records

    def publish(self, revision: int) -> None:
        """Everything up to a revision is on disk: let it be seen."""
        self.published_revision = revision
        touched: dict[str, Collection] = {}
        done = 0
        for written, collection in self._unpublished:
            if written > revision:
                break
            touched[collection.name] = collection
            done += 1
        del self._unpublished[:done]
        for collection in touched.values():
            for listener in tuple(collection.listeners.values()):
                listener()


def _version_from(row: Record, read_fields: FieldReader) -> Stored:
    assert row.body is not None, "the write-ahead log keeps no deleted objects"
    namespace, _, name = row.key.rpartition("/")
    value = plain(row.body)
    labels = value["metadata"].get("labels") or NO_LABELS
    return Stored(namespace, name, row.revision, row.body, labels, read_fields(value))
