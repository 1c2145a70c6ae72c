"""When an image is pulled, if nobody says so: it depends on the tag.

An image without tag and digest means `latest`, and `latest` may move, so it is always pulled; every
other one is pulled if it is not there. The grammar is that of image references
(`name[:tag][@digest]`); a text outside of it counts as an image with some fixed tag.
"""

import re
from typing import Final

from podium.golang.text_cache import cache_short_texts

# A hostile text has a million parts. Where a group is repeated, remembering how to give one back
# takes 200 bytes a part, and possessive groups go wrong before Python 3.11.5: so characters are
# repeated, and what may not stand beside each other is refused beforehand.
_WRONG_SEPARATOR: Final = r"(?<![._/-])(?!(?:[./]|__?|-+)[a-z0-9])[._/-]"
_PATH: Final = re.compile(rf"(?!.*{_WRONG_SEPARATOR})[a-z0-9](?:[a-z0-9._/-]*[a-z0-9])?")
_DOMAIN: Final = re.compile(
    r"(?!.*(?:\.[.-]|-\.))"
    r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
)
_TAG: Final = re.compile(r"\w[\w.-]{0,127}", re.ASCII)
_DIGEST: Final = re.compile(r"(?!.*[+._-](?![A-Za-z]))[A-Za-z][A-Za-z0-9+._-]*:[0-9a-fA-F]{32,}")


@cache_short_texts(4096)
def pull_policy(image: str) -> str:
    """The pull policy of a container that names none."""
    tagged, at, digest = image.partition("@")
    name, colon, tag = tagged.rpartition(":")
    if not colon or "/" in tag:  # it is that of a port, or of an address
        name, colon, tag = tagged, "", ""
    if (at and not _DIGEST.fullmatch(digest)) or (colon and not _TAG.fullmatch(tag)):
        return "IfNotPresent"
    if not _is_name(name):
        return "IfNotPresent"
    return "Always" if tag == "latest" or not (colon or at) else "IfNotPresent"


def _is_name(text: str) -> bool:
    domain, slash, path = text.partition("/")
    return bool(
        _PATH.fullmatch(text) or (slash and _DOMAIN.fullmatch(domain) and _PATH.fullmatch(path))
    )
