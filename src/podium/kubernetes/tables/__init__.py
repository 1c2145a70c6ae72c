"""What `kubectl get` shows: the columns of a kind and the cells of an object.

    columns(resource) -> list[JsonObject]      {name, type, format, description, priority} each
    cells(resource, obj, now) -> list[JsonValue]
    row_conditions(resource, obj) -> list[JsonObject]      `conditions` of a row; mostly empty
    printer_of(resource) -> Printer            the three above for one kind, looked up once
    SCALE                                      the printer of the `scale` subresource
    custom_printer(additional_printer_columns) -> Printer  for a custom resource's version

`now` is seconds since the epoch. Kinds without a printer of their own show name and creation.
"""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import Cells, Printer
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.tables.custom import custom_printer
from podium.kubernetes.tables.printer import GENERIC
from podium.kubernetes.tables.workloads import SCALE

__all__ = ["SCALE", "cells", "columns", "custom_printer", "printer_of", "row_conditions"]

_CUSTOM: Final = custom_printer(None)


def printer_of(resource: ApiResource) -> Printer:
    """The printer of a kind; custom resources with columns of their own bring `custom_printer`."""
    if resource.is_custom:
        return _CUSTOM
    return resource.record.printer_in(resource.version) or GENERIC


def columns(resource: ApiResource) -> list[JsonObject]:
    return printer_of(resource).columns


def cells(resource: ApiResource, obj: JsonObject, now: float) -> Cells:
    return printer_of(resource).cells(obj, now)


def row_conditions(resource: ApiResource, obj: JsonObject) -> list[JsonObject]:
    return printer_of(resource).row_conditions(obj)
