"""Whether an object may be stored: every problem of its fields, in upstream's words.

    validate_create(resource, obj) -> list[FieldError]
    validate_update(resource, new, old) -> list[FieldError]
    validate_status_update(resource, new, old) -> list[FieldError]
    validate_subresource_update(resource, subresource, new, old) -> list[FieldError]
        for `resize` and `ephemeralcontainers` of pods
    validate_binding(binding) -> list[FieldError]
    validate_scale(scale) -> list[FieldError]

Contract: objects are decoded, have their defaults and were prepared by the strategy of their kind;
an empty list means that the object is fine. Nothing is changed and nothing is looked up. The order
of the errors, and those that upstream reports twice, are upstream's.
"""

from podium.kubernetes.validation.writes import (
    validate_binding,
    validate_create,
    validate_scale,
    validate_status_update,
    validate_subresource_update,
    validate_update,
)

__all__ = [
    "validate_binding",
    "validate_create",
    "validate_scale",
    "validate_status_update",
    "validate_subresource_update",
    "validate_update",
]
