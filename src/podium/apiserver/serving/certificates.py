"""A certificate authority and a server certificate, made when there are none.

Both are kept in a directory, so that a server that is started again there keeps the trust of the
kubeconfigs it has written. Keys are readable by their owner alone. A certificate that does not
name the host, or ends within a month, is made anew; the authority stays.
"""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from podium.golang.errors import InputError
from podium.net.files.private_files import (
    create_private_directory,
    read_private_file,
    refuse_shared_directory,
    write_private_file,
)
from podium.net.serving.self_signed import (
    Authority,
    Validity,
    certificate_pem,
    key_pem,
    make_authority,
    sign_server_certificate,
)

_AUTHORITY_LIFE: Final = timedelta(days=3650)
_SERVER_LIFE: Final = timedelta(days=365)
_RENEWED_BEFORE_END: Final = timedelta(days=30)
_CLOCK_SKEW: Final = timedelta(minutes=5)
_NAMES: Final = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


@dataclass(frozen=True, slots=True)
class Certificates:
    """Where the server finds its certificate, and what clients trust it by."""

    certificate_file: Path
    key_file: Path
    authority: bytes
    """PEM."""


def ensure_certificates(directory: Path, host: str) -> Certificates:
    """The certificates in a directory, made or renewed as needed. Raises InputError."""
    create_private_directory(directory)
    refuse_shared_directory(directory)
    try:
        return _ensure_certificates(directory, host)
    except ValueError as problem:
        remedy = "remove the files in it, and new ones are made"
        message = f"holds a certificate or key that cannot be read: {problem}"
        raise InputError(message, source=str(directory), remedy=remedy) from None


def _ensure_certificates(directory: Path, host: str) -> Certificates:
    authority = _authority(directory)
    pem = certificate_pem(authority.certificate)
    found = Certificates(directory / "apiserver.crt", directory / "apiserver.key", pem)
    if not _is_good(found, authority.certificate, host):
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = sign_server_certificate(
            authority, "podium-apiserver", key, _alternative_names(host), _from_now(_SERVER_LIFE)
        )
        write_private_file(found.key_file, key_pem(key))
        write_private_file(found.certificate_file, certificate_pem(certificate) + pem)
    return found


def _authority(directory: Path) -> Authority:
    certificate_file, key_file = directory / "ca.crt", directory / "ca.key"
    written, written_key = read_private_file(certificate_file), read_private_file(key_file)
    if written is not None and written_key is not None:
        key = serialization.load_pem_private_key(written_key, None)
        certificate = x509.load_pem_x509_certificate(written)
        if isinstance(key, ec.EllipticCurvePrivateKey) and _lasts(certificate):
            return Authority(certificate, key)
    key = ec.generate_private_key(ec.SECP256R1())
    authority = make_authority("podium-ca", key, _from_now(_AUTHORITY_LIFE), path_length=0)
    write_private_file(key_file, key_pem(key))
    write_private_file(certificate_file, certificate_pem(authority.certificate))
    return authority


def _from_now(life: timedelta) -> Validity:
    now = datetime.now(UTC)
    return Validity(now - _CLOCK_SKEW, now + life)


def _alternative_names(host: str) -> list[x509.GeneralName]:
    addresses = {"127.0.0.1", "::1"}
    names = list(_NAMES)
    try:
        addresses.add(str(ipaddress.ip_address(host)))
    except ValueError:
        names.append(host)
    return [
        *(x509.DNSName(name) for name in dict.fromkeys(names)),
        *(x509.IPAddress(ipaddress.ip_address(each)) for each in sorted(addresses)),
    ]


def _is_good(found: Certificates, authority: x509.Certificate, host: str) -> bool:
    written = read_private_file(found.certificate_file)
    if written is None or read_private_file(found.key_file) is None:
        return False
    certificate = x509.load_pem_x509_certificate(written)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return (
        certificate.issuer == authority.subject
        and _lasts(certificate)
        and set(_alternative_names(host)) <= set(names)
        and _is_signed_by(certificate, authority)
    )


def _is_signed_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except Exception:
        return False
    return True


def _lasts(certificate: x509.Certificate) -> bool:
    return certificate.not_valid_after_utc - datetime.now(UTC) > _RENEWED_BEFORE_END
