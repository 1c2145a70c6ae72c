"""A certificate for a server that was given none.

It is signed by an authority of its own that is thrown away, so nobody can check it: good for
looking by hand, and for scrapers that are told not to verify. Names, ages and kinds of keys are
kube-scheduler's (configuration spec 6.1).

Source: `staging/src/k8s.io/client-go/util/cert` (`GenerateSelfSignedCertKey`).
"""

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from podium.api.errors import InputError
from podium.config.flags.host_environment import StartRefused
from podium.config.flags.tls_checks import PAIR_NAME
from podium.files.private_files import write_private_file

_HOST: Final = "localhost"
_LOOPBACK: Final = ipaddress.ip_address("127.0.0.1")
_BEFORE: Final = timedelta(hours=1)
_LIFE: Final = timedelta(days=365)
_KEY_BITS: Final = 2048
_EXPONENT: Final = 65537
_CERTIFICATE_MODE: Final = 0o644


class Pair(NamedTuple):
    """A certificate with what signed it, and its key; PEM."""

    chain: bytes
    key: bytes


def self_signed(bind_address: str, now: float) -> Pair:
    """A certificate for a year; `now` is in seconds since 1970."""
    # RSA, because cipher suites that an operator chooses may allow nothing else.
    authority_key = rsa.generate_private_key(_EXPONENT, _KEY_BITS)
    key = rsa.generate_private_key(_EXPONENT, _KEY_BITS)
    authority_name, name = _named(f"{_HOST}-ca@{int(now)}"), _named(f"{_HOST}@{int(now)}")
    authority = (
        _builder(authority_name, authority_name, authority_key.public_key(), now)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_usage(authority=True), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    certificate = (
        _builder(name, authority_name, key.public_key(), now)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(authority=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(_names(bind_address)), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    key_text = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    return Pair(_pem(certificate) + _pem(authority), key_text)


def kept_pair(directory: str, bind_address: str, now: float) -> tuple[Path, Path]:
    """The files of the pair in a directory, made if there is none. Raises StartRefused."""
    certificate = Path(directory, f"{PAIR_NAME}.crt")
    key = Path(directory, f"{PAIR_NAME}.key")
    if certificate.exists() and key.exists():
        return certificate, key
    pair = self_signed(bind_address, now)
    try:
        certificate.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        write_private_file(certificate, pair.chain, _CERTIFICATE_MODE)
        write_private_file(key, pair.key)
    except (OSError, InputError) as problem:
        raise StartRefused(f"error creating self-signed certificates: {problem}") from None
    return certificate, key


def _names(bind_address: str) -> list[x509.GeneralName]:
    """upstream: `localhost` is named twice where the server listens on all addresses."""
    address = ipaddress.ip_address(bind_address)
    if address.is_unspecified:
        return [x509.DNSName(_HOST), x509.DNSName(_HOST), x509.IPAddress(_LOOPBACK)]
    return [x509.DNSName(_HOST), x509.IPAddress(_LOOPBACK), x509.IPAddress(address)]


def _builder(
    subject: x509.Name, issuer: x509.Name, key: rsa.RSAPublicKey, now: float
) -> x509.CertificateBuilder:
    start = datetime.fromtimestamp(int(now), UTC) - _BEFORE
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + _LIFE)
    )


def _usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=True,
        key_cert_sign=authority,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _named(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
