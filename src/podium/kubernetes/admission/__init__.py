"""Rules between an object and the rest of the cluster, applied when it is written.

    admit_create(resource, namespace, obj, lookup, settings) -> None    changes `obj` in place
    admit_update(resource, namespace, new, old, lookup, settings) -> None
    admit_delete(resource, namespace, name) -> None
    admit_binding(binding, lookup) -> None              topology labels of the node
    review_create(resource, obj, lookup) -> None        after validation, changes nothing
    review_update(resource, new, old, lookup) -> None
    charge_create(resource, obj, lookup) -> None        quotas, last of all
    charge_update(resource, new, old, lookup) -> None
    SYSTEM_CLASSES                                      priority classes of every cluster

Order of a write: decode, defaults, `admit_*`, strategy, validation, `review_*`, `charge_*`, store;
`new_objects.admit_new` takes a new object through it. All raise StatusError when the request is
refused. `lookup` is the view into the store that the protocol
`Lookup` names; `settings` has a default. Writes to subresources are not admitted, bindings are.
"""

from podium.kubernetes.admission.lookup import DEFAULT_SETTINGS, AdmissionSettings, Lookup
from podium.kubernetes.admission.priorities import SYSTEM_CLASSES
from podium.kubernetes.admission.rules import (
    admit_binding,
    admit_create,
    admit_delete,
    admit_update,
    charge_create,
    charge_update,
    review_create,
    review_update,
)

__all__ = [
    "DEFAULT_SETTINGS",
    "SYSTEM_CLASSES",
    "AdmissionSettings",
    "Lookup",
    "admit_binding",
    "admit_create",
    "admit_delete",
    "admit_update",
    "charge_create",
    "charge_update",
    "review_create",
    "review_update",
]
