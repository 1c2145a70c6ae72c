"""TLS as an extender's configuration asks for it, and the errors of building it.

Data wins over a file. Without a CA, `enableHTTPS` switches verification off; an https address
without `enableHTTPS` is verified against the system's roots all the same (extenders spec 3). What
cannot be built is a ConfigurationError in kube-scheduler's words (extenders spec 1.1).
"""

import re
import ssl
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from podium.client.client_certificates import present
from podium.config.errors import ConfigurationError, FieldProblem
from podium.config.types import Extender, ExtenderTLSConfig
from podium.files.bounded_files import read_file

_BLOCK: Final = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----[\r\n]*", re.DOTALL)
_CERTIFICATE: Final = b"CERTIFICATE"
_KEY: Final = b"PRIVATE KEY"


class TLSClient(NamedTuple):
    """How to speak TLS to one extender; no server name means that of the address."""

    context: ssl.SSLContext | None = None
    server_name: str = ""

    def context_or_default(self) -> ssl.SSLContext:
        return self.context or _verifying_system_roots()


class Unbuildable(ValueError):
    """What is wrong with certificates, in upstream's words."""


def tls_clients(extenders: Sequence[Extender]) -> tuple[TLSClient, ...]:
    """One for each extender. Raises ConfigurationError."""
    clients = []
    for index, extender in enumerate(extenders):
        try:
            clients.append(_tls_client(extender))
        except Unbuildable as problem:
            raise ConfigurationError(
                f"couldn't build extenders: {problem}",
                (FieldProblem(f"extenders[{index}].tlsConfig", str(problem)),),
            ) from None
    return tuple(clients)


def _tls_client(extender: Extender) -> TLSClient:
    tls = extender.tls_config or ExtenderTLSConfig()
    has_ca = bool(tls.ca_file or tls.ca_data)
    has_certificate = bool((tls.cert_file or tls.cert_data) and (tls.key_file or tls.key_data))
    insecure = tls.insecure or (extender.enable_https and not has_ca)
    if not (has_ca or has_certificate or insecure or tls.server_name):
        return TLSClient()
    if has_ca and insecure:
        raise Unbuildable(
            "specifying a root certificates file with the insecure flag is not allowed"
        )
    ca = _data(tls.ca_data, tls.ca_file)
    certificate, key = _data(tls.cert_data, tls.cert_file), _data(tls.key_data, tls.key_file)
    context = client_context()
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif has_ca:
        trust(context, ca)
    else:
        context.load_default_certs()
    if has_certificate:
        _present(context, certificate, key)
    return TLSClient(context, tls.server_name)


def client_context() -> ssl.SSLContext:
    """TLS as Go's clients speak it; it trusts nobody yet."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # upstream: any certificate that is trusted ends the chain, and common names count for nothing.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.hostname_checks_common_name = False
    return context


@lru_cache(maxsize=1)
def _verifying_system_roots() -> ssl.SSLContext:
    context = client_context()
    context.load_default_certs()
    return context


def _data(given: bytes, file: str) -> bytes:
    if given or not file:
        return given
    try:
        return read_file(file)
    except IsADirectoryError:
        raise Unbuildable(f"read {file}: is a directory") from None
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise Unbuildable(f"open {file}: {reason}") from None


def trust(context: ssl.SSLContext, ca: bytes) -> None:
    """Trust the certificates of a PEM text; raises Unbuildable.

    upstream: certificates that cannot be read are passed over as long as one can.
    """
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
    raise Unbuildable(f"unable to load root certificates: {problem}")


def _present(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Show a client certificate when asked for one."""
    _refuse_unfit(certificate, key)
    try:
        present(context, certificate, key)
    except ssl.SSLError as problem:
        if problem.reason == "KEY_VALUES_MISMATCH":
            raise Unbuildable("tls: private key does not match public key") from None
        raise Unbuildable("tls: failed to parse certificate or private key") from None
    except (OSError, ValueError):
        raise Unbuildable("tls: failed to parse private key") from None


def _refuse_unfit(certificate: bytes, key: bytes) -> None:
    """The ways in which a pair can be wrong that text alone shows (Go's tls.X509KeyPair)."""
    in_certificate = [found[1] for found in _BLOCK.finditer(certificate)]
    in_key = [found[1] for found in _BLOCK.finditer(key)]
    if not in_certificate:
        raise Unbuildable("tls: failed to find any PEM data in certificate input")
    if _CERTIFICATE not in in_certificate:
        if len(in_certificate) == 1 and in_certificate[0].endswith(_KEY):
            raise Unbuildable(
                "tls: failed to find certificate PEM data in certificate input, but did find a "
                "private key; PEM inputs may have been switched"
            )
        skipped = " ".join(label.decode() for label in in_certificate)
        raise Unbuildable(
            'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM '
            f"blocks of the following types: [{skipped}]"
        )
    if not in_key:
        raise Unbuildable("tls: failed to find any PEM data in key input")
    if not any(label.endswith(_KEY) for label in in_key):
        if in_key == [_CERTIFICATE]:
            raise Unbuildable(
                "tls: found a certificate rather than a key in the PEM for the private key"
            )
        skipped = " ".join(label.decode() for label in in_key)
        raise Unbuildable(
            'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after '
            f"skipping PEM blocks of the following types: [{skipped}]"
        )
