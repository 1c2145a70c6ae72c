"""A client certificate, given to a TLS context.

The standard library takes certificates from files only, while kubeconfigs and extenders have them
as data. So they are in a private directory for as long as it takes to read them.
"""

import ssl
from pathlib import Path
from tempfile import TemporaryDirectory


def present(context: ssl.SSLContext, chain: bytes, key: bytes) -> None:
    """Show a certificate when asked for one. Both are PEM without a password: one would be asked
    for on the terminal. Raises SSLError, OSError or ValueError."""
    with TemporaryDirectory(prefix="podium-") as directory:
        chain_file, key_file = Path(directory, "tls.crt"), Path(directory, "tls.key")
        chain_file.write_bytes(chain)
        key_file.touch(mode=0o600)
        key_file.write_bytes(key)
        context.load_cert_chain(chain_file, key_file, password=lambda: "")
