"""The page's own files: read once from the package, compressed once, sent with their digest.

Files keep their names and are asked for anew each time with the digest that the browser has, so
that a page of an older release is never mixed with scripts of a newer one.
"""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

INDEX: Final = "index.html"
_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    name: str
    content: bytes
    compressed: bytes
    content_type: str
    digest: str


@cache
def static_files() -> dict[str, StaticFile]:
    """All of them by name."""
    found: dict[str, StaticFile] = {}
    for entry in files("podium.web").joinpath("static").iterdir():
        kind = _TYPES.get(entry.name.rpartition(".")[2])
        if kind is not None:
            content = entry.read_bytes()
            digest = hashlib.sha256(content).hexdigest()[:32]
            packed = gzip.compress(content, 9, mtime=0)
            found[entry.name] = StaticFile(entry.name, content, packed, kind, digest)
    return found
