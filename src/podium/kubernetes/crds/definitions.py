"""Whether a CustomResourceDefinition may be stored, and what it means where it is silent.

Accepting the names of a definition, after which its resource is served. Upstream leaves this to
controllers; here it happens right after the definition is written, so that the resource is
there when the answer is. The answer itself shows the definition as it was before.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from podium.golang.json_values import JsonObject, JsonValue, copy_json
from podium.golang.quoting import go_quote
from podium.kubernetes.crds.rule_costs import (
    MAX_INSTRUCTIONS,
    MAX_WORK,
    TooManyChecks,
    bounded_checks,
    bounded_matching,
    excess_of_rules,
    rule_cost_errors,
)
from podium.kubernetes.crds.rule_tree import has_rules
from podium.kubernetes.crds.structural import SchemaNode, fill_defaults, read_schema
from podium.kubernetes.crds.structural_rules import structural_errors, usage_errors
from podium.kubernetes.crds.values import problems
from podium.kubernetes.kind_rules import BuiltinRules
from podium.kubernetes.rules.field_errors import (
    FieldError,
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
    too_many,
)
from podium.kubernetes.validation.names import dns1035_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import meta_errors, meta_of, meta_update_errors

_ACCEPTED = "NamesAccepted"
_ESTABLISHED = "Established"


def begin(crd: JsonObject) -> None:
    """In place: the status of a definition whose names nobody has looked at yet."""
    stored = [each["name"] for each in crd["spec"].get("versions") or () if each.get("storage")]
    crd["status"] = {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": stored,
    }


def accept_names(crd: JsonObject, others: Iterable[JsonObject], now: str) -> None:
    """In place: the status that follows from the names of a definition and of all others."""
    status = crd.setdefault("status", {})
    names = crd["spec"]["names"]
    conflict = _conflict(crd, others)
    if conflict is None:
        status["acceptedNames"] = dict(names)
        _set_condition(crd, _ACCEPTED, "True", "NoConflicts", "no conflicts found", now)
        told = "the initial names have been accepted"
        if not is_established(crd):
            _set_condition(crd, _ESTABLISHED, "True", "InitialNamesAccepted", told, now)
    else:
        reason, told = conflict
        status.setdefault("acceptedNames", {"plural": "", "kind": ""})
        _set_condition(crd, _ACCEPTED, "False", reason, told, now)
        if not is_established(crd):
            told = "not all names are accepted"
            _set_condition(crd, _ESTABLISHED, "False", "NotAccepted", told, now)
    stored = list(status.get("storedVersions") or ())
    for version in crd["spec"].get("versions") or ():
        if version.get("storage") and version["name"] not in stored:
            stored.append(version["name"])
    status["storedVersions"] = stored


def is_established(crd: JsonObject) -> bool:
    conditions = (crd.get("status") or {}).get("conditions") or ()
    return any(
        each.get("type") == _ESTABLISHED and each.get("status") == "True" for each in conditions
    )


def _conflict(crd: JsonObject, others: Iterable[JsonObject]) -> tuple[str, str] | None:
    """The reason and text of the first name that another definition of the group has."""
    resources: set[str | None] = set()
    kinds: set[str | None] = set()
    for other in others:
        is_rival = other["spec"]["group"] == crd["spec"]["group"]
        if not is_rival or other["metadata"]["name"] == crd["metadata"]["name"]:
            continue
        taken = (other.get("status") or {}).get("acceptedNames") or {}
        resources |= {taken.get("plural"), taken.get("singular"), *(taken.get("shortNames") or ())}
        kinds |= {taken.get("kind"), taken.get("listKind")}
    names = crd["spec"]["names"]
    for field, reason, used in (
        ("listKind", "ListKindConflict", kinds),
        ("kind", "KindConflict", kinds),
        ("shortNames", "ShortNamesConflict", resources),
        ("singular", "SingularConflict", resources),
        ("plural", "PluralConflict", resources),
    ):
        wanted = names.get(field) or ()
        for name in (wanted,) if isinstance(wanted, str) else wanted:
            if name in used:
                return reason, f"{go_quote(name)} is already in use"
    return None


def _set_condition(
    crd: JsonObject, kind: str, status: str, reason: str, message: str, now: str
) -> None:
    conditions = list(crd["status"].get("conditions") or ())
    old = next((each for each in conditions if each["type"] == kind), None)
    since = old["lastTransitionTime"] if old and old["status"] == status else now
    new = {
        "type": kind,
        "status": status,
        "lastTransitionTime": since,
        "reason": reason,
        "message": message,
    }
    if old is None:
        conditions.append(new)
    else:
        conditions[conditions.index(old)] = new
    crd["status"]["conditions"] = conditions


_MAX_VERSIONS: Final = 1000
"""Each is served by itself, so they cost more than their bytes."""
_APPROVAL: Final = "api-approved.kubernetes.io"
_PARTS: Final = frozenset(
    {"additionalPrinterColumns", "schema", "selectableFields", "subresources"}
)
"""What upstream keeps in one place when all versions agree in it."""
_CONVERSIONS: Final = ("None", "Webhook")
_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = (
    "byte", "date", "date-time", "double", "float", "int32", "int64", "password",
)  # fmt: skip


def default_definition(crd: JsonObject) -> None:
    spec = crd.setdefault("spec", {})
    names = spec.setdefault("names", {})
    kind = names.get("kind") or ""
    if not names.get("singular"):
        names["singular"] = kind.lower()
    if not names.get("listKind") and kind:
        names["listKind"] = f"{kind}List"
    if spec.get("conversion") is None:
        spec["conversion"] = {"strategy": "None"}


def validate_definition(crd: JsonObject) -> list[FieldError]:
    spec = crd.get("spec") or {}
    wanted = f"{(spec.get('names') or {}).get('plural') or ''}.{spec.get('group') or ''}"

    def name_problems(name: str) -> list[str]:
        found = subdomain_problems(name)
        return found if name == wanted else [*found, 'must be spec.names.plural+"."+spec.group']

    return [
        *meta_errors(meta_of(crd), False, name_problems),
        *_spec_errors(spec),
        *_stored_errors(spec),
        *_approval_errors(crd),
    ]


def validate_definition_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    errors = [
        *meta_update_errors(meta_of(new), meta_of(old)),
        *_spec_errors(new["spec"], old["spec"]),
    ]
    spec, before = new["spec"], old["spec"]
    fixed = [("group",), ("names", "plural")]
    if is_established(old):
        fixed = [("scope",), ("names", "kind"), *fixed]
    for path in fixed:
        value, stored = spec, before
        for name in path:
            value, stored = (value or {}).get(name), (stored or {}).get(name)
        if value != stored:
            errors.append(immutable(f"spec.{'.'.join(path)}", value))
    return errors


def _spec_errors(spec: JsonObject, before: JsonObject | None = None) -> list[FieldError]:
    with bounded_matching(MAX_INSTRUCTIONS):
        return _find_spec_errors(spec, _schemas(before or {}))


def _schemas(spec: JsonObject) -> dict[str, JsonValue]:
    """The schemas of a definition's versions by name."""
    return {each.get("name") or "": each.get("schema") for each in spec.get("versions") or ()}


def _find_spec_errors(spec: JsonObject, before: dict[str, JsonValue]) -> list[FieldError]:
    errors: list[FieldError] = []
    group = spec.get("group") or ""
    if not group:
        errors.append(required("spec.group"))
    elif found := subdomain_problems(group):
        errors.append(invalid("spec.group", group, ",".join(found)))
    elif "." not in group:
        told = "should be a domain with at least one dot"
        errors.append(invalid("spec.group", group, told))
    scope = spec.get("scope") or ""
    if not scope:
        errors.append(required("spec.scope"))
    elif scope not in ("Cluster", "Namespaced"):
        errors.append(not_supported("spec.scope", scope, ("Cluster", "Namespaced")))
    versions = spec.get("versions") or []
    if len(versions) > _MAX_VERSIONS:
        return [too_many("spec.versions", len(versions), _MAX_VERSIONS)]
    if (excess := excess_of_rules(versions)) is not None:
        return [excess]
    for index, version in enumerate(versions):
        if not (version.get("schema") or {}).get("openAPIV3Schema"):
            errors.append(required(f"spec.versions[{index}].schema.openAPIV3Schema"))
    shared = [part for part in _PARTS if len({repr(each.get(part)) for each in versions}) == 1]
    for index, version in enumerate(versions):
        errors += _version_errors(version, f"spec.versions[{index}]")
        errors += _part_errors(version, _PARTS - set(shared), f"spec.versions[{index}]", before)
    names = [version.get("name") for version in versions]
    shown = (
        [_reduce_version(version, shared) for version in versions] if "versions" in spec else None
    )
    if len(set(names)) != len(names):
        told = "must contain unique version names"
        errors.append(invalid("spec.versions", shown, told))
    if sum(1 for version in versions if version.get("storage")) != 1:
        told = "must have exactly one version marked as storage version"
        errors.append(invalid("spec.versions", shown, told))
    if versions and (found := dns1035_problems(names[0] or "")):
        errors.append(invalid("spec.version", names[0] or "", ",".join(found)))
    errors += _names_errors(spec.get("names") or {})
    if versions:
        errors += _part_errors(versions[0], set(shared), "spec", before)
    errors += _conversion_errors(spec.get("conversion") or {})
    if spec.get("preserveUnknownFields"):
        told = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in"
            " spec.versions[*].schema instead"
        )
        errors.append(invalid("spec.preserveUnknownFields", True, told))
    return errors


def _stored_errors(spec: JsonObject) -> Iterable[FieldError]:
    if not any(version.get("storage") for version in spec.get("versions") or ()):
        told = "must have at least one stored version"
        yield invalid("status.storedVersions", None, told)


def _names_errors(names: JsonObject) -> Iterable[FieldError]:
    for field in ("plural", "singular", "kind", "listKind"):
        if not names.get(field):
            yield required(f"spec.names.{field}")
    for field in ("plural", "singular", "kind", "listKind"):
        name = names.get(field)
        mixed = field.lower().endswith("kind")
        found = dns1035_problems(name.lower() if mixed else name) if name else []
        if found:
            told = "may have mixed case, but should otherwise match: " if mixed else ""
            yield invalid(f"spec.names.{field}", name, told + ",".join(found))
    for field in ("shortNames", "categories"):
        for index, name in enumerate(names.get(field) or ()):
            if found := dns1035_problems(name):
                yield invalid(f"spec.names.{field}[{index}]", name, ",".join(found))
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        told = "kind and listKind may not be the same"
        yield invalid("spec.names.listKind", names["listKind"], told)


def _version_errors(version: JsonObject, path: str) -> Iterable[FieldError]:
    name = version.get("name") or ""
    if found := dns1035_problems(name):
        yield invalid(f"{path}.name", name, ",".join(found))
    if version.get("deprecationWarning") is not None and not version.get("deprecated"):
        told = "can only be set for deprecated versions"
        yield invalid(f"{path}.deprecationWarning", version["deprecationWarning"], told)


def _part_errors(
    version: JsonObject, parts: AbstractSet[str], path: str, before: dict[str, JsonValue]
) -> Iterable[FieldError]:
    """Of some parts of a version; those that all versions have in common are reported once."""
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    if schema and "schema" in parts:
        holder = "validation" if path == "spec" else "schema"  # upstream: its older name
        is_unchanged = before.get(version.get("name") or "") == version.get("schema")
        place = f"{path}.{holder}.openAPIV3Schema"
        yield from _schema_errors(schema, place, is_unchanged=is_unchanged)
    if "additionalPrinterColumns" in parts:
        for index, column in enumerate(version.get("additionalPrinterColumns") or ()):
            yield from _column_errors(column, f"{path}.additionalPrinterColumns[{index}]")
    if "subresources" in parts:
        yield from _scale_errors(version.get("subresources") or {}, f"{path}.subresources")


def _reduce_version(version: JsonObject, shared: list[str]) -> JsonObject:
    """A version as errors show it, without what all have in common."""
    form: JsonObject = {
        "Name": version.get("name") or "",
        "Served": bool(version.get("served")),
        "Storage": bool(version.get("storage")),
        "Deprecated": bool(version.get("deprecated")),
        "DeprecationWarning": version.get("deprecationWarning"),
    }
    for part in ("schema", "subresources", "additionalPrinterColumns", "selectableFields"):
        form[part[0].upper() + part[1:]] = None if part in shared else version.get(part)
    return form


def _conversion_errors(conversion: JsonObject) -> Iterable[FieldError]:
    strategy = conversion.get("strategy") or ""
    if strategy not in _CONVERSIONS:
        yield not_supported("spec.conversion.strategy", strategy, _CONVERSIONS)
    if strategy == "Webhook":
        webhook = conversion.get("webhook") or {}
        if not webhook.get("clientConfig"):
            told = "required when strategy is set to Webhook"
            yield required("spec.conversion.webhookClientConfig", told)
        if not webhook.get("conversionReviewVersions"):
            yield required("spec.conversion.conversionReviewVersions")


def _schema_errors(schema: JsonObject, path: str, *, is_unchanged: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    if schema.get("nullable"):
        errors.append(forbidden(f"{path}.nullable", "nullable cannot be true at the root"))
    structural = structural_errors(schema, path)
    errors += structural
    used = usage_errors(schema, path)
    if not structural and not used:
        try:
            with bounded_matching(MAX_WORK), bounded_checks():
                errors += _default_errors(read_schema(schema), path)
        except TooManyChecks as problem:
            return [*errors, forbidden(path, f"defaults: {problem}")]
        if has_rules(schema):
            errors += rule_cost_errors(schema, path, is_unchanged=is_unchanged)
    return errors + used


def _default_errors(node: SchemaNode, path: str) -> Iterable[FieldError]:
    """Defaults have to fit the schema that they are in."""
    for name, below in node.properties.items():
        place = f"{path}.properties[{name}]"
        if below.has_default:
            value = copy_json(below.default)
            fill_defaults(value, below)
            at = f"{place}.default"
            for problem in problems(value, below, at):
                # upstream: the value has no name in the words that follow its path
                yield replace(problem, detail=problem.detail.replace(at, "", 1))
        yield from _default_errors(below, place)
    if node.items is not None:
        yield from _default_errors(node.items, f"{path}.items")
    if node.additional is not None:
        yield from _default_errors(node.additional, f"{path}.additionalProperties")


def _scale_errors(subresources: JsonObject, path: str) -> Iterable[FieldError]:
    scale = subresources.get("scale")
    if scale is None:
        return
    for field, root in (("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")):
        place, value = f"{path}.scale.{field}", scale.get(field) or ""
        if not value:
            yield required(place)
        elif not value.startswith("."):
            yield invalid(place, value, "must be a simple json path starting with .")
        elif not value.startswith(root):
            yield invalid(place, value, f"should be a json path under {root.rstrip('.')}")


def _column_errors(column: JsonObject, path: str) -> Iterable[FieldError]:
    if not column.get("name"):
        yield required(f"{path}.name")
    kind, told = column.get("type") or "", f"must be one of {','.join(_COLUMN_TYPES)}"
    if not kind:
        yield required(f"{path}.type", told)
    elif kind not in _COLUMN_TYPES:
        yield invalid(f"{path}.type", kind, told)
    form = column.get("format") or ""
    if form and form not in _COLUMN_FORMATS:
        yield invalid(f"{path}.format", form, f"must be one of {','.join(_COLUMN_FORMATS)}")
    json_path = column.get("jsonPath") or ""
    if not json_path:
        yield required(f"{path}.JSONPath")
    elif not json_path.startswith("."):
        yield invalid(f"{path}.JSONPath", json_path, "must be a simple json path starting with .")


def _approval_errors(crd: JsonObject) -> Iterable[FieldError]:
    group = (crd.get("spec") or {}).get("group") or ""
    is_protected = any(
        group == domain or group.endswith(f".{domain}") for domain in ("k8s.io", "kubernetes.io")
    )
    annotations = meta_of(crd).get("annotations") or {}
    if is_protected and not annotations.get(_APPROVAL):
        yield required(
            f"metadata.annotations[{_APPROVAL}]",
            f'protected groups must have approval annotation "{_APPROVAL}", see'
            " https://github.com/kubernetes/enhancements/pull/1111",
        )


class DefinitionRules(BuiltinRules):
    """The rules of definitions themselves, behind the interface of all kinds."""

    def set_defaults(self, obj: JsonObject) -> None:
        default_definition(obj)

    def validate_create(self, obj: JsonObject) -> list[FieldError]:
        return validate_definition(obj)

    def validate_update(
        self, subresource: str, new: JsonObject, old: JsonObject
    ) -> list[FieldError]:
        if subresource:
            return super().validate_update(subresource, new, old)
        return validate_definition_update(new, old)
