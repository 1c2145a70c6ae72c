"""TLS towards an API server, as a kubeconfig asks for it.

Data wins over files, as everywhere in a kubeconfig. Without a certificate authority the system's
are trusted; `insecure-skip-tls-verify` trusts everybody, and then a certificate authority must not
be named. What cannot be used is an `InputError` that names the field and, if it is one, the file.
"""

import ssl
from dataclasses import dataclass

from podium.golang.errors import InputError
from podium.net.files.bounded_files import read_file
from podium.net.tls import TLSConfigError, client_context, present
from podium.scheduler.config.kubeconfig import ClusterEntry, UserEntry


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a client shows of itself: certificate and key, both PEM."""

    chain: bytes
    key: bytes

    def __repr__(self) -> str:
        return "<Certificate>"


def certificate_of(user: UserEntry) -> Certificate | None:
    """The client certificate of a user, if there is one. Raises InputError."""
    chain = _data(user.client_certificate_data, user.client_certificate, "user.client-certificate")
    if not chain:
        return None
    key = _data(user.client_key_data, user.client_key, "user.client-key")
    if not key:
        raise InputError(
            "is missing beside client-certificate",
            path="user.client-key",
            remedy="give client-key or client-key-data",
        )
    return Certificate(chain, key)


def authority_of(cluster: ClusterEntry) -> bytes:
    """The certificate authority that a cluster is verified by, PEM; empty if none is named.

    Raises InputError.
    """
    return _data(
        cluster.certificate_authority_data,
        cluster.certificate_authority,
        "cluster.certificate-authority",
    )


def tls_context(cluster: ClusterEntry, certificate: Certificate | None) -> ssl.SSLContext:
    """Raises InputError."""
    authority = authority_of(cluster)
    if cluster.insecure_skip_tls_verify and authority:
        raise InputError(
            "contradicts certificate-authority",
            path="cluster.insecure-skip-tls-verify",
            remedy="keep one of the two",
        )
    try:
        context = client_context(authority or None, verifies=not cluster.insecure_skip_tls_verify)
    except TLSConfigError:
        raise InputError(
            "holds no certificate in PEM form", path="cluster.certificate-authority"
        ) from None
    if certificate is not None:
        _present(context, certificate)
    return context


def _present(context: ssl.SSLContext, certificate: Certificate) -> None:
    try:
        present(context, certificate.chain, certificate.key)
    except (ssl.SSLError, OSError, ValueError) as problem:
        if getattr(problem, "reason", "") == "KEY_VALUES_MISMATCH":
            why = "does not belong to the client certificate"
        else:
            why = "cannot be used: it and client-certificate must be PEM without a password"
        raise InputError(why, path="user.client-key") from None


def _data(given: bytes, file: str, field: str) -> bytes:
    if given or not file:
        return given
    try:
        return read_file(file)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise InputError(f"{file} cannot be read: {reason}", path=field) from None
