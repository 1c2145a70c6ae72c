"""A certificate for a server that was given none.

It is signed by an authority of its own that is thrown away, so nobody can check it: good for
looking by hand, and for scrapers that are told not to verify. Names, ages and kinds of keys are
kube-scheduler's.

Source: `staging/src/k8s.io/client-go/util/cert` (`GenerateSelfSignedCertKey`).
"""

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa

from podium.golang.errors import InputError
from podium.net.files.private_files import write_private_file
from podium.net.serving.self_signed import (
    Validity,
    certificate_pem,
    key_pem,
    make_authority,
    sign_server_certificate,
)
from podium.scheduler.config.flags.client_settings import StartRefused
from podium.scheduler.config.flags.tls_checks import PAIR_NAME

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
    start = datetime.fromtimestamp(int(now), UTC) - _BEFORE
    validity = Validity(start, start + _LIFE)
    # RSA, because cipher suites that an operator chooses may allow nothing else.
    authority_key = rsa.generate_private_key(_EXPONENT, _KEY_BITS)
    authority = make_authority(f"{_HOST}-ca@{int(now)}", authority_key, validity)
    key = rsa.generate_private_key(_EXPONENT, _KEY_BITS)
    certificate = sign_server_certificate(
        authority, f"{_HOST}@{int(now)}", key, _names(bind_address), validity
    )
    chain = certificate_pem(certificate) + certificate_pem(authority.certificate)
    return Pair(chain, key_pem(key))


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
