"""Names of cipher suites and curves: as flags have them (Go's), and as OpenSSL has them."""

from collections.abc import Sequence
from typing import Final

_CURVES: Final = {23: "prime256v1", 24: "secp384r1", 25: "secp521r1", 29: "X25519"}
_CIPHERS: Final = {
    "AES_128_CBC_SHA": "AES128-SHA",
    "AES_128_CBC_SHA256": "AES128-SHA256",
    "AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "AES_256_CBC_SHA": "AES256-SHA",
    "AES_256_GCM_SHA384": "AES256-GCM-SHA384",
    "CHACHA20_POLY1305": "CHACHA20-POLY1305",
    "CHACHA20_POLY1305_SHA256": "CHACHA20-POLY1305",
    "RC4_128_SHA": "RC4-SHA",
    "3DES_EDE_CBC_SHA": "DES-CBC3-SHA",
}


def cipher_names(suites: Sequence[str]) -> list[str]:
    """OpenSSL's names of the suites of TLS 1.2 and before.

    >>> cipher_names(["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"])
    ['ECDHE-RSA-AES128-GCM-SHA256']
    """
    found: list[str] = []
    for suite in suites:
        exchange, with_, cipher = suite.removeprefix("TLS_").partition("_WITH_")
        if with_ and cipher in _CIPHERS:
            before = "" if exchange == "RSA" else f"{exchange.replace('_', '-')}-"
            found.append(before + _CIPHERS[cipher])
    return list(dict.fromkeys(found))


def curve_name(preferences: Sequence[int]) -> str:
    """The first curve that OpenSSL can be told to use, or nothing; it takes one alone."""
    return next((_CURVES[curve] for curve in preferences if curve in _CURVES), "")
