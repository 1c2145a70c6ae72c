"""Keys of JSON patches: `jsonpatch.escapeKey`."""

from podium.kubernetes.cel.functions.charges import reading
from podium.kubernetes.cel.library import Functions

JSON_PATCHES = Functions()


@JSON_PATCHES.define("jsonpatch.escapeKey(string) -> string", cost=reading)
def _escape_key(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
