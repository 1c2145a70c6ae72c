"""What `kubectl get` shows: the columns of a kind and the cells of an object.

    columns(resource) -> list[JsonObject]      {name, type, format, description, priority} each
    cells(resource, obj, now) -> list[JsonValue]
    row_conditions(resource, obj) -> list[JsonObject]      `conditions` of a row; mostly empty
    printer_of(resource) -> Printer            the three above for one kind, looked up once
    SCALE                                      the printer of the `scale` subresource
    custom_printer(additional_printer_columns) -> Printer  for a custom resource's version

`now` is seconds since the epoch. Kinds without a printer of their own show name and creation.
"""

from podium.kubernetes.tables.custom import custom_printer
from podium.apiserver.tables.kinds import cells, columns, printer_of, row_conditions
from podium.kubernetes.tables.printer import Printer
from podium.kubernetes.tables.workloads import SCALE

__all__ = [
    "SCALE",
    "Printer",
    "cells",
    "columns",
    "custom_printer",
    "printer_of",
    "row_conditions",
]
