"""When an image is pulled, if nobody says so: it depends on the tag.

An image without tag and digest means `latest`, and `latest` may move, so it is always pulled; every
other one is pulled if it is not there. The grammar is that of image references
(`name[:tag][@digest]`); a text outside of it counts as an image with some fixed tag.
"""

import re
from typing import Final

from podium.golang.text_cache import cache_short_texts

# Possessive: nothing is gained by giving a part back, and remembering how takes 200 bytes a part.
_ALPHANUMERIC: Final = r"[a-z0-9]+"
_COMPONENT: Final = rf"{_ALPHANUMERIC}(?:(?:\.|_|__|-+){_ALPHANUMERIC})*+"
_DOMAIN_PART: Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_DOMAIN: Final = rf"(?:{_DOMAIN_PART}(?:\.{_DOMAIN_PART})*+|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_REFERENCE: Final = re.compile(
    rf"(?:{_DOMAIN}/)?{_COMPONENT}(?:/{_COMPONENT})*+"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?P<digest>@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*+"
    r":[0-9a-fA-F]{32,})?",
    re.ASCII,
)


@cache_short_texts(4096)
def pull_policy(image: str) -> str:
    """The pull policy of a container that names none."""
    match = _REFERENCE.fullmatch(image)
    if match is None:
        return "IfNotPresent"
    latest = match["tag"] == "latest" or (match["tag"] is None and match["digest"] is None)
    return "Always" if latest else "IfNotPresent"
