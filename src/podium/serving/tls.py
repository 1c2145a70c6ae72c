"""TLS of a server whose certificate is in files that stay as they are."""

import ssl
from pathlib import Path

from podium.golang.errors import InputError


def server_context(
    certificate: Path, key: Path, client_authority: Path | None = None
) -> ssl.SSLContext:
    """With an authority clients may show a certificate, and one that is not of it ends the
    connection. What those get who show none is the application's business: it finds the chain in
    the `tls` extension of a request's scope. Raises InputError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.set_alpn_protocols(["http/1.1"])
        context.load_cert_chain(certificate, key)
        if client_authority is not None:
            context.load_verify_locations(client_authority)
            context.verify_mode = ssl.CERT_OPTIONAL
    except (OSError, ValueError) as problem:  # an SSLError is an OSError
        raise InputError(f"the certificates cannot be used: {problem}") from None
    return context
