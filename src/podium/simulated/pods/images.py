"""What images do by themselves, and which cannot be pulled.

Every image is there, but those that say of themselves that they are not: by their tag, or by a
registry under the top-level name that is kept for this (RFC 6761).

>>> pull_problem("example.com/web:404")
'failed to resolve reference "example.com/web:404": example.com/web:404: not found'
>>> pull_problem("example.com/web:4.0.4")
''
"""

from typing import Final

_SHELLS: Final = frozenset({"busybox", "alpine", "debian", "ubuntu", "bash"})
"""Images that do nothing but run a shell, which has nothing to read and ends."""
_MISSING_TAGS: Final = frozenset({"404", "nonexistent", "non-existent"})


def is_shell(image: str) -> bool:
    """Whether an image without a command ends at once.

    >>> is_shell("registry.example.com:5000/library/busybox:1.36")
    True
    """
    name = image.partition("@")[0].rpartition("/")[2]
    return name.partition(":")[0] in _SHELLS


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
