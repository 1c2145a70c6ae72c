"""Who owns which field: `metadata.managedFields`, and server-side apply.

    Writer(manager, now, subresource="")            now: `2026-01-01T00:00:00Z`
    manager_of(field_manager, user_agent) -> str    the name under which a request writes
    track_create(obj, schema, writer) -> None       sets obj.metadata.managedFields in place
    track_update(live, new, schema, writer) -> None sets new.metadata.managedFields in place
    apply(live, config, schema, writer, force) -> object
        the live object (None: there is none yet) with the configuration merged in and
        managedFields set; raises StatusError (conflicts, bad configuration)
    configuration_problem(config, schema) -> str    what does not fit its types, in one text
    merge_configuration(live, config, schema) -> object
        what mutating policies do: nobody owns the fields afterwards
    keep_times_of_idle_write(new, old) -> None      in place, last before storing

Order: `track_*` run on the decoded object with its defaults, before admission and before the
strategy drops what clients may not write (fields that will be dropped are not tracked). The result
of `apply` is decoded and given its defaults afterwards. An apply that changes nothing returns an
object equal to the live one, so that storing can be skipped and the resourceVersion stays. Updates
through `scale` are tracked on the scaled object with `Writer(..., subresource="scale")`.
"""

from podium.apiserver.managed_fields.applying import (
    apply,
    configuration_problem,
    merge_configuration,
)
from podium.apiserver.managed_fields.tracking import (
    Writer,
    keep_times_of_idle_write,
    manager_of,
    track_create,
    track_update,
)
from podium.apiserver.managed_fields.typed_values import OtherValue

__all__ = [
    "OtherValue",
    "Writer",
    "apply",
    "configuration_problem",
    "keep_times_of_idle_write",
    "manager_of",
    "merge_configuration",
    "track_create",
    "track_update",
]
