"""What is inside a PEM file, as far as its labels tell."""

import re
from typing import Final

CERTIFICATE: Final = "CERTIFICATE"
_PEM: Final = re.compile(rb"-----BEGIN ([^\n-]+)-----\r?\n.*?-----END \1-----", re.DOTALL)


def block_types(data: bytes) -> list[str]:
    """The types of all PEM blocks, in order."""
    return [match[1].decode(errors="replace") for match in _PEM.finditer(data)]
