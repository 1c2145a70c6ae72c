"""Requests for certificates: the request itself, who is to sign it, and what became of it."""

import base64
import re
from typing import Final

from podium.golang.json_values import JsonObject
from podium.golang.quoting import go_quote
from podium.kubernetes.rules.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from podium.kubernetes.validation.names import label_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    meta_of,
)

_LEGACY_SIGNER: Final = "kubernetes.io/legacy-unknown"
_MAX_DOMAIN: Final = 253
_MAX_SIGNER: Final = 253 + 63 + 253 + 2
_MIN_EXPIRATION_SECONDS: Final = 600
_DECIDED: Final = ("Approved", "Denied")
_FINAL: Final = ("Approved", "Denied", "Failed")
_STATUSES: Final = ("False", "True", "Unknown")
_BLOCK: Final = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----\r?\n.*?-----END \1-----", re.DOTALL)
_USAGES: Final = (
    "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign",
    "data encipherment", "decipher only", "digital signature", "email protection",
    "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement",
    "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth",
    "signing", "timestamping",
)  # fmt: skip


def create_errors(request: JsonObject) -> Errors:
    return _errors(request, {})


def update_errors(new: JsonObject, old: JsonObject) -> Errors:
    return _validate_change(new, old)


def status_errors(new: JsonObject, old: JsonObject) -> Errors:
    return _validate_change(new, old, sets_certificate=True)


def approval_errors(new: JsonObject, old: JsonObject) -> Errors:
    return _validate_change(new, old, decides=True)


def _errors(request: JsonObject, old: JsonObject) -> Errors:
    """What is wrong with a request; mistakes that the old one has too are let be."""
    errors = built_in_meta_errors(meta_of(request), False, lambda _: [])
    spec, before = request.get("spec") or {}, old.get("spec") or {}
    body = base64.b64decode(spec.get("request") or "")
    problem = _request_problem(body)
    if problem:
        errors.append(invalid("spec.request", spec.get("request") or "", problem))
    usages = spec.get("usages") or []
    if not usages:
        errors.append(required("spec.usages"))
    if not before or set(before.get("usages") or ()) <= set(_USAGES):
        for index, usage in enumerate(usages):
            if usage not in _USAGES:
                errors.append(not_supported(f"spec.usages[{index}]", usage, _USAGES))
    for index, usage in enumerate(usages):
        if usage in usages[:index]:
            errors.append(duplicate(f"spec.usages[{index}]", usage))
    _check_signer(errors, spec.get("signerName") or "", before)
    expiration = spec.get("expirationSeconds")
    if expiration is not None and expiration < _MIN_EXPIRATION_SECONDS:
        detail = "may not specify a duration less than 600 seconds (10 minutes)"
        errors.append(invalid("spec.expirationSeconds", expiration, detail))
    _check_conditions(errors, request, old)
    certificate = base64.b64decode((request.get("status") or {}).get("certificate") or "")
    problem = _certificate_problem(certificate)
    if problem:
        errors.append(invalid("status.certificate", "<certificate data>", problem))
    return errors


def _validate_change(
    new: JsonObject, old: JsonObject, *, sets_certificate: bool = False, decides: bool = False
) -> Errors:
    errors = _errors(new, old)
    path = "status.conditions"
    for kind in _FINAL:
        found, before = _of_type(new, kind), _of_type(old, kind)
        if len(found) < len(before):
            errors.append(
                forbidden(path, f"updates may not remove a condition of type {go_quote(kind)}")
            )
    for kind in () if decides else _DECIDED:
        found, before = _of_type(new, kind), _of_type(old, kind)
        if len(found) > len(before):
            errors.append(
                forbidden(path, f"updates may not add a condition of type {go_quote(kind)}")
            )
        elif len(found) == len(before) and found != before:
            told = f"updates may not modify a condition of type {go_quote(kind)}"
            errors.append(forbidden(path, told))
    issued = (new.get("status") or {}).get("certificate") or ""
    before_issued = (old.get("status") or {}).get("certificate") or ""
    if issued != before_issued and not sets_certificate:
        errors.append(forbidden("status.certificate", "updates may not set certificate content"))
    elif issued != before_issued and before_issued:
        told = "updates may not modify existing certificate content"
        errors.append(forbidden("status.certificate", told))
    return [*errors, *built_in_meta_update_errors(meta_of(new), meta_of(old))]


def _of_type(request: JsonObject, kind: str) -> list[JsonObject]:
    conditions = (request.get("status") or {}).get("conditions") or ()
    return [each for each in conditions if each.get("type") == kind]


def _check_signer(errors: Errors, signer: str, before: JsonObject) -> None:
    path = "spec.signerName"
    if signer == _LEGACY_SIGNER and before.get("signerName") != _LEGACY_SIGNER:
        told = "the legacy signerName is not allowed via this API version"
        errors.append(invalid(path, signer, told))
        return
    if not signer:
        errors.append(required(path))
        return
    domain, slash, name = signer.partition("/")
    if not slash or "/" in name:
        told = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        errors.append(invalid(path, signer, told))
        return
    if len(domain) > _MAX_DOMAIN:
        errors.append(too_long(path, _MAX_DOMAIN))
    labels = domain.split(".")
    for label in labels:
        for problem in label_problems(label):
            errors.append(invalid(path, domain, f"validating label {go_quote(label)}: {problem}"))
    if len(labels) < 2:
        told = "should be a domain with at least two segments separated by dots"
        errors.append(invalid(path, domain, told))
    for label in name.split("."):
        for problem in subdomain_problems(label):
            errors.append(invalid(path, name, f"validating label {go_quote(label)}: {problem}"))
    if len(signer) > _MAX_SIGNER:
        errors.append(too_long(path, _MAX_SIGNER))


def _check_conditions(errors: Errors, request: JsonObject, old: JsonObject) -> None:
    path = "status.conditions"
    seen: list[str] = []
    was_both = all(_of_type(old, kind) for kind in _DECIDED)
    for index, condition in enumerate((request.get("status") or {}).get("conditions") or ()):
        kind, status = condition.get("type") or "", condition.get("status") or ""
        if not kind:
            errors.append(required(f"{path}[{index}].type"))
        allowed = ("True",) if kind in _FINAL else _STATUSES
        if not status:
            errors.append(required(f"{path}[{index}].status"))
        elif status not in allowed:
            errors.append(not_supported(f"{path}[{index}].status", status, allowed))
        other = {"Approved": "Denied", "Denied": "Approved"}.get(kind)
        if other in seen and not was_both:
            told = "Approved and Denied conditions are mutually exclusive"
            errors.append(invalid(path, kind, told))
        if kind in seen:
            errors.append(duplicate(f"{path}[{index}].type", kind))
        seen.append(kind)


def _request_problem(body: bytes) -> str:
    """What is wrong with a request in PEM; signatures have to be right."""
    block = _BLOCK.search(body)
    if block is None or block[1] != b"CERTIFICATE REQUEST":
        return "PEM block type must be CERTIFICATE REQUEST"
    # Only here: reading certificates is a large part of a library.
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        found = x509.load_pem_x509_csr(block[0] + b"\n")
        is_signed = found.is_signature_valid
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return "asn1: structure error: tags don't match"
    return "" if is_signed else "x509: signature check failed"


def _certificate_problem(body: bytes) -> str:
    if not body:
        return ""
    blocks = list(_BLOCK.finditer(body))
    if not blocks:
        return "must contain at least one CERTIFICATE PEM block"
    from cryptography import x509

    for block in blocks:
        if block[1] != b"CERTIFICATE":
            return f"only CERTIFICATE PEM blocks are allowed, found {go_quote(block[1].decode())}"
        try:
            x509.load_pem_x509_certificate(block[0] + b"\n")
        except ValueError:
            return "x509: malformed certificate"
    return ""
