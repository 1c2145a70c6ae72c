"""Objects as rows of a table, which is what `kubectl get` prints.

A row carries the cells and, as the client wishes, the object, its metadata or nothing. Only the
first event of a watch says what the columns are.
"""

from collections.abc import Callable, Iterator

from podium.apiserver.answers.presenters import JsonLines, MetadataPresenter, event_line
from podium.apiserver.requests.listing import Listed
from podium.apiserver.requests.watching import Event
from podium.apiserver.store.stored import Stored, plain
from podium.golang.json_values import JsonObject, encode
from podium.kubernetes import conversion, status_errors
from podium.kubernetes.kinds.record import Printer
from podium.kubernetes.resources.resource import Resource
from podium.kubernetes.rules import field_errors

_INCLUDED = ("Metadata", "None", "Object")


class TablePresenter(JsonLines):
    def __init__(
        self,
        resource: Resource,
        printer: Printer,
        version: str,
        included: str,
        clock: Callable[[], float],
    ) -> None:
        if included not in ("", *_INCLUDED):
            problem = field_errors.invalid(
                "includeObject", included, "must be 'Metadata', 'Object', 'None', or empty"
            )
            raise status_errors.bad_request(f"Unable to convert to Table as requested: {problem}")
        self._resource = resource
        self._printer = printer
        self._version = version
        self._included = included or "Metadata"
        self._clock = clock
        self._metadata = MetadataPresenter(version)
        self._columns_told = False

    def one(self, version: Stored) -> bytes:
        return self.table_of(plain(version.body))

    def table_of(self, value: JsonObject) -> bytes:
        """A table with the row of one object."""
        metadata = {"resourceVersion": value["metadata"].get("resourceVersion", "")}
        return encode(self._table(metadata, [self._row(value)]))

    def many(self, listed: Listed) -> Iterator[bytes]:
        rows = [self._row(plain(version.body)) for version in listed.versions]
        yield encode(self._table(listed.metadata, rows)) + b"\n"

    def event(self, event: Event) -> bytes:
        value = plain(event.body)
        metadata = {"resourceVersion": value["metadata"].get("resourceVersion", "")}
        return event_line(event.type, self._told(metadata, [self._row(value)]))

    def bookmark(self, obj: JsonObject) -> bytes:
        row = self._row(obj)
        metadata = {"resourceVersion": obj["metadata"]["resourceVersion"]}
        return event_line("BOOKMARK", self._told(metadata, [row]))

    def _told(self, metadata: JsonObject, rows: list[JsonObject]) -> bytes:
        table = self._table(metadata, rows)
        if self._columns_told:
            table["columnDefinitions"] = None
        self._columns_told = True
        return encode(table)

    def _table(self, metadata: JsonObject, rows: list[JsonObject]) -> JsonObject:
        return {
            "kind": "Table",
            "apiVersion": f"meta.k8s.io/{self._version}",
            "metadata": metadata,
            "columnDefinitions": self._printer.columns,
            "rows": rows,
        }

    def _row(self, value: JsonObject) -> JsonObject:
        shown = conversion.shown(self._resource, value)
        obj = {"kind": self._resource.kind, "apiVersion": self._resource.api_version, **shown}
        row: JsonObject = {"cells": self._printer.cells(obj, self._clock())}
        conditions = self._printer.row_conditions(obj)
        if conditions:
            row["conditions"] = conditions
        if self._included == "Object":
            row["object"] = obj
        elif self._included == "Metadata":
            row["object"] = self._metadata.shown(obj)
        else:
            row["object"] = None
        return row
