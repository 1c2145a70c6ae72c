"""Certificates for an extender that others reach, and for the schedulers that ask it.

One authority signs both, for this extender alone, and its key is thrown away: nobody can be let in
later without letting in nobody who was before. New ones are made in another directory.
"""

import ipaddress
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec

from podium.golang.errors import InputError
from podium.net.files.private_files import create_private_directory, write_private_file
from podium.net.serving.self_signed import (
    Validity,
    certificate_pem,
    key_pem,
    make_authority,
    sign_client_certificate,
    sign_server_certificate,
)

CA: Final = "ca.crt"
SERVER: Final = ("tls.crt", "tls.key")
CLIENT: Final = ("client.crt", "client.key")
_CLOCK_SKEW: Final = timedelta(minutes=5)


def write_certificates(directory: Path, names: Sequence[str], days: int) -> None:
    """Make `ca.crt`, `tls.crt` and `tls.key` for a server of these names and addresses, and
    `client.crt` and `client.key`. Raises InputError, also if one of the files is there already."""
    create_private_directory(directory)
    for name in (CA, *SERVER, *CLIENT):
        if (directory / name).exists():
            raise InputError(
                "is there already, and schedulers may have its counterpart",
                source=str(directory / name),
                remedy="name another directory",
            )
    for name, content in make_certificates(names, days, datetime.now(UTC)).items():
        write_private_file(directory / name, content)


def make_certificates(names: Sequence[str], days: int, now: datetime) -> dict[str, bytes]:
    """What is in each file, PEM. Raises InputError for a name that is none."""
    validity = Validity(now - _CLOCK_SKEW, now + timedelta(days=days))
    authority = make_authority("podium-extender-ca", _make_key(), validity, path_length=0)
    server_key, client_key = _make_key(), _make_key()
    server = sign_server_certificate(
        authority, "podium-extender", server_key, [_general_name(name) for name in names], validity
    )
    client = sign_client_certificate(authority, "scheduler", client_key, validity)
    return {
        CA: certificate_pem(authority.certificate),
        SERVER[0]: certificate_pem(server),
        SERVER[1]: key_pem(server_key),
        CLIENT[0]: certificate_pem(client),
        CLIENT[1]: key_pem(client_key),
    }


def _make_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        pass
    try:
        return x509.DNSName(name)
    except ValueError:
        raise InputError(f"{name!r} is no name of a server and no address") from None
