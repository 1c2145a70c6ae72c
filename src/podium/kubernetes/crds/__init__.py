"""Custom resources: their definitions, and what a structural schema makes of their objects.

    default_definition(crd) -> None                     in place: singular, listKind, conversion
    validate_definition(crd) -> list[FieldError]        also that of a changed one:
    validate_definition_update(new, old) -> list[FieldError]
    begin(crd) -> None                                  in place: the status of a new definition
    accept_names(crd, others, now) -> None              in place: status with accepted names,
                                                        conditions and stored versions
    is_established(crd) -> bool
    resources_of_definition(crd) -> list[Resource]      what the table serves for it, by version
    schema_of_version(crd, version) -> JsonObject       the openAPIV3Schema of a version
    version_of(crd, version) -> JsonObject              one of its versions
    DefinitionRules(resource)                           the Rules of definitions themselves
    CustomRules(crd, resource)                          the Rules by which its objects are written:
        .schema                                         for patching, managed_fields, openapi
        .decode(obj) -> Decoded                         pruned; `unknown field "spec.foo"`
        .set_defaults(obj), .prepare_create(obj, now), .prepare_update(subresource, new, old, now)
        .validate_create(obj), .validate_update(subresource, new, old) -> list[FieldError]
        .scale -> JsonObject | None                     paths of the scale subresource

Contract: texts are upstream's (`apiextensions-apiserver`, `kube-openapi/pkg/validation`).
Rules in CEL (`x-kubernetes-validations`) are evaluated, and their cost is estimated in advance;
conversion between versions is none (`strategy: None`): all versions show the same fields.
"""

from podium.kubernetes.crds.definitions import (
    DefinitionRules,
    accept_names,
    begin,
    default_definition,
    is_established,
    validate_definition,
    validate_definition_update,
)
from podium.kubernetes.crds.rules import (
    CustomRules,
    resources_of_definition,
    schema_of_version,
    version_of,
)

__all__ = [
    "CustomRules",
    "DefinitionRules",
    "accept_names",
    "begin",
    "default_definition",
    "is_established",
    "resources_of_definition",
    "schema_of_version",
    "validate_definition",
    "validate_definition_update",
    "version_of",
]
