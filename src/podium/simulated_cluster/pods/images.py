"""Which images cannot be pulled. Every image is there, but those that say of themselves that they
are not: by their tag, or by a registry under the top-level name that is kept for this (RFC 6761).

>>> pull_problem("example.com/web:404")
'failed to resolve reference "example.com/web:404": example.com/web:404: not found'
>>> pull_problem("example.com/web:4.0.4")
''
"""

from typing import Final

_MISSING_TAGS: Final = frozenset({"404", "nonexistent", "non-existent"})


def pull_problem(image: str) -> str:
    """Why an image cannot be pulled; empty if it can."""
    registry, _, rest = image.partition("/")
    _, _, tag = image.rpartition(":")
    host = registry.partition(":")[0]
    if rest and (host.endswith(".invalid") or host.startswith("invalid.")):
        return f'failed to resolve reference "{image}": dial tcp: lookup {host}: no such host'
    if tag in _MISSING_TAGS and tag != image:
        return f'failed to resolve reference "{image}": {image}: not found'
    return ""
