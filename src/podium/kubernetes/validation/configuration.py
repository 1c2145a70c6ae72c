"""Config maps, secrets and the other small kinds that hold data for others."""

import base64
import binascii
from collections.abc import Mapping
from typing import Final

from podium.golang.json_reader import syntax_error
from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import forbidden, immutable, invalid, required, too_long
from podium.kubernetes.validation.names import (
    config_key_problems,
    subdomain_problems,
)
from podium.kubernetes.validation.object_meta import (
    NOT_NEGATIVE,
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_each,
    meta_of,
)
from podium.kubernetes.validation.pod_specs import check_template

_MAX_SECRET: Final = 1024 * 1024
_EITHER_WILL_DO: Final = "kubernetes.io/basic-auth"
_KEYS_BY_PURPOSE: Final[Mapping[str, tuple[str, ...]]] = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    _EITHER_WILL_DO: ("username", "password"),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}


_HOLDS_JSON: Final = ("kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson")


def config_map_create_errors(config_map: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(config_map), True, subdomain_problems)
    data: JsonObject = config_map.get("data") or {}
    binary: JsonObject = config_map.get("binaryData") or {}
    size = 0
    for key, value in sorted(data.items()):
        at = f"data[{key}]"
        check_each(errors, config_key_problems(key), key, at)
        if key in binary:
            errors.append(invalid(at, key, "duplicate of key present in binaryData"))
        size += len(value.encode())
    for key, value in sorted(binary.items()):
        check_each(errors, config_key_problems(key), key, f"binaryData[{key}]")
        size += len(value or "") * 3 // 4
    if size > _MAX_SECRET:
        errors.append(too_long("[]", _MAX_SECRET))
    return errors


def config_map_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    _check_immutable(errors, new, old, ("data", "binaryData"))
    errors.extend(config_map_create_errors(new))
    return errors


def secret_create_errors(secret: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(secret), True, subdomain_problems)
    size = 0
    for key, value in sorted((secret.get("data") or {}).items()):
        check_each(errors, config_key_problems(key), key, f"data[{key}]")
        try:
            size += len(base64.b64decode(value or "", validate=True))
        except binascii.Error:
            size += len(value)
    if size > _MAX_SECRET:
        errors.append(too_long("data", _MAX_SECRET))
    _check_purpose(errors, secret)
    return errors


def _check_purpose(errors: Errors, secret: JsonObject) -> None:
    """Secrets for known purposes have what these need."""
    data: JsonObject = secret.get("data") or {}
    purpose = secret.get("type") or ""
    if purpose == "kubernetes.io/service-account-token":
        annotation = "kubernetes.io/service-account.name"
        if not (meta_of(secret).get("annotations") or {}).get(annotation):
            errors.append(required(f"metadata.annotations[{annotation}]"))
    keys = _KEYS_BY_PURPOSE.get(purpose, ())
    if purpose == _EITHER_WILL_DO and any(key in data for key in keys):
        return
    errors.extend(required(f"data[{key}]") for key in keys if key not in data)
    if purpose in _HOLDS_JSON:
        for key in keys:
            problem = syntax_error(_bytes(data[key])) if key in data else ""
            if problem:
                errors.append(invalid(f"data[{key}]", "<secret contents redacted>", problem))


def _bytes(text: str | None) -> bytes:
    try:
        return base64.b64decode(text or "", validate=True)
    except binascii.Error:
        return b""


def secret_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    if new.get("type") != old.get("type"):
        errors.append(immutable("type", new.get("type")))
    _check_immutable(errors, new, old, ("data",))
    errors.extend(secret_create_errors(new))
    return errors


def _check_immutable(
    errors: Errors, new: JsonObject, old: JsonObject, fields: tuple[str, ...]
) -> None:
    if not old.get("immutable"):
        return
    if not new.get("immutable"):
        errors.append(forbidden("immutable", "field is immutable when `immutable` is set"))
    for field in fields:
        if (new.get(field) or None) != (old.get(field) or None):
            errors.append(forbidden(field, "field is immutable when `immutable` is set"))


def revision_create_errors(revision: JsonObject) -> Errors:
    """A ControllerRevision."""
    errors = built_in_meta_errors(meta_of(revision), True, subdomain_problems)
    number = revision.get("revision") or 0
    if number < 0:
        errors.append(invalid("revision", number, NOT_NEGATIVE))
    data = revision.get("data")
    if data is None:
        errors.append(required("data", "data is mandatory"))
    elif not isinstance(data, dict):
        errors.append(required("data", "data must be a valid JSON object"))
    return errors


def revision_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    errors.extend(built_in_meta_errors(meta_of(new), True, subdomain_problems))
    if new.get("data") != old.get("data"):
        errors.append(immutable("data", new.get("data")))
    return errors


def pod_template_create_errors(template: JsonObject) -> Errors:
    """A PodTemplate."""
    errors = built_in_meta_errors(meta_of(template), True, subdomain_problems)
    check_template(errors, template.get("template") or {}, "template")
    return errors


def pod_template_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    check_template(errors, new.get("template") or {}, "template")
    return errors
