"""The key by which tokens of service accounts are signed, kept where the certificates are.

Tokens outlive the server that made them if its next start finds the same key.
"""

from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from podium.golang.errors import InputError
from podium.net.files.private_files import (
    create_private_directory,
    read_private_file,
    refuse_shared_directory,
    write_private_file,
)
from podium.net.serving.self_signed import key_pem

_FILE: Final = "service-accounts.key"


def ensure_account_key(directory: Path) -> ec.EllipticCurvePrivateKey:
    """The key in a directory, made if there is none. Raises InputError."""
    create_private_directory(directory)
    refuse_shared_directory(directory)
    path = directory / _FILE
    written = read_private_file(path)
    if written is None:
        made = ec.generate_private_key(ec.SECP256R1())
        write_private_file(path, key_pem(made))
        return made
    try:
        key = serialization.load_pem_private_key(written, None)
    except ValueError as problem:
        raise _unusable(path, str(problem)) from None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.curve.name != "secp256r1":
        raise _unusable(path, "it is none of the curve P-256")
    return key


def _unusable(path: Path, why: str) -> InputError:
    remedy = "remove it, and a new one is made; tokens of service accounts end with the old one"
    return InputError(f"holds a key that cannot be used: {why}", source=str(path), remedy=remedy)
