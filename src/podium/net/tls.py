"""TLS contexts, for everybody who connects or is connected to.

Clients speak TLS as Go's do: any certificate that is trusted ends the chain, and common names count
for nothing. What cannot be used is told in Go's words (`TLSConfigError`); what a kubeconfig, an
extender's configuration or flags make of it is theirs.
"""

import re
import ssl
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from podium.golang.errors import InputError

_BLOCK: Final = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----[\r\n]*", re.DOTALL)
_CERTIFICATE: Final = b"CERTIFICATE"
_KEY: Final = b"PRIVATE KEY"
_MAX_CONTEXTS: Final = 64


class TLSConfigError(ValueError):
    """What is wrong with certificates, in upstream's words."""


# --- clients ----------------------------------------------------------------------------------


def client_context(authority: bytes | None = None, *, verifies: bool = True) -> ssl.SSLContext:
    """Trusts the certificates of a PEM text, or without one those that the system trusts; everybody
    where it does not verify. Raises TLSConfigError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # upstream: any certificate that is trusted ends the chain, and common names count for nothing.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.hostname_checks_common_name = False
    if not verifies:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif authority is not None:
        _trust(context, authority)
    else:
        context.load_default_certs()
    return context


@lru_cache(maxsize=_MAX_CONTEXTS)
def cached_client_context(
    authority: bytes | None = None, name: str = "", *, verifies: bool = True
) -> ssl.SSLContext:
    """The same, made once; `name` keeps servers of two names apart. Raises TLSConfigError."""
    del name
    return client_context(authority, verifies=verifies)


def _trust(context: ssl.SSLContext, ca: bytes) -> None:
    # upstream: certificates that cannot be read are passed over as long as one can.
    blocks = [(found[1], found[0]) for found in _BLOCK.finditer(ca)]
    trusted = malformed = False
    for label, block in blocks:
        if label != _CERTIFICATE:
            continue
        try:
            context.load_verify_locations(cadata=block.decode("ascii"))
            trusted = True
        except (ssl.SSLError, ValueError):
            malformed = True
    if trusted:
        return
    if malformed:
        problem = "failed to parse certificate: x509: malformed certificate"
    elif blocks:
        problem = "no valid certificate authority data seen"
    else:
        problem = "unable to parse bytes as PEM block"
    raise TLSConfigError(f"unable to load root certificates: {problem}")


# --- servers ----------------------------------------------------------------------------------


def server_context(*, client_authority: bytes | None = None) -> ssl.SSLContext:
    """Has no certificate yet. With an authority clients may show a certificate, and one that is
    not of it ends the connection; what those get who show none is the application's business, which
    finds the chain in the `tls` extension of a request's scope. Raises SSLError and ValueError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if client_authority is not None:
        context.verify_mode = ssl.CERT_OPTIONAL
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        context.load_verify_locations(cadata=client_authority.decode("ascii", errors="replace"))
    return context


def server_context_of_files(
    certificate: Path, key: Path, client_authority: Path | None = None
) -> ssl.SSLContext:
    """For a certificate in files that stay as they are. Raises InputError."""
    try:
        authority = client_authority.read_bytes() if client_authority is not None else None
        context = server_context(client_authority=authority)
        context.load_cert_chain(certificate, key)
    except (OSError, ValueError) as problem:  # an SSLError is an OSError
        raise InputError(f"the certificates cannot be used: {problem}") from None
    return context


# --- certificates of one's own ----------------------------------------------------------------


def present(context: ssl.SSLContext, chain: bytes, key: bytes) -> None:
    """Show a certificate when asked for one. Both are PEM without a password: one would be asked
    for on the terminal. Raises SSLError, OSError or ValueError.

    The standard library takes certificates from files only, while kubeconfigs and extenders have
    them as data. So they are in a private directory for as long as it takes to read them.
    """
    with TemporaryDirectory(prefix="podium-") as directory:
        chain_file, key_file = Path(directory, "tls.crt"), Path(directory, "tls.key")
        chain_file.write_bytes(chain)
        key_file.touch(mode=0o600)
        key_file.write_bytes(key)
        context.load_cert_chain(chain_file, key_file, password=lambda: "")


def present_key_pair(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """The same, with what is wrong in Go's words (tls.X509KeyPair). Raises TLSConfigError."""
    _refuse_unfit(certificate, key)
    try:
        present(context, certificate, key)
    except ssl.SSLError as problem:
        if problem.reason == "KEY_VALUES_MISMATCH":
            raise TLSConfigError("tls: private key does not match public key") from None
        raise TLSConfigError("tls: failed to parse certificate or private key") from None
    except (OSError, ValueError):
        raise TLSConfigError("tls: failed to parse private key") from None


def _refuse_unfit(certificate: bytes, key: bytes) -> None:
    """The ways in which a pair can be wrong that text alone shows."""
    in_certificate = [found[1] for found in _BLOCK.finditer(certificate)]
    in_key = [found[1] for found in _BLOCK.finditer(key)]
    if not in_certificate:
        raise TLSConfigError("tls: failed to find any PEM data in certificate input")
    if _CERTIFICATE not in in_certificate:
        if len(in_certificate) == 1 and in_certificate[0].endswith(_KEY):
            raise TLSConfigError(
                "tls: failed to find certificate PEM data in certificate input, but did find a "
                "private key; PEM inputs may have been switched"
            )
        skipped = " ".join(label.decode() for label in in_certificate)
        raise TLSConfigError(
            'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM '
            f"blocks of the following types: [{skipped}]"
        )
    if not in_key:
        raise TLSConfigError("tls: failed to find any PEM data in key input")
    if not any(label.endswith(_KEY) for label in in_key):
        if in_key == [_CERTIFICATE]:
            raise TLSConfigError(
                "tls: found a certificate rather than a key in the PEM for the private key"
            )
        skipped = " ".join(label.decode() for label in in_key)
        raise TLSConfigError(
            'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after '
            f"skipping PEM blocks of the following types: [{skipped}]"
        )
